// Where the program writes: results on one stream, notes, errors and progress on another.
// Streams are arguments, so that tests run every command in-process and look at what it says.
#pragma once

#include <smdebug/cli/table.hpp>
#include <smdebug/core/printable_text.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// Exit statuses of the program.
inline constexpr int exit_ok = 0;       ///< nothing found
inline constexpr int exit_error = 1;    ///< something went wrong, or something of a run could not be read
inline constexpr int exit_usage = 2;    ///< wrong arguments
inline constexpr int exit_finding = 3;  ///< a rule's condition was met, or runs differ, and all could be read
/// The same, and something went wrong, too: neither hides the other.
inline constexpr int exit_finding_and_error = 4;
inline constexpr int exit_interrupted = 130;  ///< following was interrupted

namespace detail {

/// Wrong usage.  what() is a printable sentence for the user, and the lines of `help` below it.
class usage_error : public std::runtime_error {
public:
    explicit usage_error(std::string_view sentence, std::string_view help = {})
        : runtime_error(printable(sentence).append(help.empty() ? "" : "\n").append(help)) {}
};

/// Results cannot be written: a full disk, or a reader that has gone (then nothing needs to be said).
class output_error : public std::runtime_error {
public:
    output_error(const std::string& what, bool reader_is_gone) : runtime_error(what), reader_is_gone_(reader_is_gone) {}
    [[nodiscard]] bool reader_is_gone() const noexcept { return reader_is_gone_; }

private:
    bool reader_is_gone_;
};

/// What the streams are connected to.
struct console_kind {
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    std::size_t width = 0;  ///< of a line of results, in characters; 0: of any length, as in files and pipes
};

/// The two streams, and whether anything went wrong.  Messages are made printable here: names in them are untrusted.
/// One thread at a time.
class console {
public:
    /// `program`: the name before each message.
    console(std::ostream& out, std::ostream& err, console_kind kind = {}, std::string_view program = "smdebug")
        : out_(out), err_(err), kind_(kind), program_(printable(program)) {}
    console(const console&) = delete;
    console& operator=(const console&) = delete;
    ~console() { clear_progress(); }

    /// Prints results unchanged: rows have made their cells printable.  Errors: output_error.
    void print(std::string_view text) {
        if (text.empty()) {
            return;
        }
        clear_progress();
        errno = 0;
        out_.write(text.data(), static_cast<std::streamsize>(text.size()));
        check_output();
    }
    /// Flushes the results.  Errors: output_error.
    void flush() {
        errno = 0;
        out_.flush();
        check_output();
    }

    /// Something that the user should know; the exit status does not change.
    void note(std::string_view text) { say("note: ", printable(text)); }
    /// Something of a run that could not be read, while the rest can.
    void damage(std::string_view text) {
        trouble_ = true;
        say("note: ", printable(text));
    }
    void error(std::string_view text) {
        trouble_ = true;
        say("error: ", printable(text));
    }
    void error(const usage_error& wrong) {
        trouble_ = true;
        say("error: ", wrong.what());
    }
    /// Whether there was an error or damage.
    [[nodiscard]] bool trouble() const noexcept { return trouble_; }
    [[nodiscard]] int status() const noexcept { return trouble_ ? exit_error : exit_ok; }
    /// The same for commands that evaluate rules; `met`: the condition of one of them was.
    [[nodiscard]] int status(bool met) const noexcept {
        return met ? (trouble_ ? exit_finding_and_error : exit_finding) : status();
    }

    /// Whether results that are printed as they come would mix with a progress bar.
    [[nodiscard]] bool results_on_terminal() const noexcept { return kind_.out_is_terminal; }

    /// How wide tables should be, in characters; 0: as wide as they are.
    [[nodiscard]] std::size_t table_width() const noexcept { return kind_.width; }
    void set_table_width(std::size_t width) noexcept { kind_.width = width; }

    /// A progress bar, on a terminal only, once a command has taken 400 ms.
    void progress(std::string_view what, std::size_t done, std::size_t all) {
        if (all > 0 && progress_is_due()) {
            const std::string bar = progress_bar(done, all);
            constexpr std::size_t narrow = 79;  // a line that is wrapped would not be wiped out
            const std::size_t room = narrow - std::min(narrow - 20, bar.size());
            show_progress(bar + detail::cut_text(printable(what), room, detail::shortened::at_start));
        }
    }
    /// The same with words of one's own: make() gives the line, at most 79 characters of which are shown.
    template <class Make>
    void progress_line(Make&& make) {
        if (progress_is_due()) {
            show_progress(detail::cut_text(printable(make()), 79, detail::shortened::at_end));
        }
    }
    /// "[#####...............] 10/40 ".
    [[nodiscard]] static std::string progress_bar(std::size_t done, std::size_t all) {
        constexpr std::size_t width = 30;
        const std::size_t filled = done >= all ? width : done * width / all;
        std::string bar{"["};
        bar.append(filled, '#').append(width - filled, '.').append("] ");
        return bar.append(std::to_string(done)).append("/").append(std::to_string(all)).append(" ");
    }
    /// A line for programs, on the stream of messages.
    void report(std::string_view line) {
        clear_progress();
        err_ << line << '\n' << std::flush;
    }
    [[nodiscard]] bool messages_on_terminal() const noexcept { return kind_.err_is_terminal; }
    void clear_progress() {
        if (shown_) {
            err_ << '\r' << std::string(shown_width_, ' ') << '\r' << std::flush;
            shown_ = false;
            shown_width_ = 0;
        }
    }

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] bool progress_is_due() {
        if (!kind_.err_is_terminal) {
            return false;
        }
        const auto now = clock::now();
        if (now - last_shown_ < (shown_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{400})) {
            return false;
        }
        last_shown_ = now;
        return true;
    }
    void show_progress(const std::string& line) {
        const std::size_t length = line.size();
        err_ << '\r' << line << std::string(length < shown_width_ ? shown_width_ - length : 0, ' ') << std::flush;
        shown_ = true;
        shown_width_ = std::max(shown_width_, length);
    }
    void say(std::string_view kind, std::string_view text) {
        clear_progress();
        err_ << program_ << ": " << kind << text << '\n' << std::flush;
    }
    void check_output() const {
        if (!out_) {
            const int code = errno;
            const std::string why = code != 0 ? ": " + std::generic_category().message(code) : std::string{};
            throw output_error("the results cannot be written" + why, code == EPIPE);
        }
    }

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
template <class Action>
[[nodiscard]] int status_of(detail::console& to, Action&& action) {
    try {
        const int status = action();
        to.flush();
        return status;
    } catch (const detail::usage_error& wrong) {
        to.error(wrong);
        return exit_usage;
    } catch (const detail::output_error& failed) {
        if (!failed.reader_is_gone()) {
            to.error(failed.what());
        }
    } catch (const std::exception& failed) {
        to.error(failed.what());
    }
    return exit_error;
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
