#include <smdebug/cli/terminal.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

using namespace smdebug;

TEST_CASE("terminal_kind: a file is no terminal, for each stream by itself") {
    const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    const int out = ::dup(STDOUT_FILENO);
    const bool err_before = cli::terminal_kind().err_is_terminal;
    REQUIRE(::dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
    const cli::console_kind kind = cli::terminal_kind();
    REQUIRE(::dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    ::close(out);
    ::close(file);
    CHECK_FALSE(kind.out_is_terminal);
    CHECK(kind.err_is_terminal == err_before);
}
