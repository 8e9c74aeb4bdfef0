#include <program/run_problems.hpp>

#include <program/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/index/locations.hpp>

#include <string_view>

namespace smdebug::inline v1::cli::detail {

namespace {

// Whether a path stands in a text, and not only its letters: the run "out" is not in "without".
bool names_path(std::string_view text, std::string_view path) {
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

}  // namespace

std::string with_run(const std::string& text, const std::string& run) {
    const bool names_run = names_path(text, run) || names_path(text, printable(run));
    return names_run ? text : text + " [run " + run + "]";
}

void run_problems::tell_all(std::span<const problem> all, const std::string& path, message_sink& to) {
    for (const problem& one : all) {
        if (!told_.emplace(one.where, one.where.empty() ? one.what : one.topic).second) {
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

void run_problems::report(const trial& run, const std::string& path, message_sink& to) {
    tell_all(run.problems(), path, to);
}

void run_problems::finish(const std::string& path, message_sink& to) const {
    if (others_ > 0) {
        to.note("and " + std::to_string(others_) + " more places that are not read [run " + path + "]");
    }
}

void tell_problems(const trial& run, const std::string& path, bool skip, message_sink& to) {
    run_problems problems{skip};
    problems.report(run, path, to);
    problems.finish(path, to);
}

}  // namespace smdebug::inline v1::cli::detail
