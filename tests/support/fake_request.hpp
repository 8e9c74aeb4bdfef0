// A request to a fake S3 as it is understood: its kind, key, query and headers.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/signature.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug_test {

/// The kind of a request.
enum class asks_for {
    get,
    head,
    list,
    put,
    begin_upload,
    upload_part,
    complete_upload,
    abort_upload,
    list_uploads,
    remove,
    other
};

/// A parsed request.
struct fake_request {
    asks_for what = asks_for::other;
    smdebug::http::method method = smdebug::http::method::get;
    std::string url = {};
    std::string key = {};
    std::map<std::string, std::string> query = {};
    std::vector<smdebug::http::header> headers = {};
    std::string body = {};
    smdebug::http::request::clock::time_point deadline = {};
    std::chrono::milliseconds connect_within{0};

    [[nodiscard]] std::string header(std::string_view name) const {
        for (const auto& [held, value] : headers) {
            if (held == name) {
                return value;
            }
        }
        return {};
    }
    [[nodiscard]] std::string parameter(const std::string& name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::string{} : found->second;
    }
};

/// What a parsed request to the bucket asks for.
[[nodiscard]] inline asks_for kind_of(const fake_request& of) {
    using smdebug::http::method;
    const bool names_upload = of.query.contains("uploadId");
    if (of.key.empty()) {
        const bool lists = of.method == method::get && of.parameter("list-type") == "2";
        const bool lists_uploads = of.method == method::get && of.query.contains("uploads");
        return lists ? asks_for::list : lists_uploads ? asks_for::list_uploads : asks_for::other;
    }
    switch (of.method) {
        case method::get:
            return asks_for::get;
        case method::head:
            return asks_for::head;
        case method::put:
            return names_upload ? asks_for::upload_part : asks_for::put;
        case method::post:
            return of.query.contains("uploads") ? asks_for::begin_upload
                   : names_upload               ? asks_for::complete_upload
                                                : asks_for::other;
        case method::remove:
            break;
    }
    return names_upload ? asks_for::abort_upload : asks_for::remove;
}

/// Parses a request.  Requests to anything but the bucket are `asks_for::other`.
[[nodiscard]] inline fake_request parse_fake_request(const smdebug::http::request& ask, const std::string& bucket) {
    using smdebug::s3::detail::percent_decoded;
    fake_request made{.method = ask.method,
                      .url = ask.url,
                      .headers = ask.headers,
                      .body = std::string{smdebug::as_text(ask.body)},
                      .deadline = ask.deadline,
                      .connect_within = ask.connect_within};
    const auto parts = smdebug::http::detail::parts_of(ask.url);
    std::string_view path = parts.path;
    bool is_bucket = parts.host.starts_with(bucket + ".");
    path.remove_prefix(1);
    if (!is_bucket && path.starts_with(bucket + "/")) {
        path.remove_prefix(bucket.size() + 1);
        is_bucket = true;
    }
    made.key = percent_decoded(path).value_or("");
    for (std::string_view rest = parts.query; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        const std::size_t equals = one.find('=');
        const std::string_view value = equals == std::string_view::npos ? "" : one.substr(equals + 1);
        made.query[percent_decoded(one.substr(0, equals)).value_or("?")] = percent_decoded(value).value_or("?");
    }
    if (is_bucket) {
        made.what = kind_of(made);
    }
    return made;
}

}  // namespace smdebug_test
