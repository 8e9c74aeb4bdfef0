// Uploads in parts: what servers answer, and the list of parts that ends one.
// Used by: s3.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/list_page.hpp>
#include <smdebug/s3/xml_document.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// The id in a whole answer to CreateMultipartUpload (POST ?uploads=); nothing where it is none.
[[nodiscard]] inline std::optional<std::string> parse_upload_id(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "InitiateMultipartUploadResult") {
        return std::nullopt;
    }
    const std::string_view id = root->text_of("UploadId").value_or("");
    return id.empty() ? std::nullopt : std::optional{std::string{id}};
}

/// The version of the object (its ETag without quotes; empty with Ceph) in a whole answer to CompleteMultipartUpload.
/// Nothing where it is none: servers begin to answer with status 200 before they know, so an <Error> may follow it,
/// which parse_error_answer() reads, or the answer may end before it has told anything.
[[nodiscard]] inline std::optional<std::string> parse_completed_upload(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "CompleteMultipartUploadResult") {
        return std::nullopt;
    }
    return std::string{unquoted(root->text_of("ETag").value_or(""))};
}

/// A part that has been uploaded.
struct uploaded_part {
    int number = 0;    ///< 1 to 10000
    std::string etag;  ///< as the answer's header has it, quotes and all
};

/// The body of CompleteMultipartUpload.  The parts are sorted by number.
[[nodiscard]] inline std::string parts_document(std::span<const uploaded_part> parts) {
    std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (const auto& [number, etag] : parts) {
        out.append("<Part><PartNumber>").append(std::to_string(number)).append("</PartNumber><ETag>");
        for (const char c : etag) {
            switch (c) {
                case '&':
                    out += "&amp;";
                    break;
                case '<':
                    out += "&lt;";
                    break;
                case '>':
                    out += "&gt;";
                    break;
                case '"':
                    out += "&quot;";
                    break;
                default:
                    out += c;
            }
        }
        out.append("</ETag></Part>");
    }
    return out.append("</CompleteMultipartUpload>");
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
