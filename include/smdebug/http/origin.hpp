// Which server a URL speaks of, and whether a proxy has any business there.
// Text alone: nothing is looked up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// A server: two URLs with the same text share connections.  Borrows the URL.
struct origin {
    std::string_view text;  ///< "https://host:9000"
    std::string_view host;  ///< "host", "[::1]"
    bool secure = false;
};

/// The server of an http or https URL (scheme in small letters).  Nothing where there is none, where the URL has white
/// space or the like in it, or a user's name: that would be sent along, and stand in messages.
[[nodiscard]] constexpr std::optional<origin> origin_of(std::string_view url) noexcept {
    const bool secure = url.starts_with("https://");
    if (!secure && !url.starts_with("http://")) {
        return std::nullopt;
    }
    if (std::any_of(url.begin(), url.end(),
                    [](char letter) { return static_cast<unsigned char>(letter) <= ' ' || letter == 127; })) {
        return std::nullopt;
    }
    const std::size_t begin = secure ? 8 : 7;
    const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
    const std::string_view authority = url.substr(begin, end - begin);
    // Colons stand within brackets, too.
    const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
    if (bracket == std::string_view::npos || authority.find('@') != std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view host = authority.substr(0, authority.find(':', bracket));
    if (host.empty()) {
        return std::nullopt;
    }
    return origin{.text = url.substr(0, end), .host = host, .secure = secure};
}

/// Whether a host is this machine, or one of those addresses that mean another thing to each machine (169.254.*, where
/// clouds keep their metadata): there a proxy would ask the wrong one.
[[nodiscard]] constexpr bool is_near(std::string_view host) noexcept {
    if (host.starts_with('[')) {
        constexpr std::string_view aws_metadata = "[fd00:ec2::";
        return host == "[::1]" || host.starts_with("[fe80:") || host.starts_with(aws_metadata);
    }
    const bool is_address = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || host.ends_with(".localhost") ||
           (is_address && (host.starts_with("127.") || host.starts_with("169.254.")));
}

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug
