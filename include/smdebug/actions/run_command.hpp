// Running a program when a rule fires: without a shell, for no longer than it may, and whatever comes of it is a value.
// Used by: cli, users.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace actions {

/// Where the program's standard output goes.
enum class command_output : std::uint8_t {
    to_errors,  ///< to our standard error: ours may be a table that somebody reads
    inherited,
    discarded,  ///< its standard error, too
};

struct command_options {
    std::chrono::milliseconds time_limit{std::chrono::seconds{30}};
    /// How long it may go on after SIGTERM, before SIGKILL.
    std::chrono::milliseconds grace{std::chrono::seconds{2}};
    command_output output = command_output::to_errors;
    std::stop_token stop = {};  ///< ends it as the time limit does
};

enum class command_end : std::uint8_t {
    exited,
    killed,       ///< by a signal that was not ours
    timed_out,    ///< it was ended, as it took too long
    stopped,      ///< it was ended by the stop token
    not_started,  ///< there is no such program, or no means to start one
    lost,         ///< somebody else has waited for it: what became of it is not known
};

struct command_result {
    command_end how = command_end::not_started;
    int status = -1;           ///< exited: the exit status; killed: the signal; not_started: errno
    std::string failure = {};  ///< a sentence; empty when all went well

    [[nodiscard]] explicit operator bool() const noexcept { return how == command_end::exited && status == 0; }
};

/// A text with {run} {rule} {step} {mode} {mode_step} {tensor} {worker} {value} {threshold} {message} replaced; other
/// braces stay.  What is put in is not looked through again.  No NUL is put in, as it would end an argument.
[[nodiscard]] inline std::string fill_in(std::string_view text, std::string_view run, const finding& one) {
    const std::pair<std::string_view, std::string> known[] = {
        {"{run}", std::string{run}},
        {"{rule}", one.rule},
        {"{step}", std::to_string(one.step)},
        {"{mode}", std::string{name_of(one.mode)}},
        {"{mode_step}", std::to_string(one.mode_step < 0 ? one.step : one.mode_step)},
        {"{tensor}", one.tensor},
        {"{worker}", one.worker},
        {"{value}", text_of(one.value)},
        {"{threshold}", text_of(one.threshold)},
        {"{message}", one.message},
    };
    std::string out;
    while (!text.empty()) {
        std::size_t length = 1;
        std::string_view put = text.substr(0, 1);
        for (const auto& [placeholder, value] : known) {
            if (text.starts_with(placeholder)) {
                length = placeholder.size();
                put = value;
            }
        }
        std::copy_if(put.begin(), put.end(), std::back_inserter(out), [](char c) { return c != '\0'; });
        text.remove_prefix(length);
    }
    return out;
}

namespace detail {

/// What posix_spawn is to do in the child before the program starts, and how.
class spawn_plan {
public:
    explicit spawn_plan(command_output output) {
        note(::posix_spawn_file_actions_init(&actions_));
        note(::posix_spawnattr_init(&attributes_));
        note(::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
        if (output == command_output::discarded) {
            note(::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0));
        }
        if (output != command_output::inherited) {
            note(::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO));
        }
        close_the_others(actions_);
        // A group of its own, so that what it starts ends with it; no signal blocked or ignored, whatever we do.
        ::sigset_t none;
        ::sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        note(::posix_spawnattr_setpgroup(&attributes_, 0));
        note(::posix_spawnattr_setsigmask(&attributes_, &none));
        note(::posix_spawnattr_setsigdefault(&attributes_, &all));
        note(::posix_spawnattr_setflags(
            &attributes_, static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)));
    }
    spawn_plan(const spawn_plan&) = delete;
    spawn_plan& operator=(const spawn_plan&) = delete;
    ~spawn_plan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    /// Starts the program that PATH finds; gives an errno, 0 when it runs.
    [[nodiscard]] int start(::pid_t& process, const std::vector<std::string>& arguments) const {
        if (failure_ != 0) {
            return failure_;
        }
        std::vector<char*> words;
        for (const std::string& argument : arguments) {
            words.push_back(const_cast<char*>(argument.c_str()));  // C's signature; nobody writes there
        }
        words.push_back(nullptr);
        return ::posix_spawnp(&process, words.front(), &actions_, &attributes_, words.data(), ::environ);
    }

private:
    void note(int code) noexcept { failure_ = failure_ == 0 ? code : failure_; }

    // Where the system can, everything that is open is closed; elsewhere only what was opened with O_CLOEXEC, as this
    // library opens everything.
    template <class Actions>
    void close_the_others(Actions& actions) noexcept {
        if constexpr (requires { posix_spawn_file_actions_addclosefrom_np(&actions, 3); }) {
            note(posix_spawn_file_actions_addclosefrom_np(&actions, 3));
        }
    }

    ::posix_spawn_file_actions_t actions_ = {};
    ::posix_spawnattr_t attributes_ = {};
    int failure_ = 0;
};

