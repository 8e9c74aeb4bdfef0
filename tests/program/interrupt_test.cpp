#include <program/interrupt.hpp>

#include "support/test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace smdebug;
using namespace std::chrono_literals;

namespace {

// Far more patience than it takes.
bool comes(const std::stop_token& token) {
    for (int i = 0; i < 120'000 && !token.stop_requested(); ++i) {
        std::this_thread::sleep_for(1ms);
    }
    return token.stop_requested();
}

bool is_blocked(int number) {
    ::sigset_t mask;
    ::sigemptyset(&mask);
    REQUIRE(::pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0);
    return ::sigismember(&mask, number) == 1;
}

// The test's own reaction to a signal, whatever the test framework has set up.
class reaction {
public:
    reaction(int number, void (*handler)(int)) : number_(number), before_(std::signal(number, handler)) {}
    reaction(const reaction&) = delete;
    reaction& operator=(const reaction&) = delete;
    ~reaction() { std::signal(number_, before_); }

private:
    int number_;
    void (*before_)(int);
};

}  // namespace

TEST_CASE("interrupt_listener: SIGINT and SIGTERM request a stop without ending the process") {
    for (const int number : {SIGINT, SIGTERM}) {
        const reaction usual{number, SIG_DFL};
        const cli::interrupt_listener listener;
        CHECK_FALSE(listener.token().stop_requested());
        REQUIRE(::kill(::getpid(), number) == 0);
        CHECK(comes(listener.token()));
    }
}

TEST_CASE("interrupt_listener: threads that are started while it lives do not take the signal") {
    const reaction usual{SIGINT, SIG_DFL};
    const cli::interrupt_listener listener;
    std::stop_source done;
    const std::jthread other{[&] {
        CHECK(is_blocked(SIGINT));
        static_cast<void>(comes(done.get_token()));
    }};
    REQUIRE(::kill(::getpid(), SIGINT) == 0);
    CHECK(comes(listener.token()));
    done.request_stop();
}

TEST_CASE("interrupt_listener: leaves the signals as it found them") {
    const reaction usual{SIGINT, SIG_DFL};
    const bool before = is_blocked(SIGINT);
    {
        const cli::interrupt_listener listener;
        CHECK(is_blocked(SIGINT));
        CHECK(is_blocked(SIGTERM));
    }
    CHECK(is_blocked(SIGINT) == before);
}

TEST_CASE("interrupt_listener: an ignored signal stays ignored") {
    const reaction ignored{SIGINT, SIG_IGN};
    const reaction usual{SIGTERM, SIG_DFL};
    const cli::interrupt_listener listener;
    CHECK_FALSE(is_blocked(SIGINT));
    REQUIRE(::kill(::getpid(), SIGINT) == 0);
    CHECK_FALSE(listener.token().stop_requested());
    REQUIRE(::kill(::getpid(), SIGTERM) == 0);
    CHECK(comes(listener.token()));
}

TEST_CASE("interrupt_listener: the next signal ends the program at once") {
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGINT, SIG_DFL);
        const cli::interrupt_listener listener;
        ::kill(::getpid(), SIGINT);
        if (comes(listener.token())) {
            for (int i = 0; i < 60'000; ++i) {  // one that comes right with the first does not count
                ::kill(::getpid(), SIGINT);
                std::this_thread::sleep_for(1ms);
            }
        }
        ::_exit(0);
    }
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how));
    CHECK(WTERMSIG(how) == SIGINT);
}

TEST_CASE("interrupt_listener: one signal ends a program that does not stop") {
    for (const int number : {SIGINT, SIGTERM}) {
        const ::pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            std::signal(number, SIG_DFL);
            const cli::interrupt_listener listener{300ms};
            ::kill(::getpid(), number);
            std::this_thread::sleep_for(60s);
            ::_exit(0);
        }
        int how = 0;
        REQUIRE(::waitpid(child, &how, 0) == child);
        CHECK(WIFSIGNALED(how));
        CHECK(WTERMSIG(how) == number);
    }
}

TEST_CASE("interrupt_listener: signals that come together are one") {
    const reaction usual_int{SIGINT, SIG_DFL};
    const reaction usual_term{SIGTERM, SIG_DFL};
    ::sigset_t both;
    ::sigset_t before;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    REQUIRE(::pthread_sigmask(SIG_BLOCK, &both, &before) == 0);
    REQUIRE(::kill(::getpid(), SIGINT) == 0);
    REQUIRE(::kill(::getpid(), SIGTERM) == 0);
    {
        const cli::interrupt_listener listener;
        CHECK(comes(listener.token()));
    }
    ::sigset_t left;
    REQUIRE(::sigpending(&left) == 0);
    REQUIRE(::sigismember(&left, SIGINT) == 0);
    REQUIRE(::sigismember(&left, SIGTERM) == 0);
    REQUIRE(::pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
}
