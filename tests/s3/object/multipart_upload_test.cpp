#include <smdebug/s3/object/multipart_upload.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

using client_type = s3::detail::client;
using upload_type = s3::detail::multipart_upload;

struct place {
    explicit place(fake_s3_options how = {.least_part = 3}, std::size_t most_uploads = 4)
        : server(how),
          client{s3::parse_location("s3://bucket/run"), options(most_uploads), server,
                 std::make_shared<static_credentials>(*fake_s3_options{}.keys)} {}
    static s3_options options(std::size_t most_uploads) {
        s3_options made = quick_options();
        made.most_uploads = most_uploads;
        return made;
    }
    fake_s3 server;
    client_type client;
};

/// Whether a request has that method and query.
bool is_of(const http::request& ask, http::method method, const char* in_url) {
    return ask.method == method && ask.url.find(in_url) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "multipart_upload: parts are as long as was set, at least 5 MiB, and longer ones behind suffice for the largest "
    "object") {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
    CHECK(upload_type::part_size(8 * mib, 0) == 8 * mib);
    CHECK(upload_type::part_size(8 * mib, 999) == 8 * mib);
    CHECK(upload_type::part_size(0, 0) == 5 * mib);
    CHECK(upload_type::part_size(1, 1) == 5 * mib);
    CHECK(upload_type::part_size(std::numeric_limits<std::uint64_t>::max(), 0) == 5120 * mib);
    for (const std::uint64_t configured : {std::uint64_t{0}, 8 * mib, 64 * mib, 5120 * mib, 9999 * mib}) {
        std::uint64_t total = 0;
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < upload_type::most_parts; ++i) {
            const std::uint64_t size = upload_type::part_size(configured, i);
            REQUIRE(size >= before);
            REQUIRE(size <= 5120 * mib);  // the largest size allowed
            before = size;
            total += size;
        }
        CHECK(total > std::uint64_t{configured < 8 * mib ? 4U : 5U} << 40U);
    }
}

TEST_CASE("multipart_upload: nothing is to be seen before it is completed, and the parts in order after it") {
    const place at;
    const std::vector<std::string> parts{"one", "two2", "three", "4"};
    upload_type upload{at.client, "run/a b"};
    CHECK(at.server.open_uploads() == 1);
    for (const std::string& part : parts) {
        upload.send({nullptr, as_bytes(part)});
    }
    CHECK(upload.begun_parts() == 4);
    CHECK(at.server.keys().empty());
    upload.complete();
    CHECK(at.server.content("run/a b") == "onetwo2three4");
    CHECK(at.server.open_uploads() == 0);
    const auto asked = at.server.requests();
    REQUIRE(asked.size() == 6);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(asked[i + 1].what == asks_for::upload_part);
        CHECK(asked[i + 1].parameter("partNumber") == std::to_string(i + 1));
        CHECK(asked[i + 1].body == parts[i]);
    }
    CHECK(at.server.wrong_signatures() == 0);
}

TEST_CASE("multipart_upload: parts that end in any order") {
    fake_s3_options how;
    how.least_part = 1;
    how.how = delivery::later;
    const place at{how, 5};
    std::string whole;
    {
        upload_type upload{at.client, "run/a"};
        for (std::size_t i = 0; i < 50; ++i) {
            const std::string part = "part " + std::to_string(i) + ";";
            whole += part;
            upload.send(byte_buffer::take(part));
        }
        upload.complete();
    }
    CHECK(at.server.content("run/a") == whole);
    CHECK(at.server.most_under_way() == 5);
    CHECK(at.server.count(asks_for::abort_upload) == 0);
}

TEST_CASE("multipart_upload: destroyed before it is completed, it is given up, also in the middle of parts") {
    for (const delivery how_delivered : {delivery::at_once, delivery::later}) {
        fake_s3_options how;
        how.how = how_delivered;
        const place at{how};
        {
            upload_type upload{at.client, "run/a"};
            const std::string part = "bytes";
            upload.send({nullptr, as_bytes(part)});
            upload.send({nullptr, as_bytes(part)});
        }
        CHECK(at.server.count(asks_for::abort_upload) == 1);
        CHECK(at.server.open_uploads() == 0);
        CHECK(at.server.keys().empty());
    }
}

