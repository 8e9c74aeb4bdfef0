#include <smdebug/s3/object/object_reader.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/signature.hpp>

#include "s3/object/object_reader_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::parts;
using namespace smdebug_test;

TEST_CASE("object_reader: objects of every number of parts, with as many requests as parts") {
    const place at;
    for (const std::size_t size : {0U, 1U, 9U, 10U, 11U, 19U, 20U, 21U, 30U, 99U, 100U, 101U, 1000U}) {
        CAPTURE(size);
        const std::string text = text_of_size(size);
        at.put("object", text);
        at.server.forget_requests();
        CHECK(at.read("object") == text);
        CHECK(at.server.count() == std::max<std::size_t>((size + 9) / 10, 1));
        CHECK(at.server.most_under_way() <= 4);
    }
    CHECK(at.server.wrong_signatures() == 0);
}

TEST_CASE("object_reader: any range of any object, whatever the size of parts") {
    std::minstd_rand random{3};
    for (const std::uint64_t part : {1U, 2U, 7U, 64U, 1000U}) {
        const place at{in_parts(part, 1 + random() % 5)};
        for (const std::size_t size : {0U, 1U, 6U, 7U, 8U, 100U}) {
            const std::string text = text_of_size(size);
            at.put("object", text);
            for (int i = 0; i < 30; ++i) {
                const byte_range where{random() % (size + 5), 1 + random() % (i % 2 == 0 ? 10 : size + 10)};
                CAPTURE(part);
                CAPTURE(size);
                CAPTURE(where.offset);
                CAPTURE(where.length);
                CHECK(at.read("object", where) == cut(text, where));
            }
            for (const byte_range where :
                 {byte_range{0, most}, {1, most}, {most, most}, {most - 1, 1}, {5, most - 5}}) {
                CHECK(at.read("object", where) == cut(text, where));
            }
        }
    }
}

TEST_CASE("object_reader: answers in any order, some of them failing") {
    fake_s3_options how;
    how.how = delivery::later;
    s3_options options = in_parts(10, 8);
    options.retry.most_attempts = 1000;
    const place at{options, how};
    const std::string text = text_of_size(2005);
    at.put("object", text);
    at.server.fail_by([](const http::request&, std::size_t number) {
        return number % 5 == 0 ? std::optional{answer(503)} : std::nullopt;
    });
    CHECK(at.read("object") == text);
    CHECK(at.server.most_under_way() <= 8);
    CHECK(at.server.most_under_way() > 1);
}

TEST_CASE("object_reader: what is not there is nothing") {
    const place at;
    at.put("object", "x");
    CHECK_FALSE(at.reader().read("objec", {0, most}).has_value());
    CHECK_FALSE(at.reader().read("object/", {0, most}).has_value());
}

TEST_CASE("object_reader: no object has an empty key, whatever the server says to such a URL") {
    for (const char* where : {"s3://bucket", "s3://bucket/run"}) {
        const place at{in_parts(10), {}, where};
        at.server.put("run/", "the folder itself");
        at.server.put("run/a", "a");
        // The bucket itself, for example a listing.
        at.server.fail_by(answer_where([](const http::request& ask) { return ask.url.ends_with("/bucket/"); },
                                       answer(200, {{"content-length", "3"}}, "xml")));
        CHECK_FALSE(at.reader().read("", {0, most}).has_value());
        CHECK(at.server.count() == 0);
        CHECK(at.read_each({"", "missing", ""}) == std::vector<std::string>(3, "nothing"));
        CHECK(at.read_ranges({{"", {0, 1}}, {"", {0, 0}}, {"missing", {0, 1}}, {"", {5, most}}}) ==
              std::vector<std::string>(4, "nothing"));
        CHECK(at.read_ranges({{"", {0, 1}}}) == std::vector<std::string>{"nothing"});
        CHECK(at.server.count() == 2);
    }
}

TEST_CASE("object_reader: answers that do not fit the request are retried, and never returned") {
    const std::string text = text_of_size(25);
    const std::vector<http::response> wrong{
        answer(206, {{"content-range", "bytes 0-8/25"}}, text.substr(0, 9)),
        answer(206, {{"content-range", "bytes 1-10/25"}}, text.substr(1, 10)),
        answer(206, {{"content-range", "bytes 0-9/25"}}, text.substr(0, 9)),
        answer(206, {{"content-range", "bytes 0-9/25"}}, text.substr(0, 11)),
        answer(206, {}, text.substr(0, 10)),
        answer(206, {{"content-range", "nonsense"}}, text.substr(0, 10)),
        answer(200, {{"content-length", "25"}}, text.substr(0, 10)),
        answer(200, {}, text),
        answer(204),
    };
    for (const http::response& damaged : wrong) {
        const place at;
        at.put("object", text);
        at.server.fail_by([&](const http::request&, std::size_t number) {
            return number < 2 ? std::optional{damaged} : std::nullopt;
        });
        CHECK(at.read("object") == text);
        CHECK(at.server.count() == 5);
        // Always: then the read fails.
        at.server.fail_by(always_answer(damaged));
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
    }
}

TEST_CASE("object_reader: servers that know no ranges, no versions, or no sizes beyond the end") {
    for (const int lacks : {0, 1, 2, 3, 4, 5, 6, 7}) {
        CAPTURE(lacks);
        fake_s3_options how;
        how.knows_ranges = lacks % 2 == 0;
        how.knows_versions = lacks / 2 % 2 == 0;
        how.tells_size_beyond = lacks / 4 == 0;
        const place at{in_parts(10), how};
        for (const std::size_t size : {0U, 1U, 10U, 11U, 35U}) {
            const std::string text = text_of_size(size);
            at.put("object", text);
            if (size == 0 && !how.knows_ranges && !how.knows_versions) {
                CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);  // it may be a fault of the server
                continue;
            }
            CHECK(at.read("object") == text);
            CHECK(at.read("object", {5, 12}) == cut(text, {5, 12}));
            CHECK(at.read("object", {size, 3}).empty());
            CHECK(at.read("object", {size + 100, 3}).empty());
        }
    }
}

