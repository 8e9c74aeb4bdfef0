// Turns a failed call to S3 into one error: the operation, its place, the server's answer, and advice; and the
// checksums of whole objects.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/call/signature.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Checksums of a whole object, which are compared with the server's.
// Source: Amazon's pages on checking object integrity and on ETags.
namespace smdebug::inline v1::s3::detail {

/// Tables of a reflected CRC, for eight bytes at a time.
template <std::unsigned_integral Word, Word Polynomial>
inline constexpr auto crc_tables = [] {
    std::array<std::array<Word, 256>, 8> tables{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        Word rest = static_cast<Word>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? Polynomial : Word{0});
        }
        tables[0][byte] = rest;
    }
    for (std::size_t at = 1; at < 8; ++at) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const Word before = tables[at - 1][byte];
            tables[at][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}();

/// Cost: one pass, 1 to 2 GiB/s.
template <std::unsigned_integral Word, Word Polynomial>
[[nodiscard]] Word crc_of(byte_view bytes) noexcept {
    constexpr auto& tables = crc_tables<Word, Polynomial>;
    Word rest = static_cast<Word>(~Word{0});
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        std::uint64_t next = load_le<std::uint64_t>(bytes.data()) ^ rest;
        rest = 0;
        for (std::size_t at = 8; at-- > 0; next >>= 8U) {
            rest ^= tables[at][next & 0xFFU];
        }
    }
    for (const std::byte one : bytes) {
        rest = (rest >> 8U) ^ tables[0][(rest ^ std::to_integer<Word>(one)) & 0xFFU];
    }
    return static_cast<Word>(~rest);
}

/// The header of an answer to GET that does not match the received bytes; empty if all match, if the bytes are only a
/// part of the object, or if there is no checksum.
/// `etags`: also uses an ETag that is an MD5, if there is no other checksum.
/// Cost: one pass; for MD5 about 0.6 GiB/s.
[[nodiscard]] std::string_view disagreeing_checksum(const http::response& answer, bool etags);

/// Throws the error of a failed call.  `server` is "https://host".
/// Errors: not_found (no such object or bucket), access_denied, timed_out (the deadline), unsupported (the server
///         lacks the operation), unavailable (all else: trying again later may help).
[[noreturn]] void fail(const location& place, std::string_view server, const call_result& failed);

/// Throws the error of a call that failed.  Errors: those of fail().
inline void check_good(const client& asked, const call_result& ended) {
    if (!ended.good) {
        fail(asked.where(), asked.server(), ended);
    }
}

/// The text in a header: base64 of the big-endian bytes.
template <std::unsigned_integral Word, Word Polynomial>
std::optional<std::string> crc_text(byte_view bytes) {
    const Word crc = crc_of<Word, Polynomial>(bytes);
    std::array<std::byte, sizeof(Word)> text{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<std::byte>((crc >> (8 * (text.size() - 1 - i))) & 0xFFU);
    }
    return to_base64(text);
}

inline std::optional<std::string> digest_text(std::string_view algorithm, byte_view bytes) {
    const auto made = digest_by(algorithm, bytes);
    return made ? std::optional{to_base64(*made)} : std::nullopt;
}

struct known_checksum {
    std::string_view header;
    std::size_t length;  // for a whole object; with "-N" after it, it is a checksum of the parts' checksums
    std::optional<std::string> (*of)(byte_view bytes);
};
/// One of them is enough; cheaper ones come first.
inline constexpr std::array known_checksums{
    known_checksum{"x-amz-checksum-crc64nvme", 12, crc_text<std::uint64_t, 0x9A6C9329AC4BC9B5U>},
    known_checksum{"x-amz-checksum-crc32c", 8, crc_text<std::uint32_t, 0x82F63B78U>},
    known_checksum{"x-amz-checksum-crc32", 8, crc_text<std::uint32_t, 0xEDB88320U>},
    known_checksum{"x-amz-checksum-sha256", 44, [](byte_view bytes) { return digest_text("SHA256", bytes); }},
    known_checksum{"x-amz-checksum-sha1", 28, [](byte_view bytes) { return digest_text("SHA1", bytes); }},
};