/// Whether a child has ended; it is not reaped, so that its number cannot be anyone else's.
enum class child_state : std::uint8_t { running, ended, lost };

[[nodiscard]] inline child_state state_of(::pid_t process) noexcept {
    ::siginfo_t seen = {};
    if (::waitid(P_PID, static_cast<::id_t>(process), &seen, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == EINTR ? child_state::running : child_state::lost;
    }
    return seen.si_pid == 0 ? child_state::running : child_state::ended;
}

/// Waits until the child has ended, a time has passed, or the token says stop.
[[nodiscard]] inline child_state wait_for_child(::pid_t process, std::chrono::steady_clock::time_point latest,
                                                const std::stop_token& stop) {
    std::chrono::milliseconds pause{1};
    constexpr std::chrono::milliseconds longest{10};
    while (true) {
        const child_state state = state_of(process);
        const auto left = latest - std::chrono::steady_clock::now();
        if (state != child_state::running || left <= left.zero() || stop.stop_requested()) {
            return state;
        }
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
        pause = std::min(2 * pause, longest);
    }
}

}  // namespace detail

/// Runs a program and waits for it: the first argument is its name, as PATH finds it.  No shell looks at anything.
/// In it: standard input is /dev/null, no signal is blocked or ignored, the environment is ours, and it leads a process
/// group.  When its time is over, the group gets SIGTERM, and SIGKILL after the grace; what it leaves behind when it
/// ends by itself stays.  A Ctrl-C at the terminal does not reach it: use the stop token.
/// Errors:  value_error for no arguments or an empty name, std::bad_alloc; what the program does is in the result.
/// Threads: on any.  Nobody else may wait for all children at once, nor may SIGCHLD be ignored: result `lost`.
[[nodiscard]] inline command_result run_command(const std::vector<std::string>& arguments,
                                                const command_options& how = {}) {
    if (arguments.empty() || arguments.front().empty()) {
        throw value_error("A command needs the name of a program.");
    }
    const std::string& program = arguments.front();
    ::pid_t process = -1;
    if (const int code = detail::spawn_plan{how.output}.start(process, arguments); code != 0) {
        return {command_end::not_started, code,
                "Cannot start " + program + ": " + std::generic_category().message(code) + "."};
    }
    using clock = std::chrono::steady_clock;
    // Beyond a century nobody waits, and the clock's numbers end.
    const auto after = [](std::chrono::milliseconds time) {
        constexpr std::chrono::milliseconds longest = std::chrono::hours{24 * 365 * 100};
        return clock::now() + std::clamp(time, std::chrono::milliseconds{0}, longest);
    };
    std::optional<command_end> ended_by_us;
    detail::child_state state = detail::wait_for_child(process, after(how.time_limit), how.stop);
    if (state == detail::child_state::running) {
        ended_by_us = how.stop.stop_requested() ? command_end::stopped : command_end::timed_out;
        ::kill(-process, SIGTERM);
        state = detail::wait_for_child(process, after(how.grace), {});
        if (state != detail::child_state::lost) {  // also for what the program has left in its group
            ::kill(-process, SIGKILL);
        }
    }
    int status = 0;
    ::pid_t reaped = -1;
    do {
        reaped = ::waitpid(process, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    if (ended_by_us) {
        return {*ended_by_us, -1,
                program + (*ended_by_us == command_end::stopped
                               ? " was stopped."
                               : " did not end within " + std::to_string(how.time_limit.count()) + " ms.")};
    }
    if (reaped < 0) {
        return {command_end::lost, -1, "What became of " + program + " is not known."};
    }
    if (WIFSIGNALED(status)) {
        return {command_end::killed, WTERMSIG(status),
                program + " was ended by signal " + std::to_string(WTERMSIG(status)) + "."};
    }
    const int code = WEXITSTATUS(status);
    return {command_end::exited, code,
            code == 0 ? std::string{} : program + " ended with status " + std::to_string(code) + "."};
}

/// A command as a callback for findings.  Placeholders (see fill_in) are replaced in all arguments but the first: no
/// finding chooses the program.  An argument that is nothing but a name may begin with a dash; put "--" before it, or
/// a word in front of it, where the program would take it for an option.
struct finding_command {
    std::vector<std::string> arguments;
    std::string run = {};
    command_options how = {};
    std::function<void(const command_result&)> on_result = {};

    /// Errors: as run_command, and what on_result throws.
    command_result operator()(const finding& one) const {
        std::vector<std::string> filled = arguments;
        for (std::size_t i = 1; i < filled.size(); ++i) {
            filled[i] = fill_in(filled[i], run, one);
        }
        command_result result = run_command(filled, how);
        if (on_result) {
            on_result(result);
        }
        return result;
    }
    /// The same for a finding that does not name its rule.
    command_result operator()(std::string_view rule, finding one) const {
        one.rule = rule;
        return (*this)(one);
    }
};

}  // namespace actions
}  // namespace v1
}  // namespace smdebug
