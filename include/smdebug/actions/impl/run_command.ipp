// The bodies of <smdebug/actions/run_command.hpp>.
#pragma once

#include <smdebug/actions/run_command.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/rules/setting.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace smdebug::inline v1::actions {

SMDEBUG_INLINE std::string fill_in(std::string_view text, std::string_view run, const finding& one) {
    const std::pair<std::string_view, std::string> values[] = {
        {"{run}", std::string{run}},
        {"{rule}", one.rule},
        {"{step}", std::to_string(one.step)},
        {"{mode}", std::string{name_of(one.mode)}},
        {"{mode_step}", std::to_string(one.mode_step < 0 ? one.step : one.mode_step)},
        {"{tensor}", one.tensor},
        {"{worker}", one.worker},
        {"{value}", smdebug::detail::has_value(one) ? text_of(one.value) : std::string{}},
        {"{threshold}", text_of(one.threshold)},
        {"{message}", one.message},
    };
    std::string out;
    while (!text.empty()) {
        std::size_t length = 1;
        std::string_view put = text.substr(0, 1);
        for (const auto& [placeholder, value] : values) {
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

/// The actions of posix_spawn in the child before the program starts, and its attributes.
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
        // A process group of its own, so that processes that it starts end with it; no signal blocked or ignored,
        // whatever our state.
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

    /// Starts the program, searched in PATH; returns an errno, 0 when it runs.
    [[nodiscard]] int start(::pid_t& process, const std::vector<std::string>& arguments) const {
        if (failure_ != 0) {
            return failure_;
        }
        std::vector<char*> words;
        for (const std::string& argument : arguments) {
            words.push_back(const_cast<char*>(argument.c_str()));  // C's signature; the text is not changed
        }
        words.push_back(nullptr);
        return ::posix_spawnp(&process, words.front(), &actions_, &attributes_, words.data(), ::environ);
    }

private:
    void note(int code) noexcept { failure_ = failure_ == 0 ? code : failure_; }

    // If the system supports it, all open files are closed; else those opened with O_CLOEXEC, as this library opens all
    // of its files.
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

/// Whether a child has ended; it is not reaped, so that its process id is not reused.
enum class child_state : std::uint8_t { running, ended, lost };

[[nodiscard]] inline child_state state_of(::pid_t process) noexcept {
    ::siginfo_t seen = {};
    if (::waitid(P_PID, static_cast<::id_t>(process), &seen, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == EINTR ? child_state::running : child_state::lost;
    }
    return seen.si_pid == 0 ? child_state::running : child_state::ended;
}

/// Waits until the child has ended, a time has passed, or the token requests a stop.
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

SMDEBUG_INLINE command_result run_command(const std::vector<std::string>& arguments, const command_options& how) {
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
    const auto after = [](std::chrono::milliseconds time) {
        return clock::now() + std::clamp(time, std::chrono::milliseconds{0}, smdebug::detail::longest_wait);
    };
    std::optional<command_end> ended_by_us;
    detail::child_state state = detail::wait_for_child(process, after(how.time_limit), how.stop);
    if (state == detail::child_state::running) {
        ended_by_us = how.stop.stop_requested() ? command_end::stopped : command_end::timed_out;
        ::kill(-process, SIGTERM);
        state = detail::wait_for_child(process, after(how.grace), {});
        if (state != detail::child_state::lost) {  // also for processes left in its group
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

SMDEBUG_INLINE command_result finding_command::operator()(const finding& one) const {
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

SMDEBUG_INLINE command_result finding_command::operator()(std::string_view rule, finding one) const {
    one.rule = rule;
    return (*this)(one);
}

}  // namespace smdebug::inline v1::actions
