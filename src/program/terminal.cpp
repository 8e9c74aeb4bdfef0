#include <program/terminal.hpp>

#include <smdebug/core/text_number.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace smdebug::inline v1::cli {

std::size_t terminal_width(int handle) noexcept {
    // Read when the program starts; nothing in it writes the environment.
    const char* const set = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
    const auto columns = smdebug::detail::number_of_text<std::size_t>(set != nullptr ? set : "").value_or(0);
    if (columns > 0) {
        return columns;
    }
    struct ::winsize size = {};
    return ::ioctl(handle, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void open_standard_descriptors() noexcept {
    for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(handle, F_GETFD) < 0) {  // the lowest free number is this one, as those below are open
            static_cast<void>(::open("/dev/null", handle == STDIN_FILENO ? O_WRONLY : O_RDONLY));
        }
    }
}

detail::console_kind terminal_kind() noexcept {
    const bool out = ::isatty(STDOUT_FILENO) == 1;
    return {.out_is_terminal = out,
            .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
            .width = out ? terminal_width(STDOUT_FILENO) : 0};
}

}  // namespace smdebug::inline v1::cli
