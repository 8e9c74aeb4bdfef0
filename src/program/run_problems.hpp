// Unread data of a run, reported at the end of every command: damaged, not supported, replaced or left out.
#pragma once

#include <program/message_sink.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace smdebug::inline v1::cli::detail {

/// The text, followed by "[run RUN]" unless it names the run.
[[nodiscard]] std::string with_run(const std::string& text, const std::string& run);

/// Reports the problems of one run, each once, though a refresh may find more of them.
class run_problems {
public:
    /// `skip`: with --skip-damaged they are notes, which do not change the exit status.
    explicit run_problems(bool skip) : skip_(skip) {}

    /// Reports those that were not reported before.
    void tell_all(std::span<const problem> all, const std::string& path, message_sink& to);
    void report(const trial& run, const std::string& path, message_sink& to);
    /// How many were not reported.
    void finish(const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 20;

    bool skip_;
    std::set<std::pair<std::string, std::string>> told_;  // by place and topic
    std::size_t others_ = 0;
};

/// Reports all problems of a run that is not refreshed again.
void tell_problems(const trial& run, const std::string& path, bool skip, message_sink& to);

}  // namespace smdebug::inline v1::cli::detail
