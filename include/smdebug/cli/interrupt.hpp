// Ctrl-C and SIGTERM as a stop token, without a signal handler: the signals are blocked, and a thread reads them.
#pragma once

#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// While it lives, the first SIGINT or SIGTERM sent to the process requests a stop.  The next one does what it would
/// have done without a listener: it ends the program.  So does the first one where the listener still lives after
/// `patience`: something waits that no stop reaches, such as a pipe without a writer.  Signals that were ignored stay so.
/// Threads: made and destroyed by one thread, before the threads that are to go on undisturbed are started: they
///          inherit from it that the signals are blocked.
class interrupt_listener {
public:
    /// Errors: std::system_error.
    explicit interrupt_listener(std::chrono::milliseconds patience = std::chrono::seconds{5})
        : patience_(patience),
          signals_(checked(::signalfd(-1, &blocked_.which(), SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")),
          ending_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
          thread_([this] { listen(); }) {}
    interrupt_listener(const interrupt_listener&) = delete;
    interrupt_listener& operator=(const interrupt_listener&) = delete;
    ~interrupt_listener() {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(ending_.get(), &one, sizeof one));
        thread_.join();
        while (interrupted_.stop_requested() && take_signal()) {  // see listen()
        }
    }

    [[nodiscard]] std::stop_token token() const { return interrupted_.get_token(); }

private:
    /// Blocks the signals in the calling thread while it lives.
    class blocked_signals {
    public:
        blocked_signals() {
            ::sigemptyset(&which_);
            for (const int number : {SIGINT, SIGTERM}) {
                struct ::sigaction now = {};
                if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
                    ::sigaddset(&which_, number);
                }
            }
            if (const int code = ::pthread_sigmask(SIG_BLOCK, &which_, &before_); code != 0) {
                throw std::system_error(code, std::generic_category(), "pthread_sigmask");
            }
        }
        blocked_signals(const blocked_signals&) = delete;
        blocked_signals& operator=(const blocked_signals&) = delete;
        ~blocked_signals() { put_back(); }

        [[nodiscard]] const ::sigset_t& which() const noexcept { return which_; }
        void put_back() const noexcept { static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr)); }

    private:
        ::sigset_t which_ = {};
        ::sigset_t before_ = {};
    };

    static int checked(int result, const char* what) {
        if (result < 0) {
            throw std::system_error(errno, std::generic_category(), what);
        }
        return result;
    }

    using clock = std::chrono::steady_clock;
    enum class news : std::uint8_t { end, signal, time };

    void listen() {
        if (next({}) != news::signal) {
            return;
        }
        const int first = number_;
        const auto end = clock::now() + patience_;
        interrupted_.request_stop();
        // A signal sent to the program and to its process group arrives twice, and counts once.
        const auto until = clock::now() + std::chrono::milliseconds{200};
        news last = news::signal;
        while (last == news::signal) {
            last = next(until);
        }
        if (last == news::time) {
            // The other threads still block them, so that the next signal is delivered to this one.
            blocked_.put_back();
            if (!ends_until(end)) {
                ::raise(first);
            }
        }
    }

    /// Whether the listener's end has come by then.
    [[nodiscard]] bool ends_until(clock::time_point until) const {
        ::pollfd only{ending_.get(), POLLIN, 0};
        while (::poll(&only, 1, milliseconds_until(until)) < 1) {
            if (clock::now() >= until) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] static int milliseconds_until(clock::time_point until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
        return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
    }

    [[nodiscard]] news next(std::optional<clock::time_point> until) {
        while (true) {
            std::array<::pollfd, 2> ready{::pollfd{ending_.get(), POLLIN, 0}, ::pollfd{signals_.get(), POLLIN, 0}};
            static_cast<void>(::poll(ready.data(), ready.size(), until ? milliseconds_until(*until) : -1));
            if (ready[0].revents != 0) {
                return news::end;
            }
            if (ready[1].revents != 0 && take_signal()) {
                return news::signal;
            }
            if (until && clock::now() >= *until) {
                return news::time;
            }
        }
    }
    [[nodiscard]] bool take_signal() {
        ::signalfd_siginfo info = {};
        const bool taken = ::read(signals_.get(), &info, sizeof info) == static_cast<::ssize_t>(sizeof info);
        number_ = taken ? static_cast<int>(info.ssi_signo) : number_;
        return taken;
    }

    std::chrono::milliseconds patience_;
    int number_ = 0;  // of the signal that came last
    std::stop_source interrupted_;
    blocked_signals blocked_;
    smdebug::detail::posix::descriptor signals_;
    smdebug::detail::posix::descriptor ending_;
    std::thread thread_;
};

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
