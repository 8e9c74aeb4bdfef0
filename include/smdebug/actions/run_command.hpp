// Runs a program when a rule fires: without a shell, with a time limit; every outcome is a value.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::actions {

/// The destination of the program's standard output.
enum class command_output : std::uint8_t {
    to_errors,  ///< our standard error: our standard output is for results
    inherited,
    discarded,  ///< and so is its standard error
};

struct command_options {
    std::chrono::milliseconds time_limit{std::chrono::seconds{30}};
    /// The time between SIGTERM and SIGKILL.
    std::chrono::milliseconds grace{std::chrono::seconds{2}};
    command_output output = command_output::to_errors;
    std::stop_token stop = {};  ///< ends it like the time limit
};

enum class command_end : std::uint8_t {
    exited,
    killed,       ///< by a signal that this library did not send
    timed_out,    ///< ended at the time limit
    stopped,      ///< it was ended by the stop token
    not_started,  ///< there is no such program, or it cannot be started
    lost,         ///< other code has reaped it: its exit status is unknown
};

struct command_result {
    command_end how = command_end::not_started;
    int status = -1;           ///< exited: the exit status; killed: the signal; not_started: errno
    std::string failure = {};  ///< a sentence; empty on success

    [[nodiscard]] explicit operator bool() const noexcept { return how == command_end::exited && status == 0; }
};

/// A text with {run} {rule} {step} {mode} {mode_step} {tensor} {worker} {value} {threshold} {message} replaced; other
/// braces stay.  Inserted texts are not expanded again, and never contain NUL, which would end an argument.
[[nodiscard]] std::string fill_in(std::string_view text, std::string_view run, const finding& one);

/// Runs a program and waits for it: the first argument is its name, searched in PATH.  No shell is involved.
/// The program's standard input is /dev/null, no signal is blocked or ignored, it inherits our environment, and it
/// leads a process group.  At the time limit the group gets SIGTERM, and SIGKILL after the grace period; processes that
/// it leaves behind when it ends by itself continue.  A Ctrl-C at the terminal does not reach it: use the stop token.
/// Errors:  value_error for no arguments or an empty name, std::bad_alloc; failures of the program are in the result.
/// Threads: any.  Other code must not wait for all children, nor ignore SIGCHLD: result `lost`.
[[nodiscard]] command_result run_command(const std::vector<std::string>& arguments, const command_options& how = {});

/// A command as a callback for findings.  Placeholders (see fill_in) are replaced in all arguments except the first: no
/// finding can choose the program.  An argument that consists of a name only may begin with a dash; if the program
/// would take it for an option, put "--" before it, or a word in front of it.
struct finding_command {
    std::vector<std::string> arguments;
    std::string run = {};
    command_options how = {};
    std::function<void(const command_result&)> on_result = {};

    /// Errors: as run_command, and what on_result throws.
    command_result operator()(const finding& one) const;
    /// Runs the command for a finding, with `rule` as the name of its rule.
    command_result operator()(std::string_view rule, finding one) const;
};

}  // namespace smdebug::inline v1::actions

#ifndef SMDEBUG_COMPILED
#include <smdebug/actions/impl/run_command.ipp>
#endif
