#include <program/interrupt.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace smdebug::inline v1::cli {

interrupt_listener::interrupt_listener(std::chrono::milliseconds patience)
    : patience_(patience),
      signals_(checked(::signalfd(-1, &blocked_.which(), SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")),
      ending_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      thread_([this] { listen(); }) {}

interrupt_listener::~interrupt_listener() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(ending_.get(), &one, sizeof one));
    thread_.join();
    while (interrupted_.stop_requested() && take_signal()) {  // see listen()
    }
}

int interrupt_listener::checked(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

void interrupt_listener::listen() {
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

bool interrupt_listener::ends_until(clock::time_point until) const {
    ::pollfd only{ending_.get(), POLLIN, 0};
    while (::poll(&only, 1, milliseconds_until(until)) < 1) {
        if (clock::now() >= until) {
            return false;
        }
    }
    return true;
}

int interrupt_listener::milliseconds_until(clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

interrupt_listener::news interrupt_listener::next(std::optional<clock::time_point> until) {
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

bool interrupt_listener::take_signal() {
    ::signalfd_siginfo info = {};
    const bool taken = ::read(signals_.get(), &info, sizeof info) == static_cast<::ssize_t>(sizeof info);
    number_ = taken ? static_cast<int>(info.ssi_signo) : number_;
    return taken;
}

}  // namespace smdebug::inline v1::cli
