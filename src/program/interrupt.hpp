// Ctrl-C and SIGTERM as a stop token, without a signal handler: the signals are blocked, and a thread reads them.
#pragma once

#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>

namespace smdebug::inline v1::cli {

/// While it lives, the first SIGINT or SIGTERM sent to the process requests a stop.  The next one ends the program, as
/// without a listener.  So does the first one if the listener still lives after `patience`: something waits that no
/// stop reaches, such as a pipe without a writer.  Ignored signals stay ignored.
/// Threads: made and destroyed by one thread, before other threads are started: these inherit the blocked signals.
class interrupt_listener {
public:
    /// Errors: std::system_error.
    explicit interrupt_listener(std::chrono::milliseconds patience = std::chrono::seconds{5});
    interrupt_listener(const interrupt_listener&) = delete;
    interrupt_listener& operator=(const interrupt_listener&) = delete;
    ~interrupt_listener();

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

    static int checked(int result, const char* what);

    using clock = std::chrono::steady_clock;
    enum class news : std::uint8_t { end, signal, time };

    void listen();

    /// Whether the listener's end has come by then.
    [[nodiscard]] bool ends_until(clock::time_point until) const;

    [[nodiscard]] static int milliseconds_until(clock::time_point until);

    [[nodiscard]] news next(std::optional<clock::time_point> until);
    [[nodiscard]] bool take_signal();

    std::chrono::milliseconds patience_;
    int number_ = 0;  // the last signal
    std::stop_source interrupted_;
    blocked_signals blocked_;
    smdebug::detail::posix::descriptor signals_;
    smdebug::detail::posix::descriptor ending_;
    std::thread thread_;
};

namespace detail {

/// Called once, by a command that waits or must not leave partial output; returns the token that ends it.
using stop_giver = std::function<std::stop_token()>;

}  // namespace detail

}  // namespace smdebug::inline v1::cli
