// Writing one object in parts: several are sent concurrently, and the object is invisible until completed; and
// removing unfinished uploads.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/list_page.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace s3::detail {

/// The id in a complete answer to CreateMultipartUpload (POST ?uploads=), else nothing.
[[nodiscard]] inline std::optional<std::string> parse_upload_id(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "InitiateMultipartUploadResult") {
        return std::nullopt;
    }
    const std::string_view id = root->text_of("UploadId").value_or("");
    return id.empty() ? std::nullopt : std::optional{std::string{id}};
}

/// The object's version (its ETag without quotes; empty with Ceph) in a complete answer to CompleteMultipartUpload.
/// Else nothing: servers send status 200 before they know the result, so an <Error> may follow, which
/// parse_error_answer() reads, or the answer may be cut.
[[nodiscard]] inline std::optional<std::string> parse_completed_upload(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body);
    if (!root || root->name() != "CompleteMultipartUploadResult") {
        return std::nullopt;
    }
    return std::string{unquoted(root->text_of("ETag").value_or(""))};
}

/// One page of the unfinished uploads.
struct upload_page {
    struct upload {
        std::string key;  ///< the full key
        std::string id;
        friend bool operator==(const upload&, const upload&) = default;
    };
    std::vector<upload> uploads = {};
    bool truncated = false;       ///< more pages follow after these markers
    std::string key_marker = {};  ///< not encoded
    std::string upload_id_marker = {};
};

