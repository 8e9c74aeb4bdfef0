// What a server says when it refuses: the part of it that may be shown and acted upon.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Each is empty where the server does not say it, or says what it cannot be.
struct error_answer {
    std::string code = {};        ///< "NoSuchKey", ...
    std::string message = {};     ///< for people: one line, at most 300 characters of ASCII
    std::string request_id = {};  ///< by which the server's own logs know the request
    std::string region = {};      ///< where the bucket is, or what the signature should have named
    std::string endpoint = {};    ///< the host to ask instead
};

[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// `text` where it is short and has letters, digits and these other characters only; else nothing of it.
[[nodiscard]] std::string plain_word(std::string_view text, std::string_view others);

/// Whether a word may be a signature, a token or the id of a key, which nobody is to see.
[[nodiscard]] constexpr bool looks_secret(std::string_view word) noexcept {
    return word.size() >= 32 || (word.size() >= 16 && (word.starts_with("AKIA") || word.starts_with("ASIA")));
}

/// One line for people: white space folded, what is not printable as '?', what looks_secret as "...", cut at 300.
[[nodiscard]] std::string shown(std::string_view text);

/// The title of a page in HTML, which is what proxies answer with.
[[nodiscard]] std::string_view html_title(std::string_view page) noexcept;

/// What an answer with an error says, whatever it is: XML of S3, a proxy's page, nothing, cut, garbage.  What servers
/// repeat of the request (its signature, what was signed, key ids, tokens) is left out, and so is every piece of the
/// keys that it was `signed_with`.
/// Cost: that of the body, of which no more than 64 KiB are looked at.
[[nodiscard]] error_answer parse_error_answer(const http::response& answer,
                                              const std::optional<access_keys>& signed_with = {});

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/error_answer.ipp>
#endif
