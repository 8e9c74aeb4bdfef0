// The lines of a list of runs: a file, or standard input, of which one line at a time is in memory.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

/// A list of runs: a path or an address a line, as run_finder takes it.  Lines that are empty, or begin with '#', are
/// passed over; blanks at both ends of a line do not count, nor does the carriage return of a CRLF, nor a byte order mark.
/// Borrows the stream.      Memory: one line.      Threads: one at a time.
class run_list {
public:
    /// A line with more bytes is no path.
    static constexpr std::size_t most_line_bytes = std::size_t{64} << 10U;

    /// `name` is what errors call it.
    explicit run_list(std::istream& from, std::string name = "the list");

    /// The next path; nothing behind the last one.
    /// Errors: value_error, with the line's number, for a line that is no text (it has a byte 0) or too long: the next call
    ///         goes on behind it; unavailable where the stream cannot be read further: the list ends there.
    [[nodiscard]] std::optional<std::string> next();

    /// The number of the line that next() looked at last, from 1; 0: of none yet.
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

private:
    // Reads a line, of one that is too long the beginning; false at the end.
    [[nodiscard]] bool read_line(std::string& text);
    [[nodiscard]] std::string place() const { return "line " + std::to_string(line_) + " of " + name_; }

    std::istream* from_;
    std::string name_;
    std::uint64_t line_ = 0;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/run_list.ipp>
#endif
