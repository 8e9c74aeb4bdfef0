// The bodies of <smdebug/http/message.hpp>.
#pragma once

#include <smdebug/http/message.hpp>

#include <algorithm>
#include <cstring>
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

SMDEBUG_INLINE http::response not_answered(http::outcome why, std::string words) {
    http::response made;
    made.outcome = why;
    made.failure = std::move(words);
    return made;
}

SMDEBUG_INLINE http::response response_builder::build(int status) && {
    http::response made;
    made.status = status;
    made.headers = std::move(headers_);
    if (block_) {
        const byte_view bytes{block_.get(), std::size_t{received_}};
        made.body = byte_buffer{std::move(block_), bytes};
    } else if (!grown_.empty()) {
        made.body = byte_buffer::take(std::move(grown_));
    }
    return made;
}

SMDEBUG_INLINE void response_builder::take_line(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (line.starts_with("HTTP/")) {
        headers_.clear();
        headers_end_ = false;
        return;
    }
    headers_end_ = headers_end_ || line.empty();
    const std::size_t colon = line.find(':');
    if (headers_end_ || colon == std::string_view::npos) {  // trailers after a body are ignored
        return;
    }
    constexpr std::string_view blank = " \t";
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(blank), value.size()));
    value = value.substr(0, value.find_last_not_of(blank) + 1);
    http::header taken{.name = std::string{line.substr(0, colon)}, .value = std::string{value}};
    std::transform(taken.name.begin(), taken.name.end(), taken.name.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    headers_.push_back(std::move(taken));
}

SMDEBUG_INLINE bool response_builder::take_bytes(byte_view bytes, std::optional<std::uint64_t> length) {
    if (received_ == 0 && !block_ && length) {
        if (*length > most_) {
            return false;
        }
        length_ = *length;
        block_ = std::make_shared_for_overwrite<std::byte[]>(std::size_t{length_});
    }
    if (bytes.size() > (block_ ? length_ : most_) - received_) {
        return false;
    }
    if (block_ && !bytes.empty()) {
        std::memcpy(block_.get() + received_, bytes.data(), bytes.size());
    } else {
        grown_.insert(grown_.end(), bytes.begin(), bytes.end());
    }
    received_ += bytes.size();
    return true;
}

}  // namespace detail
}  // namespace smdebug::inline v1::http
