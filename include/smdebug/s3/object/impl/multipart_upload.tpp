// The bodies of <smdebug/s3/object/multipart_upload.hpp> that are templates.
#pragma once

#include <smdebug/s3/object/multipart_upload.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

template <class Client>
std::uint64_t multipart_upload<Client>::part_size(std::uint64_t configured, std::size_t number) noexcept {
    const std::uint64_t first = std::clamp(configured, least_part, longest_part);
    return std::min(first << std::min<std::size_t>(number / 1000, 9), longest_part);
}

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
multipart_upload<Client>::~multipart_upload() {
    if (!completed_) {
        give_up();
    }
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
    // An attempt may complete the upload and its answer be lost; the next attempt then gets NoSuchUpload.
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
        // Buckets can have rules that remove abandoned uploads.
    }
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