/// All bytes of an object, if the answer to GET has them; nothing if it has a part, or none.
inline std::optional<byte_view> whole_object_in(const http::response& answer) noexcept {
    const auto range = parse_content_range(answer.find_header("content-range").value_or(""));
    const bool is_whole =
        answer.status == 200 || (answer.status == 206 && range && range->where.offset == 0 &&
                                 range->where.length == range->total && answer.body.size() == range->total);
    return is_whole ? std::optional{answer.body.view()} : std::nullopt;
}

/// The MD5 of a whole object, in hexadecimal digits, if its ETag is one: the object was uploaded in one piece and
/// not encrypted with a managed key.  Nothing if the ETag may be something else.
inline std::optional<std::string_view> md5_etag(const http::response& answer) noexcept {
    const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
    const bool is_of_parts = etag.size() != 32 || etag.find_first_not_of("0123456789abcdef") != std::string_view::npos;
    const bool is_of_ciphertext = answer.find_header("x-amz-server-side-encryption").value_or("AES256") != "AES256" ||
                                  answer.find_header("x-amz-server-side-encryption-customer-algorithm").has_value();
    return is_of_parts || is_of_ciphertext ? std::nullopt : std::optional{etag};
}

inline std::string_view disagreeing_checksum(const http::response& answer, bool etags) {
    const std::optional<byte_view> object = whole_object_in(answer);
    if (!object) {
        return {};
    }
    const bool is_of_parts = answer.find_header("x-amz-checksum-type") == "COMPOSITE";
    for (const known_checksum& known : known_checksums) {
        const auto said = is_of_parts ? std::nullopt : answer.find_header(known.header);
        const auto is = said && said->size() == known.length ? known.of(*object) : std::nullopt;
        if (is) {
            return *is == *said ? std::string_view{} : known.header;
        }
    }
    const auto md5 = etags ? md5_etag(answer) : std::nullopt;
    const auto is = md5 ? digest_by("MD5", *object) : std::nullopt;
    return is && to_hex(*is) != *md5 ? "etag" : std::string_view{};
}

/// "503 SlowDown (request id X): Please reduce your request rate"
inline std::string answer_text(const call_result& failed) {
    const http::response& answer = failed.answer;
    const auto without_stops = [](std::string words) {
        while (words.ends_with('.')) {
            words.pop_back();
        }
        return words;
    };
    if (!answer.answered()) {
        return answer.failure.empty() ? "there was no answer" : without_stops(answer.failure);
    }
    std::string text = "the server said " + std::to_string(answer.status);
    text.append(failed.said.code.empty() ? "" : " ").append(failed.said.code);
    if (answer.status < 300) {
        const bool is_part = failed.asked.wanted.length != 0 && part_in(answer, failed.asked.wanted).has_value();
        const std::string_view disagrees = is_part ? disagreeing_checksum(answer, true) : std::string_view{};
        text += disagrees.empty() ? ", but the answer was incomplete or did not fit the request"
                                  : ", but the bytes that came are not those that its header \"" +
                                        std::string{disagrees} + "\" is the checksum of";
    }
    if (!failed.said.request_id.empty()) {
        text.append(" (request id ").append(failed.said.request_id).append(")");
    }
    if (!failed.said.message.empty()) {
        text.append(": ").append(failed.said.message);
    }
    return without_stops(std::move(text));
}

inline std::string_view advice_when_denied(std::string_view code) noexcept {
    if (code == "SignatureDoesNotMatch") {
        return "The secret key does not belong to the key id: check both, where they come from, and that nothing "
               "between here and the server changes requests";
    }
    if (code == "InvalidAccessKeyId" || code == "InvalidToken" || code == "InvalidClientTokenId") {
        return "The server does not know these keys: check which profile or variables they come from, and that they "
               "are for this server";
    }
    if (code == "ExpiredToken" || code == "RequestExpired" || code == "TokenRefreshRequired") {
        return "The keys have expired, and no newer ones were found: get new ones";
    }
    if (code == "RequestTimeTooSkewed") {
        return "This machine's clock is wrong: set it";
    }
    return "These keys may not do it, or the secret key is wrong: ask for the rights (s3:GetObject and s3:ListBucket "
           "to read, s3:PutObject and s3:DeleteObject to write), or use other keys; without s3:ListBucket a missing "
           "object looks like this, too";
}

