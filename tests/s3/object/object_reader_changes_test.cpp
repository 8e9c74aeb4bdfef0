// Objects that change while they are read, and requests that fail.
#include <smdebug/s3/object/object_reader.hpp>

#include <smdebug/core/error.hpp>

#include "s3/object/object_reader_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

using namespace smdebug;
using namespace smdebug_test::parts;
using namespace smdebug_test;

TEST_CASE("object_reader: an object that is replaced between its parts is read anew, old and new are not mixed") {
    const std::string old_text = text_of_size(95, 1);
    for (const bool knows_versions : {true, false}) {
        for (const std::size_t new_size : {95U, 100U, 55U, 5U, 0U, 200U}) {
            if (!knows_versions && new_size == 95) {
                continue;  // undetectable
            }
            for (std::size_t when = 1; when < 10; ++when) {
                CAPTURE(when);
                CAPTURE(new_size);
                const std::string new_text = text_of_size(new_size, 2);
                fake_s3_options how;
                how.knows_versions = knows_versions;
                const place at{in_parts(10, 3), how};
                at.put("object", old_text);
                at.server.fail_by([&](const http::request&, std::size_t number) {
                    if (number == when) {
                        at.put("object", new_text);
                    }
                    return std::nullopt;
                });
                CHECK(at.read("object") == new_text);
                CHECK(at.read("object", {50, 20}) == cut(new_text, {50, 20}));
            }
        }
    }
}

TEST_CASE("object_reader: a server that does not look at If-Match mixes nothing either") {
    const std::string new_text = text_of_size(95, 2);
    const place blind{in_parts(10, 3)};
    blind.put("object", text_of_size(95, 1));
    blind.server.fail_by([&](const http::request& ask, std::size_t number) -> std::optional<http::response> {
        if (number == 4) {
            blind.put("object", new_text);
        }
        const http::response headers{.headers = ask.headers};
        const auto first = std::stoul(std::string{headers.find_header("range")->substr(6)});
        const std::string now = *blind.server.content("run/object");
        const std::string body = now.substr(first, 10);
        return answer(206,
                      {{"etag", now == new_text ? "\"new\"" : "\"old\""},
                       {"content-range",
                        "bytes " + std::to_string(first) + "-" + std::to_string(first + body.size() - 1) + "/95"}},
                      body);
    });
    CHECK(blind.read("object") == new_text);
}

TEST_CASE("object_reader: an object that is replaced again and again is unavailable, and it is given up") {
    const place at{in_parts(10, 2)};
    at.put("object", text_of_size(95));
    at.server.fail_by([&](const http::request&, std::size_t number) {
        at.put("object", text_of_size(95, static_cast<unsigned>(number + 10)));
        return std::nullopt;
    });
    const unavailable thrown = caught<unavailable>([&] { return at.read("object"); });
    CHECK(thrown.where() == "s3://bucket/run/object");
    CHECK(std::string_view{thrown.what()}.find("replaced") != std::string_view::npos);
    CHECK(at.server.count() <= 20);
}

TEST_CASE("object_reader: ranges in parts are each of one version, whenever the object is replaced") {
    // Each version consists of one letter, so a text with two letters is mixed.
    const std::vector<object_range> ranges{
        {"a", {0, 35}}, {"a", {40, 30}}, {"b", {0, 25}}, {"a", {5, 90}}, {"a", {90, 50}}};
    for (const std::size_t new_size : {100U, 95U, 41U, 7U, 0U, 200U}) {
        for (const delivery how : {delivery::at_once, delivery::later}) {
            for (std::size_t when = 0; when < 20; ++when) {
                CAPTURE(new_size);
                CAPTURE(when);
                const place at{in_parts(10, 4), {.how = how}};
                const std::string old_text(100, 'o');
                const std::string new_text(new_size, 'n');
                at.put("a", old_text);
                at.put("b", std::string(25, 'b'));
                at.server.replace_by([&](const std::string& key, std::size_t number) {
                    return key == "run/a" && number == when ? std::optional{new_text} : std::nullopt;
                });
                const std::vector<std::string> texts = at.read_ranges(ranges);
                REQUIRE(texts.size() == ranges.size());
                for (std::size_t i = 0; i < texts.size(); ++i) {
                    const bool is_old = texts[i] == cut(old_text, ranges[i].where);
                    const bool is_new = texts[i] == cut(new_text, ranges[i].where);
                    CHECK((i == 2 ? texts[i] == std::string(25, 'b') : is_old || is_new));
                }
            }
        }
    }
}

TEST_CASE("object_reader: a range that is replaced before every request is unavailable, after those before it") {
    const place at{in_parts(10, 4)};
    at.put("a", std::string(10, 'a'));
    at.put("b", std::string(100, 'b'));
    at.server.replace_by([](const std::string& key, std::size_t number) {
        return key == "run/b" ? std::optional{std::string(100, static_cast<char>('c' + number % 20))} : std::nullopt;
    });
    const std::vector<object_range> ranges{{"a", {0, 10}}, {"b", {0, 100}}, {"a", {0, 5}}};
    std::size_t seen = 0;
    const unavailable thrown = caught<unavailable>([&] {
        at.reader().read_ranges(ranges,
                                [&](std::size_t, const std::optional<byte_buffer>&, const object_version&) { ++seen; });
    });
    CHECK(thrown.where() == "s3://bucket/run/b");
    CHECK(std::string_view{thrown.what()}.find("replaced") != std::string_view::npos);
    CHECK(seen == 1);
    CHECK(at.server.count() <= 60);
}

TEST_CASE("object_reader: an object that goes while it is read is gone") {
    const place at{in_parts(10, 2)};
    for (std::size_t when = 1; when < 10; ++when) {
        at.put("object", text_of_size(95));
        at.server.forget_requests();
        at.server.fail_by([&](const http::request&, std::size_t number) {
            if (number == when) {
                at.server.erase("run/object");
            }
            return std::nullopt;
        });
        CHECK(at.read("object") == "nothing");
    }
}

TEST_CASE("object_reader: failures have the right error") {
    const place at{in_parts(10, 2)};
    at.put("object", text_of_size(95));
    const auto fails_with = [&](http::response how, std::size_t from) {
        at.server.forget_requests();
        at.server.fail_by([how = std::move(how), from](const http::request&, std::size_t number) {
            return number >= from ? std::optional{how} : std::nullopt;
        });
    };
    for (const std::size_t from : {0U, 1U, 5U}) {
        fails_with(s3_error(403, "AccessDenied"), from);
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), access_denied);
        fails_with(s3_error(503, "SlowDown"), from);
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
        fails_with(no_answer(http::outcome::timed_out), from);
        CHECK(thrown_code([&] { static_cast<void>(at.read("object")); }) == error_code::timed_out);
        fails_with(s3_error(404, "NoSuchBucket"), from);
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), not_found);
    }
}
