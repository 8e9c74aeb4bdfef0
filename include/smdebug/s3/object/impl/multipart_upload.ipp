// The bodies of <smdebug/s3/object/multipart_upload.hpp>.
#pragma once

#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/listing.hpp>
#include <smdebug/s3/object/multipart_upload.hpp>

#include <array>
#include <iterator>

namespace smdebug::inline v1 {
namespace s3::detail {

SMDEBUG_INLINE std::optional<std::string> parse_upload_id(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body, "InitiateMultipartUploadResult");
    const std::string_view id = root ? root->text_of("UploadId").value_or("") : "";
    return id.empty() ? std::nullopt : std::optional{std::string{id}};
}

SMDEBUG_INLINE std::optional<std::string> parse_completed_upload(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body, "CompleteMultipartUploadResult");
    return root ? std::optional{std::string{unquoted(root->text_of("ETag").value_or(""))}} : std::nullopt;
}

SMDEBUG_INLINE std::optional<upload_page> parse_upload_page(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body, "ListMultipartUploadsResult");
    if (!root) {
        return std::nullopt;
    }
    const bool encoded = root->text_of("EncodingType") == "url";
    upload_page page;
    page.truncated = root->text_of("IsTruncated") == "true";
    page.key_marker = listed_key(root->text_of("NextKeyMarker").value_or(""), encoded).value_or("");
    page.upload_id_marker = root->text_of("NextUploadIdMarker").value_or("");
    const bool good = root->for_each_child([&](xml_element child) {
        if (child.name() != "Upload") {
            return true;
        }
        auto key = listed_key(child.text_of("Key").value_or(""), encoded);
        const std::string_view id = child.text_of("UploadId").value_or("");
        const bool is_whole = key && !key->empty() && !id.empty();
        if (is_whole) {
            page.uploads.push_back({*std::move(key), std::string{id}});
        }
        return is_whole;
    });
    return good ? std::optional{std::move(page)} : std::nullopt;
}

/// The check of a call whose answer's body this function reads.
template <auto Parse>
bool holds(const http::response& answer, byte_range /*wanted*/) {
    return Parse(answer.body.view()).has_value();
}

SMDEBUG_INLINE std::string parts_document(std::span<const uploaded_part> parts) {
    constexpr std::string_view special = "&<>\"";
    constexpr std::array<std::string_view, 4> escapes{"&amp;", "&lt;", "&gt;", "&quot;"};
    std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (const auto& [number, etag] : parts) {
        out.append("<Part><PartNumber>").append(std::to_string(number)).append("</PartNumber><ETag>");
        for (const char c : etag) {
            const std::size_t at = special.find(c);
            out.append(at == std::string_view::npos ? std::string_view{&c, 1} : escapes[at]);
        }
        out.append("</ETag></Part>");
    }
    return out.append("</CompleteMultipartUpload>");
}

SMDEBUG_INLINE std::vector<std::string> remove_uploads(const client& asked, std::string_view prefix,
                                                       function_ref<bool(std::string_view)> which) {
    const std::string& root = asked.where().prefix;
    std::vector<upload_page::upload> unfinished;
    upload_page page;
    for (bool goes_on = true; goes_on;) {
        // No encoding-type: with it radosgw encodes the keys but not the markers, and does not say so.
        call listing{.query = {{"uploads", ""}, {"max-uploads", "1000"}, {"prefix", std::string{root}.append(prefix)}},
                     .check = holds<parse_upload_page>,
                     .doing = "listing the uploads below"};
        if (!page.key_marker.empty()) {
            listing.query.emplace_back("key-marker", page.key_marker);
            listing.query.emplace_back("upload-id-marker", page.upload_id_marker);
        }
        const call_result ended = perform_call(asked, std::move(listing));
        check_good(asked, ended);
        upload_page next = *parse_upload_page(ended.answer.body.view());
        std::copy_if(next.uploads.begin(), next.uploads.end(), std::back_inserter(unfinished), [&](const auto& one) {
            return one.key.starts_with(root) && which(std::string_view{one.key}.substr(root.size()));
        });
        // If the server's pages do not advance, the listing ends here; later calls find the rest.
        goes_on = next.truncated &&
                  std::pair{next.key_marker, next.upload_id_marker} > std::pair{page.key_marker, page.upload_id_marker};
        page = std::move(next);
    }
    std::vector<std::string> removed;
    for (upload_page::upload& one : unfinished) {
        const call_result ended = perform_call(asked, {.method = http::method::remove,
                                                       .key = one.key,
                                                       .query = {{"uploadId", one.id}},
                                                       .doing = "giving up an upload of"});
        if (!ended.good && ended.said.code != "NoSuchUpload" && ended.answer.status != 404) {
            fail(asked.where(), asked.server(), ended);
        }
        removed.push_back(one.key.substr(root.size()));
    }
    std::sort(removed.begin(), removed.end());
    removed.erase(std::unique(removed.begin(), removed.end()), removed.end());
    return removed;
}

