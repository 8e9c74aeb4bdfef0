// What of a run was not looked at, said at the end of every command: what is damaged, not supported, replaced or left out.
#pragma once

#include <smdebug/cli/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/index/locations.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Whether a path stands in a text, and not only its letters: the run "out" is not in "without".
[[nodiscard]] inline bool names_path(std::string_view text, std::string_view path) {
    const bool is_word = path.find_first_of("/.\\") == std::string_view::npos;
    const std::string_view ends = is_word ? "/!]" : "/!:,;)]\"' ";
    for (std::size_t at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
        const std::size_t end = at + path.size();
        const bool begins = at == 0 || std::string_view{"/ [(\"'"}.find(text[at - 1]) != std::string_view::npos;
        if (begins && (end == text.size() || ends.find(text[end]) != std::string_view::npos)) {
            return true;
        }
    }
    return false;
}

/// A text, with the run if it does not name it, as it is or as it is shown.
[[nodiscard]] inline std::string with_run(const std::string& text, const std::string& run) {
    const bool names_run = names_path(text, run) || names_path(text, printable(run));
    return names_run ? text : text + " [run " + run + "]";
}

/// Says the problems of one run, each once, though a refresh may find more of them.
class run_problems {
public:
    /// `skip`: the user has asked to go on without what is damaged: notes, which leave the exit status alone.
    explicit run_problems(bool skip) : skip_(skip) {}

    /// `to` has note(text) and error(text).
    template <class To>
    void tell_all(std::span<const problem> all, const std::string& path, To& to) {
        for (const problem& one : all) {
            if (!told_.insert(one.where.empty() ? one.what : one.where).second) {
                continue;
            }
            if (told_.size() > most) {
                ++others_;
            } else if (skip_ && one.where.starts_with(smdebug::detail::locations::index_folder)) {
                to.note("skipped the damaged index file " + one.where + " of " + path + ": " + one.what);
            } else if (skip_) {
                to.note(with_run(text_of(one), path));
            } else {
                to.error(with_run(text_of(one), path));
            }
        }
    }
    template <class Trial, class To>
    void tell(const Trial& run, const std::string& path, To& to) {
        tell_all(run.problems(), path, to);
    }
    /// How many were not said.
    template <class To>
    void finish(const std::string& path, To& to) const {
        if (others_ > 0) {
            to.note("and " + std::to_string(others_) + " more places that are not read [run " + path + "]");
        }
    }

private:
    static constexpr std::size_t most = 20;

    bool skip_;
    std::set<std::string> told_;
    std::size_t others_ = 0;
};

/// Says all problems of a run that is not looked at again.
template <class Trial, class To>
void tell_problems(const Trial& run, const std::string& path, bool skip, To& to) {
    run_problems problems{skip};
    problems.tell(run, path, to);
    problems.finish(path, to);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