TEST_CASE("multipart_upload: a failure to abort it is ignored") {
    const place at;
    at.server.fail_by(answer_where([](const http::request& ask) { return ask.method == http::method::remove; },
                                   s3_error(403, "AccessDenied")));
    { const upload_type upload{at.client, "run/a"}; }
    CHECK(at.server.open_uploads() == 1);
}

TEST_CASE("multipart_upload: one that cannot be begun") {
    const place at;
    at.server.fail_by(always_answer(s3_error(403, "AccessDenied")));
    CHECK_THROWS_AS((upload_type{at.client, "run/a"}), access_denied);
    at.server.fail_by(always_answer(s3_error(404, "NoSuchBucket")));
    CHECK_THROWS_AS((upload_type{at.client, "run/a"}), not_found);
    at.server.fail_by(always_answer(answer(200, {}, "<html/>")));
    CHECK_THROWS_AS((upload_type{at.client, "run/a"}), unavailable);
    CHECK(at.server.count(asks_for::abort_upload) == 0);
}

TEST_CASE("multipart_upload: passing failures of each step are gone over") {
    for (const char* step : {"uploads=", "partNumber=2", "uploadId="}) {
        CAPTURE(step);
        const place at;
        int times = 0;
        at.server.fail_by([&](const http::request& ask, std::size_t) -> std::optional<http::response> {
            const bool is_it = ask.url.find(step) != std::string::npos && ask.method != http::method::remove;
            if (!is_it || times++ >= 3) {
                return std::nullopt;
            }
            return times == 1   ? answer(503)
                   : times == 2 ? no_answer(http::outcome::interrupted)
                                : answer(200, {}, "<cut");  // no ETag, no id, no result
        });
        {
            upload_type upload{at.client, "run/a"};
            const std::string part = "bytes";
            upload.send({nullptr, as_bytes(part)});
            upload.send({nullptr, as_bytes(part)});
            upload.complete();
        }
        CHECK(times > 3);
        CHECK(at.server.content("run/a") == "bytesbytes");
    }
}

TEST_CASE("multipart_upload: a part that fails is an error, and the upload is given up") {
    const place at;
    at.server.fail_by(
        answer_where([](const http::request& ask) { return is_of(ask, http::method::put, "partNumber=2"); },
                     s3_error(403, "AccessDenied")));
    const std::string part = "bytes";
    const auto write = [&] {
        upload_type upload{at.client, "run/a"};
        for (int i = 0; i < 3; ++i) {
            upload.send({nullptr, as_bytes(part)});
        }
        upload.complete();
    };
    CHECK_THROWS_AS(write(), access_denied);
    CHECK(at.server.count(asks_for::complete_upload) == 0);
    CHECK(at.server.count(asks_for::abort_upload) == 1);
    CHECK(at.server.open_uploads() == 0);
    CHECK(at.server.keys().empty());
}

TEST_CASE("multipart_upload: a 200 that holds an error is one") {
    const place at;
    int times = 0;
    const std::string error_in_body = "<?xml version=\"1.0\"?>\n   <Error><Code>InternalError</Code></Error>";
    at.server.fail_by([&](const http::request& ask, std::size_t) {
        return is_of(ask, http::method::post, "uploadId=") && times++ < 2
                   ? std::optional{answer(200, {}, error_in_body)}
                   : std::nullopt;
    });
    const std::string part = "bytes";
    {
        upload_type upload{at.client, "run/a"};
        upload.send({nullptr, as_bytes(part)});
        upload.complete();  // the third attempt succeeds
    }
    CHECK(at.server.content("run/a") == "bytes");
    times = std::numeric_limits<int>::min();
    const auto write = [&] {
        upload_type upload{at.client, "run/b"};
        upload.send({nullptr, as_bytes(part)});
        upload.complete();
    };
    const unavailable thrown = caught<unavailable>([&] { write(); });
    CHECK(std::string{thrown.what()}.find("InternalError") != std::string::npos);
    CHECK_FALSE(at.server.content("run/b").has_value());
    CHECK(at.server.open_uploads() == 0);
}

