// Turns a failed call to S3 into one error: the operation, its place, the server's answer, and advice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/failure.ipp>
#endif
