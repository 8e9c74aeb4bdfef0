// Turns a failed call to S3 into one error: the operation, its place, the server's answer, and advice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/digest.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/object/list_page.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Compares the bytes of a whole object with the server's checksum.
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

/// The text in a header: base64 of the big-endian bytes.
template <std::unsigned_integral Word, Word Polynomial>
[[nodiscard]] std::optional<std::string> crc_text(byte_view bytes) {
    const Word crc = crc_of<Word, Polynomial>(bytes);
    std::array<std::byte, sizeof(Word)> text{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<std::byte>((crc >> (8 * (text.size() - 1 - i))) & 0xFFU);
    }
    return to_base64(text);
}

[[nodiscard]] std::optional<std::string> digest_text(std::string_view algorithm, byte_view bytes);

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
[[nodiscard]] std::optional<byte_view> whole_object_in(const http::response& answer) noexcept;

/// The MD5 of a whole object, in hexadecimal digits, if its ETag is one: the object was uploaded in one piece and
/// not encrypted with a managed key.  Nothing if the ETag may be something else.
[[nodiscard]] std::optional<std::string_view> md5_etag(const http::response& answer) noexcept;

/// The header of an answer to GET that does not match the received bytes; empty if all match, if the bytes are only a
/// part of the object, or if there is no checksum.
/// `etags`: also uses an ETag that is an MD5, if there is no other checksum.
/// Cost: one pass; for MD5 about 0.6 GiB/s.
[[nodiscard]] std::string_view disagreeing_checksum(const http::response& answer, bool etags);

/// "503 SlowDown (request id X): Please reduce your request rate"
[[nodiscard]] std::string answer_text(const call_result& failed);

/// Advice for an answer that denies access.
[[nodiscard]] std::string_view advice_when_denied(std::string_view code) noexcept;

/// Advice when the server cannot be reached.
[[nodiscard]] std::string advice_when_unreachable(std::string_view server);

/// Throws the error of a failed call.  `server` is "https://host".
/// Errors: not_found (no such object or bucket), access_denied, timed_out (the deadline), unsupported (the server
///         lacks the operation), unavailable (all else: trying again later may help).
[[noreturn]] void fail(const location& place, std::string_view server, const call_result& failed);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/failure.ipp>
#endif
