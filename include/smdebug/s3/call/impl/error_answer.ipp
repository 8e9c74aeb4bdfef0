// The bodies of <smdebug/s3/call/error_answer.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/call/error_answer.hpp>
#include <smdebug/s3/credentials/key_pieces.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::string plain_word(std::string_view text, std::string_view others) {
    const bool plain = text.size() <= 128 && std::all_of(text.begin(), text.end(), [&](char c) {
                           return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
                       });
    return std::string{plain ? text : std::string_view{}};
}

SMDEBUG_INLINE std::string shown(std::string_view text) {
    constexpr std::size_t most = 300;
    const auto in_word = [](char c) { return is_alphanumeric(c) || c == '+' || c == '_'; };
    std::string out;
    while (!text.empty() && out.size() <= most) {
        const char c = text.front();
        std::size_t length = 1;
        if (in_word(c)) {
            length = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_word) - text.begin());
            const std::string_view word = text.substr(0, length);
            out.append(looks_secret(word) ? "..." : word);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            out.append(out.empty() || out.back() == ' ' ? "" : " ");
        } else {
            out += c > ' ' && c <= '~' ? c : '?';
        }
        text.remove_prefix(length);
    }
    if (out.size() > most) {
        out.replace(most - 3, std::string::npos, "...");
    }
    if (out.ends_with(' ')) {
        out.pop_back();
    }
    return out;
}

SMDEBUG_INLINE std::string_view html_title(std::string_view page) noexcept {
    for (const std::string_view tag : {"<title>", "<TITLE>"}) {
        if (const std::size_t at = page.find(tag); at != std::string_view::npos) {
            const std::string_view title = page.substr(at + tag.size());
            const std::size_t end = title.find('<');
            return end == std::string_view::npos ? std::string_view{} : title.substr(0, end);
        }
    }
    return {};
}

SMDEBUG_INLINE error_answer parse_error_answer(const http::response& answer,
                                               const std::optional<access_keys>& signed_with) {
    constexpr std::size_t most = std::size_t{64} << 10U;
    error_answer said;
    // Before texts are cut: a key that was cut would not be recognised.
    const auto without_keys = [&](std::string_view text, letter_case how = letter_case::any) {
        std::string hidden{text};
        if (signed_with) {
            hide_keys(hidden, *signed_with, how);
        }
        return hidden;
    };
    // Regions and hosts are acted upon: with something left out they would be others.
    const auto unless_key = [&](std::string_view text) {
        return without_keys(text, letter_case::as_it_is) == text ? text : std::string_view{};
    };
    const auto header = [&](std::string_view name) { return answer.find_header(name).value_or(std::string_view{}); };
    std::string_view request_id = header("x-amz-request-id");
    std::string_view region = header("x-amz-bucket-region");
    const byte_view body = answer.body.view().first(std::min(answer.body.size(), most));
    xml_document document;
    if (const auto root = document.parse(body); root && root->name() == "Error") {
        const auto field = [&](const char* name) { return root->text_of(name).value_or(std::string_view{}); };
        // Case counts in codes: "InvalidAccessKeyId" stays whole even where a key's id is "KEYID".
        said.code = detail::plain_word(without_keys(field("Code"), letter_case::as_it_is), "._-");
        said.message = detail::shown(without_keys(field("Message")));
        said.endpoint = detail::plain_word(unless_key(field("Endpoint")), ".-:[]");
        request_id = request_id.empty() ? field("RequestId") : request_id;
        region = region.empty() ? field("Region") : region;
    } else {
        said.message = detail::shown(without_keys(detail::html_title(as_text(body))));
    }
    said.request_id = detail::plain_word(without_keys(request_id), "._-:/+=");
    said.region = detail::plain_word(unless_key(region), "-_");
    return said;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
