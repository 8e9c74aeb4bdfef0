// Forked children, which may die holding resources, drop privileges, or run out of disk.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/standard.hpp"

#include <csignal>
#include <iostream>

namespace smdebug_test {

/// A child that was forked from this process, and ends with it, or after five minutes.
class child_process {
public:
    /// Calls run() in the child; its return value is the exit status, 99 if it throws.  doctest's macros are not
    /// for the child.  No other thread may hold a lock that run() needs.
    template <class Run>
    explicit child_process(Run&& run) {
        std::cout.flush();  // or the child prints what is in the buffer, too
        id_ = ::fork();
        if (id_ < 0) {
            throw std::runtime_error("cannot fork");
        }
        if (id_ == 0) {
            ::alarm(300);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            int status = 99;
            try {
                status = run();
            } catch (const std::exception& thrown) {
                std::cerr << thrown.what() << '\n';
            }
            ::_exit(status);
        }
    }
    child_process(child_process&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    child_process& operator=(child_process&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process() { kill(); }

    [[nodiscard]] ::pid_t id() const noexcept { return id_; }

    /// Whether it has not ended yet.
    [[nodiscard]] bool runs() const {
        ::siginfo_t seen = {};
        return ::waitid(P_PID, static_cast<::id_t>(id_), &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid == 0;
    }
    /// Its exit status, or minus the signal that ended it.
    [[nodiscard]] int wait() {
        int how = 0;
        ::waitpid(std::exchange(id_, -1), &how, 0);
        return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
    }
    /// Ends it at once, unless it has been waited for.
    void kill() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            static_cast<void>(wait());
        }
    }

private:
    ::pid_t id_ = -1;
};

/// Runs in a child, and gives the child's exit status.
template <class Run>
[[nodiscard]] int status_of_child(Run&& run) {
    return child_process{std::forward<Run>(run)}.wait();
}

/// One byte from one process to another.
class starting_shot {
public:
    starting_shot() {
        if (::pipe(ends_.data()) != 0) {
            throw std::runtime_error("no pipe");
        }
    }
    starting_shot(const starting_shot&) = delete;
    starting_shot& operator=(const starting_shot&) = delete;
    ~starting_shot() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void fire() const { static_cast<void>(!::write(ends_[1], "!", 1)); }
    /// Waits for one fire().
    void await() const {
        char byte = 0;
        while (::read(ends_[0], &byte, 1) < 0) {
        }
    }

private:
    std::array<int, 2> ends_{};
};

// For children only: these cannot be undone --------------------------------------------------------------

/// Limits the size of files, as if the disk were full.
inline void limit_file_size(std::uint64_t size) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {.rlim_cur = size, .rlim_max = size};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        throw std::runtime_error("no limit of file sizes");
    }
}

/// Drops root privileges, if it has them.
inline void become_nobody() {
    constexpr ::uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setuid(nobody) != 0) {
        throw std::runtime_error("cannot give up root's rights");
    }
}

/// System calls (by number) that fail from now on, each with its errno.  False where the system cannot do that.
[[nodiscard]] inline bool refuse_calls(std::initializer_list<std::pair<long, int>> refused) {
    const auto step = [](int code, std::uint32_t value, std::uint8_t if_not = 0) {
        return ::sock_filter{.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = if_not, .k = value};
    };
    std::vector<::sock_filter> program{step(BPF_LD | BPF_W | BPF_ABS, offsetof(::seccomp_data, nr))};
    for (const auto& [call, code] : refused) {
        program.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 1));
        program.push_back(step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code)));
    }
    program.push_back(step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const ::sock_fprog filter = {.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// What a child's run() returns if refuse_calls() is not supported.
inline constexpr int cannot_refuse = 77;

}  // namespace smdebug_test
