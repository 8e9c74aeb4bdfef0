// Whether the program's streams are a terminal, and how wide.
#pragma once

#include <smdebug/cli/console.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// How many characters a line of the terminal has: as COLUMNS says, else the terminal; 0: unknown.
[[nodiscard]] inline std::size_t terminal_width(int handle) noexcept {
    // Read when the program starts; nothing in it writes the environment.
    const char* const set = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
    const std::string_view text = set != nullptr ? set : "";
    std::size_t columns = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (code == std::errc{} && end == text.data() + text.size() && columns > 0) {
        return columns;
    }
    struct ::winsize size = {};
    return ::ioctl(handle, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Opens the standard descriptors that are closed, so that no file of ours gets their numbers and the program's messages.
/// As /dev/null the wrong way round: reading and writing them fail as before.
inline void open_standard_descriptors() noexcept {
    for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(handle, F_GETFD) < 0) {  // the lowest free number is this one, as those below are open
            static_cast<void>(::open("/dev/null", handle == STDIN_FILENO ? O_WRONLY : O_RDONLY));
        }
    }
}

/// What standard output and standard error are connected to.  What goes to a file or pipe has no width, whatever
/// COLUMNS says: other programs read it.
[[nodiscard]] inline detail::console_kind terminal_kind() noexcept {
    const bool out = ::isatty(STDOUT_FILENO) == 1;
    return {.out_is_terminal = out,
            .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
            .width = out ? terminal_width(STDOUT_FILENO) : 0};
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
