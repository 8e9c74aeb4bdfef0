// The bodies of <smdebug/s3/object/upload_answer.hpp>.
#pragma once

#include <smdebug/s3/object/upload_answer.hpp>

#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string> parse_upload_id(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "InitiateMultipartUploadResult") {
        return std::nullopt;
    }
    const std::string_view id = root->text_of("UploadId").value_or("");
    return id.empty() ? std::nullopt : std::optional{std::string{id}};
}

SMDEBUG_INLINE std::optional<std::string> parse_completed_upload(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "CompleteMultipartUploadResult") {
        return std::nullopt;
    }
    return std::string{unquoted(root->text_of("ETag").value_or(""))};
}

SMDEBUG_INLINE std::optional<upload_page> parse_upload_page(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "ListMultipartUploadsResult") {
        return std::nullopt;
    }
    const bool encoded = root->text_of("EncodingType") == "url";
    upload_page page;
    page.truncated = root->text_of("IsTruncated") == "true";
    page.key_marker = detail::listed_key(root->text_of("NextKeyMarker").value_or(""), encoded).value_or("");
    page.upload_id_marker = root->text_of("NextUploadIdMarker").value_or("");
    const bool good = root->for_each_child([&](xml_element child) {
        if (child.name() != "Upload") {
            return true;
        }
        auto key = detail::listed_key(child.text_of("Key").value_or(""), encoded);
        const std::string_view id = child.text_of("UploadId").value_or("");
        const bool is_whole = key && !key->empty() && !id.empty();
        if (is_whole) {
            page.uploads.push_back({*std::move(key), std::string{id}});
        }
        return is_whole;
    });
    return good ? std::optional{std::move(page)} : std::nullopt;
}

SMDEBUG_INLINE std::string parts_document(std::span<const uploaded_part> parts) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
