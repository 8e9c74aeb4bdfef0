#include <program/console.hpp>

#include <program/table.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>

namespace smdebug::inline v1::cli {
namespace detail {

usage_error::usage_error(std::string_view sentence, std::string_view help)
    : runtime_error(printable(sentence).append(help.empty() ? "" : "\n").append(help)) {}

output_error::output_error(const std::string& what, bool reader_is_gone)
    : runtime_error(what), reader_is_gone_(reader_is_gone) {}

console::console(std::ostream& out, std::ostream& err, console_kind kind, std::string_view program)
    : out_(out), err_(err), kind_(kind), program_(printable(program)) {}

void console::print(std::string_view text) {
    if (text.empty()) {
        return;
    }
    clear_progress();
    errno = 0;
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
    check_output();
}

void console::flush() {
    errno = 0;
    out_.flush();
    check_output();
}

void console::damage(std::string_view text) {
    trouble_ = true;
    say("note: ", printable(text));
}

void console::error(std::string_view text) {
    trouble_ = true;
    say("error: ", printable(text));
}

void console::error(const usage_error& wrong) {
    trouble_ = true;
    say("error: ", wrong.what());
}

int console::status(bool met) const noexcept {
    return met ? (trouble_ ? exit_finding_and_error : exit_finding) : status();
}

void console::progress(std::string_view what, std::size_t done, std::size_t all) {
    if (all > 0 && progress_is_due()) {
        const std::string bar = progress_bar(done, all);
        constexpr std::size_t narrow = 79;  // a line that is wrapped would not be wiped out
        const std::size_t room = narrow - std::min(narrow - 20, bar.size());
        show_progress(bar + detail::cut_text(printable(what), room, detail::shortened::at_start));
    }
}

void console::progress_line(function_ref<std::string()> make) {
    if (progress_is_due()) {
        show_progress(detail::cut_text(printable(make()), 79, detail::shortened::at_end));
    }
}

std::string console::progress_bar(std::size_t done, std::size_t all) {
    constexpr std::size_t width = 30;
    const std::size_t filled = done >= all ? width : done * width / all;
    std::string bar{"["};
    bar.append(filled, '#').append(width - filled, '.').append("] ");
    return bar.append(std::to_string(done)).append("/").append(std::to_string(all)).append(" ");
}

void console::report(std::string_view line) {
    clear_progress();
    err_ << line << '\n' << std::flush;
}

void console::clear_progress() {
    if (shown_) {
        err_ << '\r' << std::string(shown_width_, ' ') << '\r' << std::flush;
        shown_ = false;
        shown_width_ = 0;
    }
}

bool console::progress_is_due() {
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

void console::show_progress(const std::string& line) {
    const std::size_t length = line.size();
    err_ << '\r' << line << std::string(length < shown_width_ ? shown_width_ - length : 0, ' ') << std::flush;
    shown_ = true;
    shown_width_ = std::max(shown_width_, length);
}

void console::say(std::string_view kind, std::string_view text) {
    clear_progress();
    err_ << program_ << ": " << kind << text << '\n' << std::flush;
}

void console::check_output() const {
    if (!out_) {
        const int code = errno;
        const std::string why = code != 0 ? ": " + std::generic_category().message(code) : std::string{};
        throw output_error("the results cannot be written" + why, code == EPIPE);
    }
}

}  // namespace detail

int status_of(detail::console& to, function_ref<int()> action) {
    try {
        const int status = action();
        to.flush();
        return status;
    } catch (const detail::usage_error& wrong) {
        to.error(wrong);
        return exit_usage;
    } catch (const stopped_error& why) {
        to.note(why.message());
        return exit_interrupted;
    } catch (const detail::output_error& failed) {
        if (!failed.reader_is_gone()) {
            to.error(failed.what());
        }
    } catch (const std::exception& failed) {
        to.error(failed.what());
    }
    return exit_error;
}

}  // namespace smdebug::inline v1::cli
