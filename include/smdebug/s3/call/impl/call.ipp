// The bodies of <smdebug/s3/call/call.hpp>.
#pragma once

#include <smdebug/s3/call/call.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

SMDEBUG_INLINE bool take(std::string_view& text, std::string_view what) noexcept {
    const bool is_there = text.starts_with(what);
    text.remove_prefix(is_there ? what.size() : 0);
    return is_there;
}

SMDEBUG_INLINE std::optional<content_range> parse_content_range(std::string_view text) noexcept {
    bool good = take(text, "bytes ");
    const auto number = [&] {
        const auto found = take_number(text);
        good = good && found.has_value();
        return found.value_or(0);
    };
    const bool has_content = !take(text, "*/");
    const std::uint64_t first = has_content ? number() : 0;
    good = (!has_content || take(text, "-")) && good;
    const std::uint64_t last = has_content ? number() : 0;
    good = (!has_content || take(text, "/")) && good;
    const std::uint64_t total = number();
    if (!good || !text.empty() || (has_content && (first > last || last >= total))) {
        return std::nullopt;
    }
    return content_range{has_content ? byte_range{first, last - first + 1} : byte_range{}, total};
}

SMDEBUG_INLINE std::optional<std::uint64_t> body_length(const http::response& answer) noexcept {
    std::string_view text = answer.find_header("content-length").value_or("");
    const auto length = take_number(text);
    return text.empty() ? length : std::nullopt;
}

SMDEBUG_INLINE std::string range_header(byte_range wanted) {
    // No object is that long, and servers use signed numbers.
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t first = std::min(wanted.offset, most);
    const std::uint64_t behind_it = std::min(std::max<std::uint64_t>(wanted.length, 1) - 1, most - first);
    return "bytes=" + std::to_string(first) + "-" + std::to_string(first + behind_it);
}

SMDEBUG_INLINE std::optional<held_part> part_in(const http::response& answer, byte_range wanted) noexcept {
    const byte_view body = answer.body.view();
    const auto said = answer.find_header("content-range");
    const std::optional<content_range> parsed = said ? parse_content_range(*said) : std::nullopt;
    const content_range range = parsed.value_or(content_range{});
    if (answer.status == 416) {
        // 416 is trusted only if it states the object's length, and that agrees.
        return parsed && range.total <= wanted.offset ? std::optional{held_part{{}, range.total}} : std::nullopt;
    }
    if (answer.status == 200) {
        // An empty answer is more often a server's fault than an empty object, which has no parts to read.
        constexpr std::string_view of_nothing = "d41d8cd98f00b204e9800998ecf8427e";
        const bool is_empty = answer.find_header("etag").value_or("").find(of_nothing) != std::string_view::npos;
        if (body_length(answer) != body.size() || (body.empty() && !is_empty)) {
            return std::nullopt;
        }
        const std::size_t begin = static_cast<std::size_t>(std::min<std::uint64_t>(wanted.offset, body.size()));
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(wanted.length, body.size() - begin));
        return held_part{body.subspan(begin, count), body.size()};
    }
    if (answer.status != 206 || !parsed || range.where.offset != wanted.offset ||
        range.where.length != std::min(wanted.length, range.total - wanted.offset) ||
        range.where.length != body.size()) {
        return std::nullopt;
    }
    return held_part{body, range.total};
}

}  // namespace smdebug::inline v1::s3::detail
