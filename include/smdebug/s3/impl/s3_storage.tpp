// The bodies of <smdebug/s3/s3_storage.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/s3_storage.hpp>

#include <algorithm>
#include <iterator>

namespace smdebug::inline v1 {

template <http_transport Transport, credentials_provider Credentials>
s3_storage<Transport, Credentials>::s3_storage(std::string_view uri, s3_options options, Transport over,
                                               Credentials credentials)
    : client_(std::make_shared<const client_type>(s3::parse_location(uri), std::move(options), std::move(over),
                                                  std::move(credentials))) {}

template <http_transport Transport, credentials_provider Credentials>
byte_buffer s3_storage<Transport, Credentials>::read(std::string_view key, byte_range where) const {
    // HTTP has no empty ranges; still the object must exist.
    std::optional<byte_buffer> bytes = where.length != 0 ? reader().read(key, where)
                                       : size(key)       ? std::optional{byte_buffer{}}
                                                         : std::nullopt;
    if (!bytes) {
        throw_missing(key);
    }
    return *std::move(bytes);
}

template <http_transport Transport, credentials_provider Credentials>
versioned_object s3_storage<Transport, Credentials>::read_versioned(std::string_view key) const {
    auto found = reader().read_versioned(key);
    if (!found) {
        throw_missing(key);
    }
    return *std::move(found);
}

template <http_transport Transport, credentials_provider Credentials>
std::vector<std::string> s3_storage<Transport, Credentials>::list(std::string_view prefix,
                                                                  std::string_view after) const {
    std::vector<object_entry> found = *entries(prefix, after, std::numeric_limits<std::size_t>::max());
    std::vector<std::string> keys;
    keys.reserve(found.size());
    std::transform(found.begin(), found.end(), std::back_inserter(keys),
                   [](object_entry& entry) { return std::move(entry.key); });
    return keys;
}

template <http_transport Transport, credentials_provider Credentials>
std::optional<std::uint64_t> s3_storage<Transport, Credentials>::size(std::string_view key) const {
    const auto seen = look(key);
    return seen ? std::optional{seen->size} : std::nullopt;
}

template <http_transport Transport, credentials_provider Credentials>
std::optional<std::chrono::system_clock::time_point> s3_storage<Transport, Credentials>::modified(
    std::string_view key) const {
    const auto seen = look(key);
    return seen ? seen->modified : std::nullopt;
}

template <http_transport Transport, credentials_provider Credentials>
void s3_storage<Transport, Credentials>::write(std::string_view key, byte_view bytes) {
    using upload_type = s3::detail::multipart_upload<client_type>;
    const std::uint64_t part = client_->options().part_bytes;
    if (bytes.size() <= upload_type::part_size(part, 0)) {
        s3::detail::put_object(*client_, whole_key(key), bytes);
        return;
    }
    upload_type upload{*client_, whole_key(key)};
    while (!bytes.empty()) {
        if (upload.under_way() >= std::max<std::size_t>(client_->options().most_uploads, 1)) {
            upload.wait();
        }
        const byte_view next = bytes.first(static_cast<std::size_t>(
            std::min<std::uint64_t>(upload_type::part_size(part, upload.begun_parts()), bytes.size())));
        upload.send(next);
        bytes = bytes.subspan(next.size());
    }
    upload.complete();
}

template <http_transport Transport, credentials_provider Credentials>
bool s3_storage<Transport, Credentials>::remove(std::string_view key, durability /*all is on_disk*/) {
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

template <http_transport Transport, credentials_provider Credentials>
std::string s3_storage<Transport, Credentials>::whole_key(std::string_view key) const {
    if (key.empty()) {
        throw not_found("an empty key names no object in " + name(), {.where = name()});
    }
    return std::string{client_->where().prefix}.append(key);
}

template <http_transport Transport, credentials_provider Credentials>
void s3_storage<Transport, Credentials>::throw_missing(std::string_view key) const {
    const std::string name = "s3://" + client_->where().bucket + "/" + client_->where().prefix + std::string{key};
    throw not_found("there is no object " + name, {.where = name});
}

template <http_transport Transport, credentials_provider Credentials>
std::optional<typename s3_storage<Transport, Credentials>::seen_object> s3_storage<Transport, Credentials>::look(
    std::string_view key) const {
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
    if (!ended.good) {
        s3::detail::fail(client_->where(), client_->server(), ended);
    }
    // The request may have been replaced by one for a part.
    const auto size = ended.asked.method == http::method::head
                          ? s3::detail::body_length(ended.answer)
                          : std::optional{s3::detail::part_in(ended.answer, ended.asked.wanted)->total};
    return seen_object{*size, s3::detail::parse_http_date(ended.answer.find_header("last-modified").value_or(""))};
}

template <http_transport Transport, credentials_provider Credentials>
std::pair<s3_options, curl_options> s3_storage<Transport, Credentials>::settled(s3_options options) {
    const s3::detail::aws_settings configured = s3::detail::read_aws_settings();
    options.region = options.region ? options.region : configured.region;
    options.endpoint = options.endpoint ? options.endpoint : configured.endpoint;
    options.ca_file = options.ca_file ? options.ca_file : configured.ca_bundle;
    curl_options of_transport;
    of_transport.ca_file = options.ca_file.value_or("");
    of_transport.http2 = options.http2;
    return {std::move(options), std::move(of_transport)};
}

}  // namespace smdebug::inline v1