SMDEBUG_INLINE void put_object(const client& asked, std::string key, byte_view bytes) {
    call writing{.method = http::method::put, .key = std::move(key), .body = bytes, .doing = "writing"};
    check_good(asked, perform_call(asked, std::move(writing)));
}

SMDEBUG_INLINE multipart_upload::multipart_upload(const client& asked, std::string key)
    : client_(asked), key_(std::move(key)), window_(asked) {
    const call_result begun = perform_call(client_, {.method = http::method::post,
                                                     .key = key_,
                                                     .query = {{"uploads", ""}},
                                                     .check = holds<parse_upload_id>,
                                                     .doing = "writing"});
    check_good(client_, begun);
    id_ = *parse_upload_id(begun.answer.body.view());
}

SMDEBUG_INLINE void multipart_upload::send(byte_buffer part) {
    while (window_.size() >= std::max<std::size_t>(client_.options().most_uploads, 1)) {
        wait();
    }
    const int number = static_cast<int>(parts_.size()) + 1;
    const byte_view bytes = sending_.emplace(parts_.size(), std::move(part)).first->second.view();
    window_.start(
        {.method = http::method::put,
         .key = key_,
         .query = {{"partNumber", std::to_string(number)}, {"uploadId", id_}},
         .body = bytes,
         .check = [](const http::response& answer, byte_range) { return answer.find_header("etag").has_value(); },
         .doing = "writing"});
    parts_.push_back({number, {}});
    size_ += bytes.size();
}

SMDEBUG_INLINE void multipart_upload::wait() {
    const std::size_t number = window_.next();
    const call_result ended = window_.wait(number);
    check_good(client_, ended);
    parts_[number].etag = ended.answer.find_header("etag").value_or("");
    sending_.erase(number);
}

SMDEBUG_INLINE void multipart_upload::complete() {
    while (!window_.idle()) {
        wait();
    }
    const std::string list = parts_document(parts_);
    const call_result ended = perform_call(client_, {.method = http::method::post,
                                                     .key = key_,
                                                     .query = {{"uploadId", id_}},
                                                     .body = as_bytes(list),
                                                     .check = holds<parse_completed_upload>,
                                                     .doing = "writing"});
    // An attempt may complete the upload and lose its answer; the next attempt then gets NoSuchUpload.
    if (!ended.good && !(ended.said.code == "NoSuchUpload" && ended.attempts > 1 && is_there())) {
        fail(client_.where(), client_.server(), ended);
    }
    completed_ = true;
}

SMDEBUG_INLINE bool multipart_upload::is_there() const {
    const call_result seen = perform_call(client_, {.method = http::method::head, .key = key_, .doing = "looking for"});
    const std::string etag{seen.answer.find_header("etag").value_or("")};
    return seen.good && seen.answer.find_header("content-length") == std::to_string(size_) &&
           etag.find("-" + std::to_string(parts_.size())) != std::string::npos;
}

SMDEBUG_INLINE void multipart_upload::give_up() noexcept {
    try {
        window_.abandon();
        static_cast<void>(
            perform_call(client_, {.method = http::method::remove, .key = key_, .query = {{"uploadId", id_}}}));
    } catch (...) {
        // Buckets can have rules that remove unfinished uploads.
    }
}

}  // namespace s3::detail

namespace detail {

SMDEBUG_INLINE void s3_output::append(std::span<const byte_view> pieces) {
    for (byte_view piece : pieces) {
        while (!piece.empty()) {
            state& sending = *state_;
            const std::size_t part = s3::detail::multipart_upload::part_size(
                sending.client->options().part_bytes, sending.upload ? sending.upload->begun_parts() : 0);
            const std::size_t room = part - sending.filling.size();
            const byte_view taken = piece.first(std::min(room, piece.size()));
            sending.filling.insert(sending.filling.end(), taken.begin(), taken.end());
            piece = piece.subspan(taken.size());
            if (taken.size() == room) {
                sending.send();
            }
        }
    }
}

SMDEBUG_INLINE void s3_output::commit(durability /*all is on_disk*/) {
    state& sending = *state_;
    if (!sending.upload) {
        s3::detail::put_object(*sending.client, sending.key, sending.filling);
    } else {
        if (!sending.filling.empty()) {
            sending.send();
        }
        sending.upload->complete();
    }
    state_.reset();
}

SMDEBUG_INLINE void s3_output::state::send() {
    if (!upload) {
        upload.emplace(*client, key);
    }
    upload->send(byte_buffer::take(std::exchange(filling, {})));
}

}  // namespace detail
}  // namespace smdebug::inline v1
