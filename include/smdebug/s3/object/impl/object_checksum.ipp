// The bodies of <smdebug/s3/object/object_checksum.hpp>.
#pragma once

#include <smdebug/s3/object/object_checksum.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string> digest_text(std::string_view algorithm, byte_view bytes) {
    const auto made = digest_by(algorithm, bytes);
    return made ? std::optional{to_base64(*made)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<byte_view> whole_object_in(const http::response& answer) noexcept {
    const auto range = parse_content_range(answer.find_header("content-range").value_or(""));
    const bool is_whole =
        answer.status == 200 || (answer.status == 206 && range && range->where.offset == 0 &&
                                 range->where.length == range->total && answer.body.size() == range->total);
    return is_whole ? std::optional{answer.body.view()} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::string_view> md5_etag(const http::response& answer) noexcept {
    const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
    const bool is_of_parts = etag.size() != 32 || etag.find_first_not_of("0123456789abcdef") != std::string_view::npos;
    const bool is_of_ciphertext = answer.find_header("x-amz-server-side-encryption").value_or("AES256") != "AES256" ||
                                  answer.find_header("x-amz-server-side-encryption-customer-algorithm").has_value();
    return is_of_parts || is_of_ciphertext ? std::nullopt : std::optional{etag};
}

SMDEBUG_INLINE std::string_view disagreeing_checksum(const http::response& answer, bool etags) {
    const std::optional<byte_view> object = whole_object_in(answer);
    if (!object) {
        return {};
    }
    const bool is_of_parts = answer.find_header("x-amz-checksum-type") == "COMPOSITE";
    for (const detail::known_checksum& known : detail::known_checksums) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
