// The bodies of <smdebug/http/message.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/http/message.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::http {

SMDEBUG_INLINE std::optional<std::string_view> response::find_header(std::string_view name) const noexcept {
    const auto found =
        std::find_if(headers.begin(), headers.end(), [&](const header& line) { return line.name == name; });
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>{found->value};
}

namespace detail {

SMDEBUG_INLINE url_parts parts_of(std::string_view url) noexcept {
    constexpr std::string_view separator = "://";
    url = url.substr(0, url.find('#'));
    url_parts parts;
    const std::size_t scheme = url.find(separator);
    parts.scheme = url.substr(0, scheme == std::string_view::npos ? 0 : scheme);
    const std::size_t begin = parts.scheme.empty() ? 0 : scheme + separator.size();
    parts.server = url.substr(0, url.find_first_of("/?", begin));
    const std::string_view place = parts.server.substr(begin);
    const std::size_t at = place.rfind('@');
    parts.user = place.substr(0, at == std::string_view::npos ? 0 : at + 1);
    parts.host = place.substr(parts.user.size());
    // Colons also occur within brackets.
    const std::size_t bracket = parts.host.starts_with('[') ? std::min(parts.host.find(']'), parts.host.size()) : 0;
    if (const std::size_t colon = parts.host.find(':', bracket); colon != std::string_view::npos) {
        parts.port = parts.host.substr(colon + 1);
        parts.host = parts.host.substr(0, colon);
    }
    url.remove_prefix(parts.server.size());
    parts.path = url.starts_with('/') ? url.substr(0, url.find('?')) : "/";
    const std::size_t mark = url.find('?');
    parts.query = mark == std::string_view::npos ? std::string_view{} : url.substr(mark + 1);
    return parts;
}

SMDEBUG_INLINE void response_builder::take_line(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (line.starts_with("HTTP/")) {
        made.headers.clear();
        headers_end_ = false;
        return;
    }
    headers_end_ = headers_end_ || line.empty();
    const std::size_t colon = line.find(':');
    if (headers_end_ || colon == std::string_view::npos) {  // trailers after a body are ignored
        return;
    }
    made.headers.push_back({.name = smdebug::detail::in_small_letters(line.substr(0, colon)),
                            .value = std::string{smdebug::detail::trimmed(line.substr(colon + 1), " \t")}});
}

SMDEBUG_INLINE std::byte* response_builder::room_for(std::size_t count, std::optional<std::uint64_t> length) {
    const std::size_t received = made.body.size();
    if (!block_ && length.value_or(0) <= most_) {
        length_ = length;
    }
    if ((!block_ && length_ != length) || count > length_.value_or(most_) - received) {
        return nullptr;
    }
    if (!block_ || received + count > block_bytes_) {
        block_bytes_ = length_ ? std::size_t{*length_} : std::max(received + count, 2 * block_bytes_);
        auto larger = std::make_shared_for_overwrite<std::byte[]>(block_bytes_);
        std::copy_n(made.body.data(), received, larger.get());
        block_ = std::move(larger);
    }
    made.body = byte_buffer{block_, byte_view{block_.get(), received + count}};
    return block_.get() + received;
}

}  // namespace detail
}  // namespace smdebug::inline v1::http
