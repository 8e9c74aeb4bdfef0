// One page of a listing, as ListObjectsV2 answers it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/percent_encoding.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/storage/concepts.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

struct list_page {
    std::vector<object_entry> entries = {};  ///< in the server's order
    bool truncated = false;                  ///< there is more behind it
    /// What to ask for it with, as it is, not encoded.  Where it is empty though there is more, there are entries: ask
    /// with start-after the last one's key.
    std::string continuation = {};
};

/// An ETag without its quotes.
[[nodiscard]] constexpr std::string_view unquoted(std::string_view etag) noexcept {
    const bool quoted = etag.size() >= 2 && etag.front() == '"' && etag.back() == '"';
    return quoted ? etag.substr(1, etag.size() - 2) : etag;
}

/// A key as it stands in a page.  AWS writes a space as '+', others as "%20"; all write a plus as "%2B".
[[nodiscard]] std::optional<std::string> listed_key(std::string_view text, bool encoded);

[[nodiscard]] std::optional<object_entry> listed_entry(xml_element contents, bool encoded);

/// The page; nothing when the bytes are no whole answer to ListObjectsV2, or one that does not make sense.
/// Versions are ETags without quotes; the time of the last change, where there is none.
/// Cost: about 0.4 ms for 1000 entries.
[[nodiscard]] std::optional<list_page> parse_list_page(byte_view body);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/list_page.ipp>
#endif
