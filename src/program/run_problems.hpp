// What of a run was not looked at, said at the end of every command: what is damaged, not supported, replaced or left out.
#pragma once

#include <program/message_sink.hpp>
#include <program/program_trial.hpp>
#include <smdebug/core/problem.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A text, with the run if it does not name it, as it is or as it is shown.
[[nodiscard]] std::string with_run(const std::string& text, const std::string& run);

/// Says the problems of one run, each once, though a refresh may find more of them.
class run_problems {
public:
    /// `skip`: the user has asked to go on without what is damaged: notes, which leave the exit status alone.
    explicit run_problems(bool skip) : skip_(skip) {}

    /// `to` has note(text) and error(text).
    void tell_all(std::span<const problem> all, const std::string& path, message_sink& to);
    void tell(const program_trial& run, const std::string& path, message_sink& to);
    /// How many were not said.
    void finish(const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 20;

    bool skip_;
    std::set<std::string> told_;
    std::size_t others_ = 0;
};

/// Says all problems of a run that is not looked at again.
void tell_problems(const program_trial& run, const std::string& path, bool skip, message_sink& to);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
