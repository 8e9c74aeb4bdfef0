// Writing one object in parts: several under way at once, and nothing is to be seen of it before it is completed; and
// giving up what others have begun so.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/upload_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// An upload that is begun when it is made, and given up when it is destroyed before complete() has returned.
/// One thread.      Borrows: the client; each part until it is `done`.
template <class Client>
class multipart_upload {
public:
    static constexpr std::uint64_t least_part = std::uint64_t{5} << 20U;  ///< of all parts but the last one
    static constexpr std::uint64_t longest_part = std::uint64_t{5} << 30U;
    static constexpr std::size_t most_parts = 10'000;

    /// How long the part of that number (from 0) should be, so that the parts suffice for the largest object there is.
    [[nodiscard]] static std::uint64_t part_size(std::uint64_t configured, std::size_t number) noexcept;

    /// `key` is the whole one.  Errors: those of fail().
    multipart_upload(const Client& asked, std::string key);
    multipart_upload(const multipart_upload&) = delete;
    multipart_upload& operator=(const multipart_upload&) = delete;
    ~multipart_upload();

    [[nodiscard]] std::size_t under_way() const noexcept { return window_.size(); }
    [[nodiscard]] std::size_t begun_parts() const noexcept { return parts_.size(); }

    /// Begins to send the next part.  Errors: those of fail().
    void send(byte_view part);

    /// Waits until one of the parts is done, and gives its number, from 0.  Errors: those of fail().
    std::size_t wait();

    /// Waits for all parts, and makes the object appear.  Errors: those of fail().
    void complete();

private:
    // Whether the object is one of as many parts and as many bytes.
    [[nodiscard]] bool is_there() const;

    // The server keeps, and charges for, parts of an upload that nobody ends.
    void give_up() noexcept;

    const Client& client_;
    std::string key_;
    std::string id_;
    call_window<Client> window_;
    std::vector<uploaded_part> parts_;
    std::uint64_t size_ = 0;
    bool completed_ = false;
};

/// Gives up uploads that somebody has begun below `prefix` and not ended, who may be dead or at work: those of the keys
/// that `which` takes.  Returns these keys, each once, in order.  Keys are without the client's prefix.
/// Cost:   one request for 1,000 uploads, and one for each that is given up.      Errors: those of fail().
template <class Client>
std::vector<std::string> remove_uploads(const Client& asked, std::string_view prefix,
                                        function_ref<bool(std::string_view)> which) {
    const std::string& root = asked.where().prefix;
    std::vector<upload_page::upload> unfinished;
    upload_page page;
    for (bool goes_on = true; goes_on;) {
        // Without encoding-type: radosgw then encodes the keys, and not the markers, and does not say so.
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
        // A server whose pages do not advance ends the listing here; later calls find the rest.
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/object/impl/multipart_upload.tpp>
