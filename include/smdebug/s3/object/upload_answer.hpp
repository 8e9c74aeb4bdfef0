// Uploads in parts: what servers answer, and the list of parts that ends one.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/object/list_page.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// The id in a whole answer to CreateMultipartUpload (POST ?uploads=); nothing where it is none.
[[nodiscard]] std::optional<std::string> parse_upload_id(byte_view body);

/// The version of the object (its ETag without quotes; empty with Ceph) in a whole answer to CompleteMultipartUpload.
/// Nothing where it is none: servers begin to answer with status 200 before they know, so an <Error> may follow it,
/// which parse_error_answer() reads, or the answer may end before it has told anything.
[[nodiscard]] std::optional<std::string> parse_completed_upload(byte_view body);

/// One page of the uploads that nobody has ended.
struct upload_page {
    struct upload {
        std::string key;  ///< the whole one
        std::string id;
        friend bool operator==(const upload&, const upload&) = default;
    };
    std::vector<upload> uploads = {};
    bool truncated = false;       ///< there is more behind these two
    std::string key_marker = {};  ///< as it is, not encoded
    std::string upload_id_marker = {};
};

/// The page in a whole answer to ListMultipartUploads (GET ?uploads=); nothing where it is none.
[[nodiscard]] std::optional<upload_page> parse_upload_page(byte_view body);

/// A part that has been uploaded.
struct uploaded_part {
    int number = 0;    ///< 1 to 10000
    std::string etag;  ///< as the answer's header has it, quotes and all
};

/// The body of CompleteMultipartUpload.  The parts are sorted by number.
[[nodiscard]] std::string parts_document(std::span<const uploaded_part> parts);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/upload_answer.ipp>
#endif
