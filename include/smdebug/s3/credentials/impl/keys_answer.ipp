// The bodies of <smdebug/s3/credentials/keys_answer.hpp>.
#pragma once

#include <smdebug/core/json_document.hpp>
#include <smdebug/s3/credentials/key_pieces.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::string shown_word(std::string_view text) {
    constexpr std::size_t most = 64;
    const auto fit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
               c == '_';
    };
    const bool whole = !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), fit);
    return whole ? std::string{text} : "?";
}

SMDEBUG_INLINE keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent) {
    smdebug::detail::json::document reader;
    const auto root = reader.parse(body);
    const auto text = [&](const char* name) -> std::optional<std::string> {
        const auto field = root ? (*root)[name] : std::nullopt;
        const auto value = field ? field->string() : std::nullopt;
        return value ? std::optional<std::string>{*value} : std::nullopt;
    };
    const auto without = [&](const std::string& why) {
        return keys_answer{keys_outcome::failing, {}, where + " (" + why + ")"};
    };
    if (!root || !root->is_object()) {
        return without("its answer is not a JSON object");
    }
    access_keys found{.id = text("AccessKeyId").value_or(""),
                      .secret = text("SecretAccessKey").value_or(""),
                      .token = text("Token").value_or("")};
    for (const char* name : {"Code", "code"}) {
        auto code = text(name);
        if (code && *code != "Success") {
            hide_keys(*code, found, letter_case::as_it_is);
            hide_keys(*code, {.token = std::string{sent}}, letter_case::as_it_is);
            return without("its answer is an error: " + detail::shown_word(*code));
        }
    }
    if (found.id.empty() || found.secret.empty() || !fits_header(found.id) || !fits_header(found.token)) {
        return without("its answer lacks AccessKeyId or SecretAccessKey, or they are damaged");
    }
    if (const auto expiration = (*root)["Expiration"]) {
        found.expires = parse_iso_time(expiration->string().value_or(""));
        if (!found.expires) {
            return without("the Expiration in its answer is not a time");
        }
    }
    return {keys_outcome::found, std::move(found), where};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
