// Answers, requests as they are understood, and the logic of a small S3 server: it holds objects and uploads in memory, and
// accepts only signed requests.  One thread at a time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include "support/standard.hpp"

#include <charconv>

namespace smdebug_test {

/// An answer with a body of text.
[[nodiscard]] inline smdebug::http::response answer(int status, std::vector<smdebug::http::header> headers = {},
                                                    std::string body = {}) {
    smdebug::http::response made;
    made.status = status;
    made.headers = std::move(headers);
    made.body = smdebug::byte_buffer::take(std::move(body));
    return made;
}

/// A failure, with a reason.
[[nodiscard]] inline smdebug::http::response no_answer(smdebug::http::outcome why, std::string words = "scripted") {
    smdebug::http::response made;
    made.outcome = why;
    made.failure = std::move(words);
    return made;
}

/// An error as an S3 server writes it.
[[nodiscard]] inline smdebug::http::response s3_error(int status, const std::string& code,
                                                      const std::string& message = "scripted") {
    return answer(status, {{"content-type", "application/xml"}},
                  R"(<?xml version="1.0" encoding="UTF-8"?><Error><Code>)" + code + "</Code><Message>" + message +
                      "</Message><RequestId>tx000001</RequestId></Error>");
}

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

/// A request as any server gets it.
[[nodiscard]] inline fake_request plain_request(const smdebug::http::request& ask) {
    return {.method = ask.method,
            .url = ask.url,
            .headers = ask.headers,
            .body = std::string{smdebug::as_text(ask.body)},
            .deadline = ask.deadline,
            .connect_within = ask.connect_within};
}

/// Parses a request.  Requests to anything but the bucket are `asks_for::other`.
[[nodiscard]] inline fake_request parse_fake_request(const smdebug::http::request& ask, const std::string& bucket) {
    using smdebug::s3::detail::percent_decoded;
    fake_request made = plain_request(ask);
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

/// When answers arrive: within start(); from another thread, in random order; or by deliver().
enum class delivery { at_once, later, by_hand };

/// How the server is set up.
struct fake_s3_options {
    std::string bucket = "bucket";
    std::string region = "us-east-1";
    /// The keys that requests must be signed with; none: requests need no signature.
    std::optional<smdebug::s3::access_keys> keys = smdebug::s3::access_keys{"FAKEKEYID", "fake/secret", "", {}};
    /// How far the server's clock is from this machine's.
    std::chrono::system_clock::duration clock_offset{0};
    std::size_t most_on_page = 1000;
    std::uint64_t least_part = std::uint64_t{5} << 20U;
    delivery how = delivery::at_once;
    bool knows_versions = true;     ///< else: no ETags, and If-Match is ignored
    bool knows_ranges = true;       ///< else: every GET returns the whole object
    bool tells_size_beyond = true;  ///< 416 with Content-Range
};

/// The server.  A request is parsed first, then executed.
class fake_s3_server {
public:
    fake_s3_options how;
    std::size_t wrong_signatures = 0;

    explicit fake_s3_server(fake_s3_options set_up) : how(std::move(set_up)) {}

    // --- what it holds -------------------------------------------------------------------------------------------

    void put(const std::string& key, std::string content) { store(key, std::move(content), 0); }
    void erase(const std::string& key) { objects_.erase(key); }
    [[nodiscard]] std::optional<std::string> content(const std::string& key) const {
        const auto found = objects_.find(key);
        return found == objects_.end() ? std::nullopt : std::optional{*found->second.bytes};
    }
    [[nodiscard]] std::vector<std::string> keys() const {
        std::vector<std::string> all;
        for (const auto& held : objects_) {
            all.push_back(held.first);
        }
        return all;
    }
    [[nodiscard]] std::size_t open_uploads() const { return uploads_.size(); }

    // --- what it says --------------------------------------------------------------------------------------------

    [[nodiscard]] fake_request read(const smdebug::http::request& ask) const {
        return parse_fake_request(ask, how.bucket);
    }

    [[nodiscard]] smdebug::http::response handle(const fake_request& of, const smdebug::http::request& ask) {
        response made = refusal(of, ask).value_or(response{});
        if (made.status == 0) {
            made = done(of);
        }
        made.headers.push_back({"date", date_text(now())});
        made.headers.push_back({"x-amz-request-id", "tx" + std::to_string(++answered_)});
        if (of.method == smdebug::http::method::head) {
            made.body = {};
        } else if (!made.find_header("content-length")) {
            made.headers.push_back({"content-length", std::to_string(made.body.size())});
        }
        return made;
    }

private:
    using response = smdebug::http::response;
    using time_point = std::chrono::system_clock::time_point;

    struct object {
        std::shared_ptr<const std::string> bytes;
        std::string etag;
        time_point modified;
    };
    struct upload {
        std::string key;
        std::map<int, std::string> parts;
    };

    // --- the signature ---------------------------------------------------------------------------------------

    [[nodiscard]] time_point now() const { return std::chrono::system_clock::now() + how.clock_offset; }

    /// Nothing where the request may be done.
    [[nodiscard]] std::optional<response> refusal(const fake_request& of, const smdebug::http::request& ask) {
        const std::string signature = of.header("authorization");
        if (!how.keys) {
            return signature.empty() ? std::nullopt : std::optional{error(400, "InvalidRequest", "not anonymous")};
        }
        if (signature.empty()) {
            return error(403, "AccessDenied", "no signature");
        }
        const std::string date = of.header("x-amz-date");
        const auto time = date.size() == 16 ? smdebug::s3::detail::parse_iso_time(
                                                  date.substr(0, 4) + "-" + date.substr(4, 2) + "-" +
                                                  date.substr(6, 5) + ":" + date.substr(11, 2) + ":" + date.substr(13))
                                            : std::nullopt;
        const std::string begin = "AWS4-HMAC-SHA256 Credential=";
        const std::string_view credential =
            std::string_view{signature}.substr(0, std::min(signature.find(','), signature.size()));
        std::vector<std::string> pieces{""};  // id, day, region, service, "aws4_request"
        for (const char c : credential.substr(std::min(begin.size(), credential.size()))) {
            if (c == '/') {
                pieces.emplace_back();
            } else {
                pieces.back() += c;
            }
        }
        if (!signature.starts_with(begin) || !time || pieces.size() != 5) {
            ++wrong_signatures;
            return error(400, "AuthorizationHeaderMalformed", "no such signature");
        }
        if (pieces[0] != how.keys->id) {
            return error(403, "InvalidAccessKeyId", "unknown key",
                         "<AWSAccessKeyId>" + pieces[0] + "</AWSAccessKeyId>");
        }
        smdebug::http::request again = ask;
        smdebug::s3::detail::signer{}.sign(again, of.header("x-amz-content-sha256"),
                                           {how.keys->id, how.keys->secret, of.header("x-amz-security-token"), {}},
                                           {.region = pieces[2], .service = "s3"}, *time);
        std::sort(again.headers.begin(), again.headers.end(), by_name);
        std::vector<smdebug::http::header> given = ask.headers;
        std::sort(given.begin(), given.end(), by_name);
        if (given != again.headers) {
            ++wrong_signatures;
            return error(403, "SignatureDoesNotMatch", "the signature is another one",
                         "<SignatureProvided>" + signature + "</SignatureProvided>");
        }
        if (std::chrono::abs(*time - now()) > std::chrono::minutes{15}) {
            return error(403, "RequestTimeTooSkewed", "the clocks differ");
        }
        if (of.header("x-amz-security-token") != how.keys->token) {
            return error(400, "ExpiredToken", "the token has expired");
        }
        if (pieces[2] != how.region) {
            return error(400, "AuthorizationHeaderMalformed", "the region is wrong",
                         "<Region>" + how.region + "</Region>");
        }
        if (of.header("x-amz-content-sha256") != smdebug::s3::detail::to_hex(smdebug::s3::detail::sha256(ask.body))) {
            ++wrong_signatures;
            return error(400, "XAmzContentSHA256Mismatch", "the body is another one");
        }
        return std::nullopt;
    }
    [[nodiscard]] static bool by_name(const smdebug::http::header& one, const smdebug::http::header& other) {
        return one.name < other.name;
    }

    // --- doing it --------------------------------------------------------------------------------------------

    [[nodiscard]] response done(const fake_request& of) {
        switch (of.what) {
            case asks_for::get:
            case asks_for::head:
                return get(of);
            case asks_for::list:
                return list(of);
            case asks_for::put:
                store(of.key, of.body, 0);
                return answer(200, {{"etag", objects_.at(of.key).etag}});
            case asks_for::begin_upload: {
                // Such that it has to be encoded, in XML and in a query.
                const std::string id = "up+load/=&" + std::to_string(++last_upload_);
                uploads_[id].key = of.key;
                return xml(200, "<InitiateMultipartUploadResult><UploadId>" + escaped(id) +
                                    "</UploadId></InitiateMultipartUploadResult>");
            }
            case asks_for::upload_part:
            case asks_for::complete_upload:
            case asks_for::abort_upload:
                return go_on(of);
            case asks_for::list_uploads:
                return list_uploads(of);
            case asks_for::remove:
                objects_.erase(of.key);
                return answer(204);
            case asks_for::other:
                break;
        }
        return of.url.find("/" + how.bucket + "/") == std::string::npos
                   ? error(404, "NoSuchBucket", "there is no such bucket")
                   : error(405, "MethodNotAllowed", "this server does not know such a request");
    }

    [[nodiscard]] response get(const fake_request& of) const {
        const auto found = objects_.find(of.key);
        if (found == objects_.end()) {
            return error(404, "NoSuchKey", "there is no such key");
        }
        const auto& [bytes, etag, modified] = found->second;
        if (how.knows_versions && !of.header("if-match").empty() && of.header("if-match") != etag) {
            return error(412, "PreconditionFailed", "it has another version");
        }
        response made = answer(200, {{"last-modified", date_text(modified)}});
        if (how.knows_versions) {
            made.headers.push_back({"etag", etag});
        }
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        const std::string range = of.header("range");
        if (!how.knows_ranges || range.empty() || of.method == smdebug::http::method::head) {
            made.headers.push_back({"content-length", std::to_string(bytes->size())});
            made.body = whole(bytes);
            return made;
        }
        // Only "bytes=first-last" is allowed.
        const char* const end = range.data() + range.size();
        const auto begun = std::from_chars(range.data() + std::min<std::size_t>(6, range.size()), end, first);
        const bool has_dash = begun.ptr != end && *begun.ptr == '-';
        if (!range.starts_with("bytes=") || !has_dash || std::from_chars(begun.ptr + 1, end, last).ptr != end ||
            last < first) {
            return error(400, "InvalidArgument", "an unexpected form of range");
        }
        if (first >= bytes->size()) {
            response beyond = error(416, "InvalidRange", "it ends before");
            if (how.tells_size_beyond) {
                beyond.headers.push_back({"content-range", "bytes */" + std::to_string(bytes->size())});
            }
            return beyond;
        }
        last = std::min<std::uint64_t>(last, bytes->size() - 1);
        made.status = 206;
        made.headers.push_back({"content-range", "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
                                                     std::to_string(bytes->size())});
        made.body = whole(bytes).slice({first, last - first + 1});
        return made;
    }

    [[nodiscard]] response list(const fake_request& of) const {
        const std::string prefix = of.parameter("prefix");
        std::string after = of.parameter("start-after");
        if (const std::string token = of.parameter("continuation-token"); !token.empty()) {
            if (!token.starts_with("t+/=&")) {
                return error(400, "InvalidArgument", "no such continuation token");
            }
            after = token.substr(5);
        }
        const std::string wanted = of.parameter("max-keys");
        const std::size_t most = std::min(how.most_on_page, wanted.empty() ? how.most_on_page : std::stoul(wanted));
        const bool encodes = of.parameter("encoding-type") == "url";
        std::string page = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult>";
        page += encodes ? "<EncodingType>url</EncodingType>" : "";
        std::size_t count = 0;
        std::string last;
        bool goes_on = false;
        for (auto at = objects_.upper_bound(after); at != objects_.end(); ++at) {
            const auto& [key, held] = *at;
            if (!key.starts_with(prefix)) {
                continue;
            }
            if (count == most) {
                goes_on = most != 0;
                break;
            }
            ++count;
            last = key;
            page += "<Contents><Key>" + escaped(encodes ? smdebug::s3::detail::percent_encoded(key, true) : key) +
                    "</Key><Size>" + std::to_string(held.bytes->size()) + "</Size><ETag>" + escaped(held.etag) +
                    "</ETag></Contents>";
        }
        page += std::string{"<IsTruncated>"} + (goes_on ? "true" : "false") + "</IsTruncated>";
        page += goes_on ? "<NextContinuationToken>" + escaped("t+/=&" + last) + "</NextContinuationToken>" : "";
        return xml(200, page + "</ListBucketResult>");
    }

    // By key, then by id.
    [[nodiscard]] response list_uploads(const fake_request& of) const {
        std::map<std::pair<std::string, std::string>, bool> sorted;
        for (const auto& [id, held] : uploads_) {
            const std::pair place{held.key, id};
            if (held.key.starts_with(of.parameter("prefix")) &&
                place > std::pair{of.parameter("key-marker"), of.parameter("upload-id-marker")}) {
                sorted[place] = true;
            }
        }
        const bool encodes = of.parameter("encoding-type") == "url";
        std::string page = "<ListMultipartUploadsResult>";
        page += encodes ? "<EncodingType>url</EncodingType>" : "";
        std::size_t count = 0;
        for (auto at = sorted.begin(); at != sorted.end() && count < how.most_on_page; ++at, ++count) {
            const std::string& plain = at->first.first;
            const std::string key = escaped(encodes ? smdebug::s3::detail::percent_encoded(plain, true) : plain);
            page += "<Upload><Key>" + key + "</Key><UploadId>" + escaped(at->first.second) + "</UploadId></Upload>";
            if (count + 1 == how.most_on_page) {
                page += "<NextKeyMarker>" + key + "</NextKeyMarker><NextUploadIdMarker>" + escaped(at->first.second) +
                        "</NextUploadIdMarker>";
            }
        }
        page += std::string{"<IsTruncated>"} + (count < sorted.size() ? "true" : "false") + "</IsTruncated>";
        return xml(200, page + "</ListMultipartUploadsResult>");
    }

    [[nodiscard]] response go_on(const fake_request& of) {
        const auto found = uploads_.find(of.parameter("uploadId"));
        if (found == uploads_.end() || found->second.key != of.key) {
            return error(404, "NoSuchUpload", "there is no such upload");
        }
        if (of.what == asks_for::abort_upload) {
            uploads_.erase(found);
            return answer(204);
        }
        if (of.what == asks_for::upload_part) {
            const int number = std::stoi(of.parameter("partNumber"));
            if (number < 1 || number > 10'000) {
                return error(400, "InvalidArgument", "a part number of 1 to 10000 is wanted");
            }
            found->second.parts[number] = of.body;
            return answer(200, {{"etag", etag_of(of.body)}});
        }
        return complete(found, of);
    }

    [[nodiscard]] response complete(std::map<std::string, upload>::iterator of_upload, const fake_request& of) {
        std::string bytes;
        std::string expected = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
        std::size_t left = of_upload->second.parts.size();
        for (const auto& [number, part] : of_upload->second.parts) {
            if (--left != 0 && part.size() < how.least_part) {
                return error(400, "EntityTooSmall", "a part is too small");
            }
            expected += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + escaped(etag_of(part)) +
                        "</ETag></Part>";
            bytes += part;
        }
        if (of_upload->second.parts.empty() || of.body != expected + "</CompleteMultipartUpload>") {
            return error(400, "InvalidPart", "these are not the parts");
        }
        store(of.key, std::move(bytes), of_upload->second.parts.size());
        uploads_.erase(of_upload);
        return xml(200, "<CompleteMultipartUploadResult><ETag>" + escaped(objects_.at(of.key).etag) +
                            "</ETag></CompleteMultipartUploadResult>");
    }

    void store(const std::string& key, std::string content, std::size_t parts) {
        object made{nullptr, etag_of(content), now()};
        if (parts != 0) {
            made.etag.insert(made.etag.size() - 1, "-" + std::to_string(parts));
        }
        made.bytes = std::make_shared<const std::string>(std::move(content));
        objects_[key] = std::move(made);
    }

    // --- words -----------------------------------------------------------------------------------------------

    [[nodiscard]] static std::string etag_of(std::string_view bytes) {
        return "\"" +
               smdebug::s3::detail::to_hex(smdebug::s3::detail::digest_by("MD5", smdebug::as_bytes(bytes)).value()) +
               "\"";
    }
    [[nodiscard]] static smdebug::byte_buffer whole(const std::shared_ptr<const std::string>& bytes) {
        return {bytes, smdebug::as_bytes(*bytes)};
    }
    [[nodiscard]] static response xml(int status, std::string body) {
        return answer(status, {{"content-type", "application/xml"}}, std::move(body));
    }
    [[nodiscard]] static response error(int status, const std::string& code, const std::string& words,
                                        const std::string& more = {}) {
        return xml(status, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code><Message>" +
                               words + "</Message>" + more + "</Error>");
    }
    [[nodiscard]] static std::string escaped(std::string_view text) {
        std::string out;
        for (const char c : text) {
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string{c};
        }
        return out;
    }
    [[nodiscard]] static std::string date_text(time_point when) {
        static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        const auto day = std::chrono::floor<std::chrono::days>(when);
        const std::chrono::year_month_day date{day};
        const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(when - day)};
        const auto two = [](long number) { return (number < 10 ? "0" : "") + std::to_string(number); };
        return std::string{days.at(std::chrono::weekday{day}.c_encoding())} + ", " +
               two(static_cast<long>(static_cast<unsigned>(date.day()))) + " " +
               months.at(static_cast<unsigned>(date.month()) - 1) + " " +
               std::to_string(static_cast<int>(date.year())) + " " + two(time.hours().count()) + ":" +
               two(time.minutes().count()) + ":" + two(time.seconds().count()) + " GMT";
    }

    std::map<std::string, object> objects_;
    std::map<std::string, upload> uploads_;
    std::size_t last_upload_ = 0;
    std::size_t answered_ = 0;
};

}  // namespace smdebug_test