TEST_CASE("object_reader: 416 without a size is believed where the object's size bears it out, and asked again else") {
    const auto beyond = smdebug_test::s3_error(416, "InvalidRange");
    const auto is_get = [](const http::request& ask) { return ask.method == http::method::get; };
    const std::string text = text_of_size(25);
    const place at{in_parts(10)};
    at.put("object", text);
    for (const std::size_t lying : {0U, 1U, 2U}) {  // index of the wrong part
        CAPTURE(lying);
        std::size_t gets = 0;
        at.server.fail_by([&](const http::request& ask, std::size_t) {
            return is_get(ask) && gets++ == lying ? std::optional{beyond} : std::nullopt;
        });
        CHECK(at.read("object") == text);
        CHECK(gets == 4);
    }
    // Always: then it is an error, which names the place.
    at.server.fail_by(answer_where([&](const http::request& ask) { return is_get(ask); }, beyond));
    for (const byte_range where : {byte_range{0, 25}, byte_range{0, 5}, byte_range{24, 5}}) {
        const unavailable failed = caught<unavailable>([&] { return at.read("object", where); });
        CHECK(failed.where() == "s3://bucket/run/object");
        CHECK(std::string_view{failed.what()}.find("416 InvalidRange") != std::string_view::npos);
    }
    // A range after the end is empty, at the cost of a request for the size.
    at.server.forget_requests();
    CHECK(at.read("object", {25, 5}).empty());
    CHECK(at.server.count() == 2);
    // The object removed meanwhile is missing.
    at.server.fail_by([&](const http::request& ask, std::size_t) {
        if (is_get(ask)) {
            at.server.erase("run/object");
        }
        return is_get(ask) ? std::optional{beyond} : std::nullopt;
    });
    CHECK_FALSE(at.reader().read("object", {0, 5}).has_value());
}

TEST_CASE("object_reader: bytes with a wrong checksum are requested again, and finally an error") {
    const std::string text = text_of_size(8);
    const auto damaged = [&](http::header checksum) {
        return answer(206, {std::move(checksum), {"content-range", "bytes 0-7/8"}}, "damaged!");
    };
    const std::string etag = "\"" + s3::detail::to_hex(s3::detail::digest_by("MD5", as_bytes(text)).value()) + "\"";
    for (const http::header& checksum :
         {http::header{"etag", etag}, http::header{"x-amz-checksum-crc32", "AAAAAA=="}}) {
        CAPTURE(checksum.name);
        const place at;
        at.put("object", text);
        at.server.fail_by([&](const http::request& ask, std::size_t number) {
            CHECK(std::find(ask.headers.begin(), ask.headers.end(), http::header{"x-amz-checksum-mode", "ENABLED"}) !=
                  ask.headers.end());
            return number == 0 ? std::optional{damaged(checksum)} : std::nullopt;
        });
        CHECK(at.read("object") == text);
        CHECK(at.server.count() == 2);
        at.server.fail_by(always_answer(damaged(checksum)));
        for (const bool alone : {true, false}) {
            const unavailable failed =
                caught<unavailable>([&] { return alone ? at.read("object") : at.read_each({"object"}).front(); });
            CHECK(failed.where() == "s3://bucket/run/object");
            CHECK(std::string_view{failed.what()}.find("\"" + checksum.name + "\"") != std::string_view::npos);
        }
        CHECK(at.server.wrong_signatures() == 0);
    }
    // If ETags are no MD5, or TLS protects the bytes: by default, except for cheap checksums.
    struct trust {
        const char* endpoint;
        s3::etag_check when;
        bool believes;
    };
    for (const trust& one : {trust{"http://s3.test:8080", s3::etag_check::never, true},
                             trust{"https://s3.test:8080", s3_options{}.verify_etags, true},
                             trust{"https://s3.test:8080", s3::etag_check::always, false}}) {
        s3_options options = in_parts(10);
        options.endpoint = one.endpoint;
        options.verify_etags = one.when;
        const place at{options};
        at.server.fail_by(always_answer(damaged({"etag", etag})));
        if (one.believes) {
            CHECK(at.read("object") == "damaged!");
        } else {
            CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
        }
        at.server.fail_by(always_answer(damaged({"x-amz-checksum-crc32", "AAAAAA=="})));
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
    }
}

TEST_CASE("object_reader: the version is that of the bytes, as a listing has it") {
    const place at;
    at.put("object", text_of_size(35));
    object_version version;
    const auto found = at.reader().read("object", whole_object, &version);
    REQUIRE(found.has_value());
    CHECK(as_text(found->view()) == text_of_size(35));
    const auto etag = s3::detail::perform_call(at.client, {.method = http::method::head, .key = "run/object"});
    CHECK("\"" + version.tag + "\"" == etag.answer.find_header("etag"));
    // Without an ETag the version is something else, but not empty.
    fake_s3_options how;
    how.knows_versions = false;
    const place without{in_parts(10), how};
    without.put("object", "x");
    version = {};
    CHECK(without.reader().read("object", whole_object, &version).has_value());
    CHECK_FALSE(version.tag.empty());
}