TEST_CASE("multipart_upload: completed, though the answer was lost: the object is the one that was written") {
    const place at;
    const auto completes = [](const http::request& ask) { return is_of(ask, http::method::post, "uploadId="); };
    const std::string part = "bytes";
    const auto write = [&] {
        upload_type upload{at.client, "run/a"};
        upload.send({nullptr, as_bytes(part)});
        upload.send({nullptr, as_bytes(part)});
        upload.complete();
    };
    int times = 0;
    at.server.lose([&](const http::request& ask, std::size_t) { return completes(ask) && times++ == 0; });
    CHECK_NOTHROW(write());
    CHECK(at.server.content("run/a") == "bytesbytes");
    CHECK(at.server.count(asks_for::complete_upload) == 2);
    CHECK(at.server.count(asks_for::head) == 1);
    CHECK(at.server.count(asks_for::abort_upload) == 0);
    // Now another object is there: the fate of ours is unknown.
    times = 0;
    at.server.lose([&](const http::request& ask, std::size_t) {
        if (completes(ask) && times++ == 0) {
            at.server.put("run/a", "another's");
            return true;
        }
        return false;
    });
    CHECK_THROWS_AS(write(), unavailable);
    // No object is there.
    times = 0;
    at.server.lose([&](const http::request& ask, std::size_t) {
        if (completes(ask) && times++ == 0) {
            at.server.erase("run/a");
            return true;
        }
        return false;
    });
    CHECK_THROWS_AS(write(), unavailable);
}

TEST_CASE("multipart_upload: an upload that somebody else has ended is not a missing object") {
    const place at;
    at.server.put("run/a", "older");
    at.server.fail_by(answer_where([](const http::request& ask) { return is_of(ask, http::method::post, "uploadId="); },
                                   s3_error(404, "NoSuchUpload")));
    upload_type upload{at.client, "run/a"};
    const std::string part = "bytes";
    upload.send({nullptr, as_bytes(part)});
    CHECK_THROWS_AS(upload.complete(), unavailable);
}

TEST_CASE("multipart_upload: unfinished uploads of selected keys are aborted, page by page") {
    const place at{{.most_on_page = 2, .least_part = 3}};
    const auto begin = [&](const std::string& key) {
        const s3::detail::call_result begun =
            s3::detail::perform_call(at.client, {.method = http::method::post, .key = key, .query = {{"uploads", ""}}});
        REQUIRE(begun.good);
    };
    // A killed process aborts nothing.
    for (const char* key : {"run/a b", "run/a b", "run/b", "run/c", "run/sub/a", "runner", "other/a"}) {
        begin(key);
    }
    const auto removed = [&](std::string_view prefix, std::string_view but) {
        return s3::detail::remove_uploads(at.client, prefix, [&](std::string_view key) { return key != but; });
    };
    CHECK(removed("none", "").empty());
    CHECK(at.server.open_uploads() == 7);
    CHECK(removed("", "b") == std::vector<std::string>{"a b", "c", "sub/a"});
    CHECK(at.server.open_uploads() == 3);
    CHECK(removed("b", "") == std::vector<std::string>{"b"});
    CHECK(removed("", "").empty());
    // Another client was quicker.
    begin("run/d");
    at.server.fail_by(answer_where([](const http::request& ask) { return ask.method == http::method::remove; },
                                   s3_error(404, "NoSuchUpload")));
    CHECK(removed("", "") == std::vector<std::string>{"d"});
    at.server.fail_by(always_answer(s3_error(403, "AccessDenied")));
    CHECK_THROWS_AS(static_cast<void>(removed("", "")), access_denied);
    // A server that repeats the same page ends the listing.
    at.server.fail_by(
        always_answer(answer(200, {},
                             "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>run/x"
                             "</NextKeyMarker></ListMultipartUploadsResult>")));
    CHECK(removed("", "").empty());
}
