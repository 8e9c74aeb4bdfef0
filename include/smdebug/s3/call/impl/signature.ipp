// The bodies of <smdebug/s3/call/signature.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/s3/call/signature.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE digest sha256(byte_view bytes) {
    digest out;
    unsigned int length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &length, EVP_sha256(),
                   nullptr) != 1 ||
        length != out.size()) {
        throw unsupported{"libcrypto does not give SHA-256, which requests to S3 are signed with: check its set-up."};
    }
    return out;
}

SMDEBUG_INLINE digest sha256_hmac(byte_view key, byte_view text) {
    digest out;
    unsigned int length = 0;
    // libcrypto interprets a null key as "the previous key".
    const void* const key_bytes = key.empty() ? static_cast<const void*>("") : key.data();
    if (HMAC(EVP_sha256(), key_bytes, static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
             text.size(), reinterpret_cast<unsigned char*>(out.data()), &length) == nullptr ||
        length != out.size()) {
        throw unsupported{
            "libcrypto does not give HMAC-SHA-256, which requests to S3 are signed with: check its set-up."};
    }
    return out;
}

SMDEBUG_INLINE std::optional<std::vector<std::byte>> digest_by(std::string_view name, byte_view bytes) {
    const EVP_MD* const how = EVP_get_digestbyname(std::string{name}.c_str());
    std::vector<std::byte> out(EVP_MAX_MD_SIZE);
    unsigned int length = 0;
    if (how == nullptr || EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &length,
                                     how, nullptr) != 1) {
        return std::nullopt;
    }
    out.resize(length);
    return out;
}

SMDEBUG_INLINE std::string to_base64(std::span<const std::byte> bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with a terminating zero
    const int length =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

SMDEBUG_INLINE std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        out += digits[std::to_integer<std::size_t>(byte >> 4U)];
        out += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return out;
}

SMDEBUG_INLINE std::string canonical_query(std::vector<std::pair<std::string, std::string>> parameters) {
    for (auto& [name, value] : parameters) {
        name = percent_encoded(name, false);
        value = percent_encoded(value, false);
    }
    std::sort(parameters.begin(), parameters.end());
    std::string out;
    for (const auto& [name, value] : parameters) {
        out.append(out.empty() ? "" : "&").append(name).append("=").append(value);
    }
    return out;
}

SMDEBUG_INLINE std::string host_header(const http::detail::url_parts& url) {
    // By value, as libcurl sends "0443" as 443; the scheme's default if empty.
    const unsigned port = smdebug::detail::number_of_text<unsigned>(url.port).value_or(0);
    const bool is_usual = port == 0 || port == (url.scheme == "https" ? 443U : 80U);
    return std::string{url.host} + (is_usual ? "" : ":" + std::to_string(port));
}

SMDEBUG_INLINE std::string folded(std::string_view value) {
    std::string out;
    bool apart = false;
    for (const char c : value) {
        if (c == ' ' || c == '\t') {
            apart = !out.empty();
        } else {
            out.append(apart ? " " : "") += c;
            apart = false;
        }
    }
    return out;
}

SMDEBUG_INLINE canonical_request canonical(http::method method, std::string_view url, std::vector<http::header> covered,
                                           std::string_view payload_hash) {
    const http::detail::url_parts parts = http::detail::parts_of(url);
    covered.push_back({"host", host_header(parts)});
    std::sort(covered.begin(), covered.end(),
              [](const http::header& a, const http::header& b) { return a.name < b.name; });
    canonical_request out;
    out.text.append(http::name_of(method)).append("\n");
    out.text.append(parts.path).append("\n").append(parts.query).append("\n");
    for (const auto& [name, value] : covered) {
        out.text.append(name).append(":").append(folded(value)).append("\n");
        out.signed_headers.append(out.signed_headers.empty() ? "" : ";").append(name);
    }
    out.text.append("\n").append(out.signed_headers).append("\n").append(payload_hash);
    return out;
}

SMDEBUG_INLINE std::string signing_time(std::chrono::system_clock::time_point now) {
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(now - day)};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text.data();
}

SMDEBUG_INLINE digest signing_key(std::string_view secret, std::string_view day, const signing_scope& scope) {
    const std::string first = std::string{"AWS4"}.append(secret);
    const digest of_day = sha256_hmac(as_bytes(first), as_bytes(day));
    const digest of_region = sha256_hmac(of_day, as_bytes(scope.region));
    return sha256_hmac(sha256_hmac(of_region, as_bytes(scope.service)), as_bytes("aws4_request"));
}

SMDEBUG_INLINE std::string string_to_sign(const canonical_request& asked, std::string_view time,
                                          std::string_view scope) {
    return std::string{"AWS4-HMAC-SHA256\n"}.append(time).append("\n").append(scope).append("\n").append(
        to_hex(sha256(as_bytes(asked.text))));
}

SMDEBUG_INLINE void signer::sign(http::request& ask, std::string_view payload_hash, const access_keys& keys,
                                 const signing_scope& scope, std::chrono::system_clock::time_point now) const {
    std::erase_if(ask.headers, [](const http::header& header) {
        return header.name == "x-amz-date" || header.name == "x-amz-content-sha256" ||
               header.name == "x-amz-security-token" || header.name == "authorization";
    });
    const std::string time = detail::signing_time(now);
    ask.headers.push_back({"x-amz-date", time});
    ask.headers.push_back({"x-amz-content-sha256", std::string{payload_hash}});
    if (!keys.token.empty()) {
        ask.headers.push_back({"x-amz-security-token", keys.token});
    }
    std::vector<http::header> covered;
    std::copy_if(ask.headers.begin(), ask.headers.end(), std::back_inserter(covered),
                 [](const http::header& header) { return header.name.starts_with("x-amz-"); });
    const auto asked = detail::canonical(ask.method, ask.url, std::move(covered), payload_hash);
    const std::string day = time.substr(0, 8);
    const std::string where = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
    const digest key = key_of(day, keys.secret, scope);
    const digest signature = sha256_hmac(key, as_bytes(detail::string_to_sign(asked, time, where)));
    std::string line = "AWS4-HMAC-SHA256 Credential=";
    line.append(keys.id).append("/").append(where);
    line.append(", SignedHeaders=").append(asked.signed_headers);
    line.append(", Signature=").append(to_hex(signature));
    ask.headers.push_back({"authorization", std::move(line)});
}

SMDEBUG_INLINE digest signer::key_of(std::string_view day, const std::string& secret,
                                     const signing_scope& scope) const {
    {
        const std::lock_guard lock{guard_};
        if (last_.day == day && last_.secret == secret && last_.scope == scope) {
            return last_.key;
        }
    }
    derived next{std::string{day}, secret, scope, detail::signing_key(secret, day, scope)};
    const digest key = next.key;
    const std::lock_guard lock{guard_};
    last_ = std::move(next);
    return key;
}

}  // namespace smdebug::inline v1::s3::detail
