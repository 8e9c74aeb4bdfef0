// Where the program writes: results on one stream, notes, errors and progress on another.
// Streams are arguments, so that tests run every command in-process and check its output.
#pragma once

#include <program/message_sink.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/printable_text.hpp>

#include <chrono>
#include <cstddef>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace smdebug::inline v1::cli {

/// Exit statuses of the program.
inline constexpr int exit_ok = 0;       ///< nothing found
inline constexpr int exit_error = 1;    ///< something went wrong, or something of a run could not be read
inline constexpr int exit_usage = 2;    ///< wrong arguments
inline constexpr int exit_finding = 3;  ///< a rule's condition was met, or runs differ, and everything was read
/// Both of the above: a finding, and an error.
inline constexpr int exit_finding_and_error = 4;
inline constexpr int exit_interrupted = 130;  ///< by Ctrl-C or SIGTERM

namespace detail {

/// Wrong usage.  what() is a printable sentence for the user, and the lines of `help` below it.
class usage_error : public std::runtime_error {
public:
    explicit usage_error(std::string_view sentence, std::string_view help = {});
};

/// Results cannot be written: a full disk, or a reader that has gone (then nothing needs to be said).
class output_error : public std::runtime_error {
public:
    output_error(const std::string& what, bool reader_is_gone);
    [[nodiscard]] bool reader_is_gone() const noexcept { return reader_is_gone_; }

private:
    bool reader_is_gone_;
};

/// What the streams are connected to.
struct console_kind {
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    std::size_t width = 0;  ///< of a line of results, in characters; 0 for any length, as in files and pipes
};

/// The two streams, and whether anything went wrong.  Messages are made printable here: names in them are untrusted.
/// One thread at a time.
class console final : public message_sink {
public:
    /// `program`: the name before each message.
    console(std::ostream& out, std::ostream& err, console_kind kind = {}, std::string_view program = "smdebug");
    ~console() { clear_progress(); }

    /// Prints results unchanged: rows have made their cells printable.  Errors: output_error.
    void print(std::string_view text);
    /// Flushes the results.  Errors: output_error.
    void flush();

    /// Something that the user should know; the exit status does not change.
    void note(std::string_view text) override { say("note: ", printable(text)); }
    /// Reports unreadable data of a run; the rest is still read.
    void damage(std::string_view text) override;
    void error(std::string_view text) override;
    void error(const usage_error& wrong);
    /// Records that another process has reported an error or damage, or that what was a note so far stays.
    void mark_trouble() noexcept { trouble_ = true; }
    /// Whether there was an error or damage.
    [[nodiscard]] bool trouble() const noexcept { return trouble_; }
    [[nodiscard]] int status() const noexcept { return trouble_ ? exit_error : exit_ok; }
    /// The exit status of a command that evaluates rules, of which one `met` its condition or none did.
    [[nodiscard]] int status(bool met) const noexcept;

    /// Whether results that are printed as they come would mix with a progress bar.
    [[nodiscard]] bool results_on_terminal() const noexcept override { return kind_.out_is_terminal; }

    /// How wide tables should be, in characters; 0 if as wide as they are.
    [[nodiscard]] std::size_t table_width() const noexcept { return kind_.width; }
    void set_table_width(std::size_t width) noexcept { kind_.width = width; }

    /// A progress bar, on a terminal only, once a command has taken 400 ms.
    void progress(std::string_view what, std::size_t done, std::size_t all) override;
    /// A progress bar with a line of one's own: make() returns it, and at most 79 characters are shown.
    void progress_line(function_ref<std::string()> make);
    /// "[#####...............] 10/40 ".
    [[nodiscard]] static std::string progress_bar(std::size_t done, std::size_t all);
    /// A line for programs, on the stream of messages.
    void report(std::string_view line);
    [[nodiscard]] bool messages_on_terminal() const noexcept { return kind_.err_is_terminal; }
    void clear_progress();

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] bool progress_is_due();
    void show_progress(const std::string& line);
    void say(std::string_view kind, std::string_view text);
    void check_output() const;

    std::ostream& out_;
    std::ostream& err_;
    console_kind kind_;
    std::string program_;
    bool trouble_ = false;
    bool shown_ = false;
    std::size_t shown_width_ = 0;
    clock::time_point last_shown_ = clock::now();
};

}  // namespace detail

/// The exit status of a program: what action() returns, or that of the error it throws, which is printed.
[[nodiscard]] int status_of(detail::console& to, function_ref<int()> action);

}  // namespace smdebug::inline v1::cli
