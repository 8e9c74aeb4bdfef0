// The bodies of <smdebug/s3/s3_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/listing.hpp>
#include <smdebug/s3/object/object_reader.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace smdebug::inline v1 {

SMDEBUG_INLINE s3_storage::s3_storage(std::string_view uri, const s3_options& options) {
    const s3::detail::aws_settings configured = s3::detail::read_aws_settings();
    s3_options settled = options;
    settled.region = options.region ? options.region : configured.region;
    settled.endpoint = options.endpoint ? options.endpoint : configured.endpoint;
    settled.ca_file = options.ca_file ? options.ca_file : configured.ca_bundle;
    auto over =
        std::make_shared<curl_transport>(curl_options{.ca_file = settled.ca_file.value_or(""), .http2 = settled.http2});
    *this = s3_storage{uri, std::move(settled), std::move(over)};
}

SMDEBUG_INLINE s3_storage::s3_storage(std::string_view uri, s3_options options,
                                      std::shared_ptr<const http_transport> over,
                                      std::shared_ptr<const credentials_provider> credentials) {
    if (!credentials) {
        credentials = s3_credentials(options, over);
    }
    client_ = std::make_shared<const s3::detail::client>(s3::parse_location(uri), std::move(options), std::move(over),
                                                         std::move(credentials));
}

SMDEBUG_INLINE byte_buffer s3_storage::read(std::string_view key, byte_range where) const {
    if (where.length == 0) {  // HTTP has no empty ranges; still the object must exist
        check_found(key, size(key).has_value());
        return {};
    }
    auto bytes = s3::detail::object_reader{*client_}.read(key, where);
    check_found(key, bytes.has_value());
    return *std::move(bytes);
}

SMDEBUG_INLINE versioned_object s3_storage::read_versioned(std::string_view key) const {
    object_version version;
    auto bytes = s3::detail::object_reader{*client_}.read(key, whole_object, &version);
    check_found(key, bytes.has_value());
    // The answer for an empty object may lack the version, and some servers have objects without an ETag.
    return {*std::move(bytes), version.tag.empty() ? "unknown" : std::move(version.tag)};
}

SMDEBUG_INLINE void s3_storage::read_each(std::span<const std::string> keys, object_sink sink) const {
    s3::detail::object_reader{*client_}.read_each(keys, sink);
}

SMDEBUG_INLINE void s3_storage::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    s3::detail::object_reader{*client_}.read_ranges(ranges, sink);
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> s3_storage::entries(std::string_view prefix,
                                                                            std::string_view after,
                                                                            std::size_t most) const {
    return s3::detail::list_objects(*client_, prefix, after, most);
}

SMDEBUG_INLINE std::vector<std::string> s3_storage::list(std::string_view prefix, std::string_view after) const {
    return smdebug::detail::keys_of(*entries(prefix, after, std::numeric_limits<std::size_t>::max()));
}

SMDEBUG_INLINE std::optional<std::uint64_t> s3_storage::size(std::string_view key) const {
    const auto seen = look(key);
    return seen ? std::optional{seen->size} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> s3_storage::modified(std::string_view key) const {
    const auto seen = look(key);
    return seen ? seen->modified : std::nullopt;
}

SMDEBUG_INLINE void s3_storage::write(std::string_view key, byte_view bytes) {
    using upload_type = s3::detail::multipart_upload;
    const std::uint64_t part = client_->options().part_bytes;
    if (bytes.size() <= upload_type::part_size(part, 0)) {
        s3::detail::put_object(*client_, whole_key(key), bytes);
        return;
    }
    upload_type upload{*client_, whole_key(key)};
    while (!bytes.empty()) {
        const byte_view next = bytes.first(static_cast<std::size_t>(
            std::min<std::uint64_t>(upload_type::part_size(part, upload.begun_parts()), bytes.size())));
        upload.send({nullptr, next});  // borrowed: complete() waits for all
        bytes = bytes.subspan(next.size());
    }
    upload.complete();
}

SMDEBUG_INLINE bool s3_storage::remove(std::string_view key, durability /*all is on_disk*/) {
    if (!size(key)) {
        return false;
    }
    const s3::detail::call_result ended = s3::detail::perform_call(
        *client_, {.method = http::method::remove, .key = whole_key(key), .doing = "removing"});
    if (!ended.good && !ended.is_missing()) {
        s3::detail::fail(client_->where(), client_->server(), ended);
    }
    return true;
}

SMDEBUG_INLINE std::string s3_storage::whole_key(std::string_view key) const {
    if (key.empty()) {
        throw not_found("an empty key names no object in " + name(), {.where = name()});
    }
    return std::string{client_->where().prefix}.append(key);
}

SMDEBUG_INLINE void s3_storage::check_found(std::string_view key, bool is_there) const {
    if (!is_there) {
        const std::string name = client_->where().name_of(client_->where().prefix + std::string{key});
        throw not_found("there is no object " + name, {.where = name});
    }
}

SMDEBUG_INLINE std::optional<s3_storage::seen_object> s3_storage::look(std::string_view key) const {
    if (key.empty()) {
        return std::nullopt;
    }
    const s3::detail::call_result ended = s3::detail::perform_call(
        *client_,
        {.method = http::method::head,
         .key = whole_key(key),
         .check = [](const http::response& answer, byte_range) { return s3::detail::body_length(answer).has_value(); },
         .doing = "looking for"});
    if (ended.is_missing()) {
        return std::nullopt;
    }
    s3::detail::check_good(*client_, ended);
    // The request may have been replaced by one for a part.
    const auto size = ended.asked.method == http::method::head
                          ? s3::detail::body_length(ended.answer)
                          : std::optional{s3::detail::part_in(ended.answer, ended.asked.wanted)->total};
    return seen_object{*size, s3::detail::parse_http_date(ended.answer.find_header("last-modified").value_or(""))};
}

// Of <smdebug/s3.hpp>, which is not included here: it would make the component known to programs of the compiled form.
namespace s3::detail {

[[nodiscard]] SMDEBUG_INLINE any_storage open_storage(std::string_view path, const storage_options& options) {
    return cached_storage{s3_storage{path, options.s3},
                          {.memory_bytes = options.memory_bytes,
                           .folder = options.cache_folder,
                           .folder_bytes = options.cache_folder_bytes,
                           .cacheable = options.cacheable}};
}

[[nodiscard]] SMDEBUG_INLINE any_storage open_place(std::string_view path, const s3_options& options) {
    return s3_storage{path, options};
}

}  // namespace s3::detail
}  // namespace smdebug::inline v1
