#include <smdebug/cli/terminal.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>

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

TEST_CASE("terminal_width: COLUMNS counts where it is a number, and a file has none, nor has what is no terminal") {
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