inline std::string advice_when_unreachable(std::string_view server) {
    const auto address = server_named_by(server);
    const std::string place =
        address ? " (host " + address->host + ", port " + std::to_string(address->port) + ")" : "";
    return "Is the endpoint " + std::string{server} + place +
           " right, and can it be reached? It comes from s3_options::endpoint, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL "
           "or the profile, and is Amazon's for the region else; check that the server runs, and the name, the "
           "firewall and the proxy (https_proxy, http_proxy) on the way to it";
}

inline void fail(const location& place, std::string_view server, const call_result& failed) {
    const std::string where = failed.asked.key.empty() ? place.text() : place.name_of(failed.asked.key);
    const http::response& answer = failed.answer;
    std::string text = std::string{failed.asked.doing} + " " + where + " failed";
    if (failed.attempts > 1) {
        text += " after " + std::to_string(failed.attempts) + " attempts in " + std::to_string(failed.taken.count()) +
                " ms";
    }
    text += ": " + answer_text(failed) + ". ";
    const error_context context{.where = where};
    if (!answer.answered()) {
        if (answer.outcome == http::outcome::timed_out) {
            throw unavailable(error_code::timed_out, text + "It did not end within its deadline; see s3_options::retry",
                              context);
        }
        if (answer.outcome == http::outcome::too_long) {
            throw unsupported(text + "The server " + std::string{server} + " sends more than was requested", context);
        }
        const std::string advice =
            answer.outcome == http::outcome::unreachable ? advice_when_unreachable(server)
            : answer.outcome == http::outcome::refused
                ? "Check the endpoint " + std::string{server} +
                      " and the certificates that are trusted (s3_options::ca_file, AWS_CA_BUNDLE)"
                : "Try again later";
        throw unavailable(text + advice, context);
    }
    const std::string_view code = failed.said.code;
    if (code == "NoSuchBucket") {
        throw not_found(text + "There is no bucket \"" + place.bucket + "\" at " + std::string{server} +
                            ": check its name and the endpoint",
                        context);
    }
    if (code == "NoSuchUpload") {
        throw unavailable(text + "Somebody else has ended the upload: write the object again", context);
    }
    if (answer.status == 404) {
        throw not_found("there is no object " + where + " (" + answer_text(failed) + ")", context);
    }
    const bool wants_keys = !failed.is_signed && (answer.status == 400 || answer.status == 412 ||
                                                  answer.status == 401 || answer.status == 403);
    if (wants_keys) {
        throw access_denied(text + "It was asked without keys (s3_options::anonymous), and not everybody may do it",
                            context);
    }
    if (answer.status == 401 || answer.status == 403 ||
        (answer.status == 400 && (code == "ExpiredToken" || code == "InvalidToken"))) {
        throw access_denied(text + std::string{advice_when_denied(code)}, context);
    }
    if (!failed.sent_to.empty()) {
        throw unsupported(text + "The server " + std::string{server} + " sends its requests on to " + failed.sent_to +
                              ", which is not known to belong to the same service: it was not asked, as keys and data "
                              "go nowhere else. If they may, make it the endpoint (s3_options::endpoint, "
                              "AWS_ENDPOINT_URL_S3)",
                          context);
    }
    if (answer.status >= 300 && answer.status < 400) {
        throw unsupported(text +
                              "The server sends us elsewhere: set the region of the bucket (s3_options::region, "
                              "AWS_REGION) or its endpoint",
                          context);
    }
    if (answer.status == 416) {
        throw unavailable(text +
                              "It says that the object ends before the requested range, which its size does not bear "
                              "out. Try again later",
                          context);
    }
    if (answer.status == 501 || (answer.status >= 400 && answer.status < 500 && answer.status != 408 &&
                                 answer.status != 409 && answer.status != 429)) {
        throw unsupported(text + "The server " + std::string{server} + " does not take such a request", context);
    }
    throw unavailable(text + "Try again later", context);
}

}  // namespace smdebug::inline v1::s3::detail
