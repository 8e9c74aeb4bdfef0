#include <program/terminal.hpp>

#include <program/console.hpp>

#include "support/test.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace smdebug;

TEST_CASE("terminal_kind: a file is no terminal, for each stream by itself") {
    const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    const int out = ::dup(STDOUT_FILENO);
    const bool err_before = cli::terminal_kind().err_is_terminal;
    REQUIRE(::dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
    const cli::detail::console_kind kind = cli::terminal_kind();
    REQUIRE(::dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    ::close(out);
    ::close(file);
    CHECK_FALSE(kind.out_is_terminal);
    CHECK(kind.err_is_terminal == err_before);
}

TEST_CASE("open_standard_descriptors: closed descriptors are occupied, and still cannot be read or written") {
    for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        CAPTURE(closed);
        const ::pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(closed);
            cli::open_standard_descriptors();
            char byte = 0;
            const bool fails = (closed == STDIN_FILENO ? ::read(closed, &byte, 1) : ::write(closed, "x", 1)) < 0;
            ::_exit(fails && ::open("/dev/null", O_WRONLY | O_CLOEXEC) > STDERR_FILENO ? 0 : 1);
        }
        int how = 0;
        REQUIRE(::waitpid(child, &how, 0) == child);
        CHECK(how == 0);
    }
}

TEST_CASE("terminal_width: COLUMNS counts if it is a number; a file, or anything but a terminal, has no width") {
    const char* const before = ::getenv("COLUMNS");
    const std::optional<std::string> kept = before != nullptr ? std::optional<std::string>{before} : std::nullopt;
    const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    const auto width_with = [&](const char* columns) -> std::size_t {
        ::setenv("COLUMNS", columns, 1);
        return cli::terminal_width(file);
    };
    CHECK(width_with("72") == 72);
    CHECK(width_with("") == 0);
    CHECK(width_with("0") == 0);
    CHECK(width_with("-5") == 0);
    CHECK(width_with("wide") == 0);
    ::setenv("COLUMNS", "72", 1);
    if (const cli::detail::console_kind kind = cli::terminal_kind(); !kind.out_is_terminal) {
        CHECK(kind.width == 0);
    }
    kept ? ::setenv("COLUMNS", kept->c_str(), 1) : ::unsetenv("COLUMNS");
    ::close(file);
}