/// The page in a complete answer to ListMultipartUploads (GET ?uploads=), else nothing.
[[nodiscard]] inline std::optional<upload_page> parse_upload_page(byte_view body) {
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

/// An uploaded part.
struct uploaded_part {
    int number = 0;    ///< 1 to 10000
    std::string etag;  ///< from the answer's header, including quotes
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

/// The constructor starts an upload; the destructor aborts it unless complete() has returned.
/// One thread.      Borrows: the client; each part until it is `done`.
template <class Client>
class multipart_upload {
public:
    static constexpr std::uint64_t least_part = std::uint64_t{5} << 20U;  ///< for all parts but the last one
    static constexpr std::uint64_t longest_part = std::uint64_t{5} << 30U;
    static constexpr std::size_t most_parts = 10'000;

    /// The size that part `number` (from 0) should have, so that the parts suffice for the largest possible object.
    [[nodiscard]] static std::uint64_t part_size(std::uint64_t configured, std::size_t number) noexcept {
        const std::uint64_t first = std::clamp(configured, least_part, longest_part);
        return std::min(first << std::min<std::size_t>(number / 1000, 9), longest_part);
    }

    /// `key` is the full key.  Errors: those of fail().
    multipart_upload(const Client& asked, std::string key);
    multipart_upload(const multipart_upload&) = delete;
    multipart_upload& operator=(const multipart_upload&) = delete;
    ~multipart_upload() {
        if (!completed_) {
            give_up();
        }
    }

    [[nodiscard]] std::size_t under_way() const noexcept { return window_.size(); }
    [[nodiscard]] std::size_t begun_parts() const noexcept { return parts_.size(); }

    /// Starts sending the next part.  Errors: those of fail().
    void send(byte_view part);

    /// Waits until one of the parts is done, and returns its number, from 0.  Errors: those of fail().
    std::size_t wait();

    /// Waits for all parts, and makes the object appear.  Errors: those of fail().
    void complete();

private:
    // Whether the existing object has the same number of parts and bytes.
    [[nodiscard]] bool is_there() const;

    // The server keeps the parts of an unfinished upload and charges for them.
    void give_up() noexcept;

    const Client& client_;
    std::string key_;
    std::string id_;
    request_pipeline<Client> window_;
    std::vector<uploaded_part> parts_;
    std::uint64_t size_ = 0;
    bool completed_ = false;
};

/// Aborts unfinished uploads under `prefix` whose key `which` accepts; their writers may be dead or still at work.
/// Returns these keys, each once, in order.  Keys are relative to the client's prefix.
/// Cost:   one request for 1,000 uploads, and one for each aborted one.      Errors: those of fail().
template <class Client>
std::vector<std::string> remove_uploads(const Client& asked, std::string_view prefix,
                                        function_ref<bool(std::string_view)> which) {
    const std::string& root = asked.where().prefix;
    std::vector<upload_page::upload> unfinished;
    upload_page page;
    for (bool goes_on = true; goes_on;) {
        // No encoding-type: with it radosgw encodes the keys but not the markers, and does not say so.
        call listing{.query = {{"uploads", ""}, {"max-uploads", "1000"}, {"prefix", std::string{root}.append(prefix)}},
                     .check = [](const http::response& answer,
                                 byte_range) { return parse_upload_page(answer.body.view()).has_value(); },
                     .doing = "listing the uploads below"};
        if (!page.key_marker.empty()) {
            listing.query.emplace_back("key-marker", page.key_marker);
            listing.query.emplace_back("upload-id-marker", page.upload_id_marker);
        }
        const call_result ended = perform_call(asked, std::move(listing));
        if (!ended.good) {
            fail(asked.where(), asked.server(), ended);
        }
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

// Writes an object piece by piece into a bucket: with one request if it is small, else in parts.

/// Writes a whole object with one request.  Errors: those of fail().
template <class Client>
void put_object(const Client& asked, std::string key, byte_view bytes) {
    const call_result ended =
        perform_call(asked, {.method = http::method::put, .key = std::move(key), .body = bytes, .doing = "writing"});
    if (!ended.good) {
        fail(asked.where(), asked.server(), ended);
    }
}

}  // namespace s3::detail
namespace detail {

/// Memory: s3_options::most_uploads + 1 parts.  Data that S3 has accepted is safe: nothing is
/// `cached`.  Errors: append() and commit() throw those of s3::fail().
template <class Client>
class s3_output final : public object_output {
public:
    /// `key` is the full key.
    s3_output(std::shared_ptr<const Client> asked, std::string key)
        : state_(std::make_unique<state>(std::move(asked))) {
        state_->key = std::move(key);
    }

    void append(std::span<const byte_view> pieces) override;

    void commit(durability /*all is on_disk*/) override;

private:
    struct state {
        explicit state(std::shared_ptr<const Client> asked) : client(std::move(asked)) {}

        [[nodiscard]] std::size_t part_size() const {
            return static_cast<std::size_t>(s3::detail::multipart_upload<Client>::part_size(
                client->options().part_bytes, upload ? upload->begun_parts() : 0));
        }

        void send();

        std::shared_ptr<const Client> client;
        std::string key;
        std::vector<std::byte> filling;
        std::map<std::size_t, std::vector<std::byte>> sending;  // by part; declared before the upload that borrows them
        std::optional<s3::detail::multipart_upload<Client>> upload;
    };

    std::unique_ptr<state> state_;
};

}  // namespace detail

namespace s3::detail {

template <class Client>
multipart_upload<Client>::multipart_upload(const Client& asked, std::string key)
    : client_(asked), key_(std::move(key)), window_(asked) {
    const call_result begun =
        perform_call(client_, {.method = http::method::post,
                               .key = key_,
                               .query = {{"uploads", ""}},
                               .check = [](const http::response& answer,
                                           byte_range) { return parse_upload_id(answer.body.view()).has_value(); },
                               .doing = "writing"});
    if (!begun.good) {
        fail(client_.where(), client_.server(), begun);
    }
    id_ = *parse_upload_id(begun.answer.body.view());
}

template <class Client>
void multipart_upload<Client>::send(byte_view part) {
    const std::size_t number = parts_.size();
    window_.start(number, {.method = http::method::put,
                           .key = key_,
                           .query = {{"partNumber", std::to_string(number + 1)}, {"uploadId", id_}},
                           .body = part,
                           .check = [](const http::response& answer,
                                       byte_range) { return answer.find_header("etag").has_value(); },
                           .doing = "writing"});
    parts_.push_back({static_cast<int>(number) + 1, {}});
    size_ += part.size();
}

template <class Client>
std::size_t multipart_upload<Client>::wait() {
    const auto [number, ended] = window_.next();
    if (!ended.good) {
        fail(client_.where(), client_.server(), ended);
    }
    parts_[number].etag = ended.answer.find_header("etag").value_or("");
    return number;
}

template <class Client>
void multipart_upload<Client>::complete() {
    while (!window_.idle()) {
        wait();
    }
    const std::string list = parts_document(parts_);
    const call_result ended = perform_call(
        client_, {.method = http::method::post,
                  .key = key_,
                  .query = {{"uploadId", id_}},
                  .body = as_bytes(list),
                  .check = [](const http::response& answer,
                              byte_range) { return parse_completed_upload(answer.body.view()).has_value(); },
                  .doing = "writing"});
    // An attempt may complete the upload and lose its answer; the next attempt then gets NoSuchUpload.
    if (!ended.good && !(ended.said.code == "NoSuchUpload" && ended.attempts > 1 && is_there())) {
        fail(client_.where(), client_.server(), ended);
    }
    completed_ = true;
}

template <class Client>
bool multipart_upload<Client>::is_there() const {
    const call_result seen = perform_call(client_, {.method = http::method::head, .key = key_, .doing = "looking for"});
    const std::string etag{seen.answer.find_header("etag").value_or("")};
    return seen.good && seen.answer.find_header("content-length") == std::to_string(size_) &&
           etag.find("-" + std::to_string(parts_.size())) != std::string::npos;
}

template <class Client>
void multipart_upload<Client>::give_up() noexcept {
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

template <class Client>
void s3_output<Client>::append(std::span<const byte_view> pieces) {
    for (byte_view piece : pieces) {
        while (!piece.empty()) {
            state& sending = *state_;
            const std::size_t room = sending.part_size() - sending.filling.size();
            const byte_view taken = piece.first(std::min(room, piece.size()));
            sending.filling.insert(sending.filling.end(), taken.begin(), taken.end());
            piece = piece.subspan(taken.size());
            if (taken.size() == room) {
                sending.send();
            }
        }
    }
}

template <class Client>
void s3_output<Client>::commit(durability /*all is on_disk*/) {
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

template <class Client>
void s3_output<Client>::state::send() {
    if (!upload) {
        upload.emplace(*client, key);
    }
    while (upload->under_way() >= std::max<std::size_t>(client->options().most_uploads, 1)) {
        sending.erase(upload->wait());
    }
    const std::size_t number = upload->begun_parts();
    upload->send(sending.try_emplace(number, std::exchange(filling, {})).first->second);
}

}  // namespace detail
}  // namespace smdebug::inline v1
