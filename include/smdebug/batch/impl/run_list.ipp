// The bodies of <smdebug/batch/run_list.hpp>.
#pragma once

#include <smdebug/batch/run_list.hpp>
#include <smdebug/core/error.hpp>

#include <exception>
#include <streambuf>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE run_list::run_list(std::istream& from, std::string name) : from_(&from), name_(std::move(name)) {}

SMDEBUG_INLINE bool run_list::read_line(std::string& text) {
    // Not std::getline: it would take a file without line ends into memory whole.
    text.clear();
    const std::istream::sentry ready{*from_, true};
    if (!ready) {
        return false;
    }
    using traits = std::istream::traits_type;
    std::streambuf& bytes = *from_->rdbuf();
    bool any = false;
    for (traits::int_type one = bytes.sbumpc(); one != traits::eof(); one = bytes.sbumpc()) {
        any = true;
        const char byte = traits::to_char_type(one);
        if (byte == '\n') {
            return true;
        }
        if (text.size() <= most_line_bytes) {
            text.push_back(byte);
        }
    }
    from_->setstate(any ? std::ios::eofbit : std::ios::eofbit | std::ios::failbit);
    return any;
}

SMDEBUG_INLINE std::optional<std::string> run_list::next() {
    constexpr std::string_view blanks = " \t\r\v\f";
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::string text;
    for (;;) {
        bool is_line = false;
        try {
            is_line = read_line(text);
        } catch (const std::exception& failed) {
            from_->setstate(std::ios::badbit);
            throw unavailable(name_ + " cannot be read behind line " + std::to_string(line_) + ": " + failed.what(),
                              {.where = name_});
        }
        if (!is_line) {
            return std::nullopt;
        }
        ++line_;
        std::string_view path = text;
        if (line_ == 1 && path.starts_with(byte_order_mark)) {
            path.remove_prefix(byte_order_mark.size());
        }
        if (path.size() > most_line_bytes) {
            throw value_error(place() + " has more than " + std::to_string(most_line_bytes) +
                                  " bytes, which is no path: is that a list of paths, one a line?",
                              {.where = place()});
        }
        if (path.find('\0') != std::string_view::npos) {
            throw value_error(place() + " has a byte 0, which no path has: is that a text file, in UTF-8?",
                              {.where = place()});
        }
        const std::size_t begin = path.find_first_not_of(blanks);
        if (begin == std::string_view::npos || path[begin] == '#') {
            continue;
        }
        return std::string{path.substr(begin, path.find_last_not_of(blanks) + 1 - begin)};
    }
}

}  // namespace v1
}  // namespace smdebug
