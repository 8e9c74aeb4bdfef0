#include <smdebug/s3/object/object_reader.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/digest.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/scripted_transport.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smdebug;
using smdebug_test::answer;
using smdebug_test::asks_for;
using smdebug_test::delivery;
using smdebug_test::fake_s3;
using smdebug_test::fake_s3_options;
using smdebug_test::no_answer;
using smdebug_test::quick_options;
using smdebug_test::s3_error;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

using client_type = s3::detail::client<fake_s3, static_credentials>;

s3_options in_parts(std::uint64_t part_bytes, std::size_t most_requests = 4) {
    s3_options options = quick_options();
    options.part_bytes = part_bytes;
    options.most_requests = most_requests;
    options.merge_gap = 0;
    options.retry.most_attempts = 3;
    return options;
}

/// A server with objects below "run/", and a reader of it.
struct place {
    explicit place(const s3_options& options = in_parts(10), fake_s3_options how = {},
                   const char* where = "s3://bucket/run")
        : server(how),
          client{s3::parse_location(where), options, server, static_credentials{*fake_s3_options{}.keys}},
          reader{client} {}

    void put(const std::string& key, std::string content) const { server.put("run/" + key, std::move(content)); }
    [[nodiscard]] std::string read(std::string_view key, byte_range where = {0, most}) const {
        const auto bytes = reader.read(key, where);
        return bytes ? std::string{as_text(bytes->view())} : "nothing";
    }
    /// What read_each hands over.
    [[nodiscard]] std::vector<std::string> read_each(const std::vector<std::string>& keys) const {
        std::vector<std::string> texts;
        reader.read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes) {
            CHECK(i == texts.size());
            texts.push_back(bytes ? std::string{as_text(*bytes)} : "nothing");
        });
        return texts;
    }
    /// What read_ranges hands over.
    [[nodiscard]] std::vector<std::string> read_ranges(const std::vector<object_range>& ranges) const {
        std::vector<std::string> texts;
        reader.read_ranges(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes) {
            CHECK(i == texts.size());
            texts.push_back(bytes ? std::string{as_text(bytes->view())} : "nothing");
        });
        return texts;
    }

    fake_s3 server;
    client_type client;
    s3::detail::object_reader<client_type> reader;
};

std::string text_of_size(std::size_t size, unsigned seed = 1) {
    std::minstd_rand random{seed};
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>('a' + random() % 26);
    }
    return text;
}

std::string cut(const std::string& text, byte_range where) {
    return where.offset < text.size() ? text.substr(where.offset, std::min<std::uint64_t>(where.length, text.size()))
                                      : std::string{};
}

}  // namespace

// One object -------------------------------------------------------------------------------------------------------

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
    CHECK_FALSE(at.reader.read("objec", {0, most}).has_value());
    CHECK_FALSE(at.reader.read("object/", {0, most}).has_value());
    CHECK_FALSE(at.reader.read_versioned("object/").has_value());
}

TEST_CASE("object_reader: no object has an empty key, whatever the server says to such a URL") {
    for (const char* where : {"s3://bucket", "s3://bucket/run"}) {
        const place at{in_parts(10), {}, where};
        at.server.put("run/", "the folder itself");
        at.server.put("run/a", "a");
        // The bucket itself: a listing, say.
        at.server.fail_by([](const http::request& ask, std::size_t) {
            return ask.url.ends_with("/bucket/") ? std::optional{answer(200, {{"content-length", "3"}}, "xml")}
                                                 : std::nullopt;
        });
        CHECK_FALSE(at.reader.read("", {0, most}).has_value());
        CHECK_FALSE(at.reader.read_versioned("").has_value());
        CHECK(at.server.count() == 0);
        CHECK(at.read_each({"", "missing", ""}) == std::vector<std::string>(3, "nothing"));
        CHECK(at.read_ranges({{"", {0, 1}}, {"", {0, 0}}, {"missing", {0, 1}}, {"", {5, most}}}) ==
              std::vector<std::string>(4, "nothing"));
        CHECK(at.read_ranges({{"", {0, 1}}}) == std::vector<std::string>{"nothing"});
        CHECK(at.server.count() == 2);
    }
}

TEST_CASE("object_reader: answers that are not what was asked for are asked again, and never given out") {
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
        // Always: then there is nothing to be had.
        at.server.fail_by([&](const http::request&, std::size_t) { return std::optional{damaged}; });
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
                CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);  // it could be a mishap
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
    for (const std::size_t lying : {0U, 1U, 2U}) {  // which of the three parts
        CAPTURE(lying);
        std::size_t gets = 0;
        at.server.fail_by([&](const http::request& ask, std::size_t) {
            return is_get(ask) && gets++ == lying ? std::optional{beyond} : std::nullopt;
        });
        CHECK(at.read("object") == text);
        CHECK(gets == 4);
    }
    // Always: then it is an error, which says where.
    at.server.fail_by(
        [&](const http::request& ask, std::size_t) { return is_get(ask) ? std::optional{beyond} : std::nullopt; });
    for (const byte_range where : {byte_range{0, 25}, byte_range{0, 5}, byte_range{24, 5}}) {
        try {
            static_cast<void>(at.read("object", where));
            FAIL("a part that is there was taken for none");
        } catch (const unavailable& failed) {
            CHECK(failed.where() == "s3://bucket/run/object");
            CHECK(std::string_view{failed.what()}.find("416 InvalidRange") != std::string_view::npos);
        }
    }
    // What lies behind the end is nothing, at the cost of asking for the size.
    at.server.forget_requests();
    CHECK(at.read("object", {25, 5}).empty());
    CHECK(at.server.count() == 2);
    // The object that is gone by then is missing.
    at.server.fail_by([&](const http::request& ask, std::size_t) {
        if (is_get(ask)) {
            at.server.erase("run/object");
        }
        return is_get(ask) ? std::optional{beyond} : std::nullopt;
    });
    CHECK_FALSE(at.reader.read("object", {0, 5}).has_value());
}

TEST_CASE("object_reader: bytes whose checksum is another one are asked for again, and in the end an error") {
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
        at.server.fail_by([&](const http::request&, std::size_t) { return std::optional{damaged(checksum)}; });
        for (const bool alone : {true, false}) {
            try {
                static_cast<void>(alone ? at.read("object") : at.read_each({"object"}).front());
                FAIL("damaged bytes were believed");
            } catch (const unavailable& failed) {
                CHECK(failed.where() == "s3://bucket/run/object");
                CHECK(std::string_view{failed.what()}.find("\"" + checksum.name + "\"") != std::string_view::npos);
            }
        }
        CHECK(at.server.wrong_signatures() == 0);
    }
    // Where ETags are something else, and where TLS sees to it: by default, but for checksums that cost little.
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
        at.server.fail_by([&](const http::request&, std::size_t) { return std::optional{damaged({"etag", etag})}; });
        if (one.believes) {
            CHECK(at.read("object") == "damaged!");
        } else {
            CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
        }
        at.server.fail_by([&](const http::request&, std::size_t) {
            return std::optional{damaged({"x-amz-checksum-crc32", "AAAAAA=="})};
        });
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), unavailable);
    }
}

TEST_CASE("object_reader: the version is that of the bytes, as a listing has it") {
    const place at;
    at.put("object", text_of_size(35));
    const auto found = at.reader.read_versioned("object");
    REQUIRE(found.has_value());
    CHECK(as_text(found->bytes.view()) == text_of_size(35));
    const auto etag = s3::detail::perform_call(at.client, {.method = http::method::head, .key = "run/object"});
    CHECK("\"" + found->version + "\"" == etag.answer.find_header("etag"));
    // Without ETags it is something else, and not empty.
    fake_s3_options how;
    how.knows_versions = false;
    const place without{in_parts(10), how};
    without.put("object", "x");
    CHECK_FALSE(without.reader.read_versioned("object")->version.empty());
}

// An object that changes -------------------------------------------------------------------------------------------

TEST_CASE("object_reader: an object that is replaced between its parts is read anew, old and new are not mixed") {
    const std::string old_text = text_of_size(95, 1);
    for (const bool knows_versions : {true, false}) {
        for (const std::size_t new_size : {95U, 100U, 55U, 5U, 0U, 200U}) {
            if (!knows_versions && new_size == 95) {
                continue;  // nobody could tell
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
    try {
        static_cast<void>(at.read("object"));
        FAIL("it was read");
    } catch (const unavailable& thrown) {
        CHECK(thrown.where() == "s3://bucket/run/object");
        CHECK(std::string_view{thrown.what()}.find("replaced") != std::string_view::npos);
    }
    CHECK(at.server.count() <= 20);
}

TEST_CASE("object_reader: ranges in parts are each of one version, whenever the object is replaced") {
    // Each version is one letter, so that a text of two letters is a mixed one.
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
    try {
        at.reader.read_ranges(ranges, [&](std::size_t, const std::optional<byte_buffer>&) { ++seen; });
        FAIL("it was read");
    } catch (const unavailable& thrown) {
        CHECK(thrown.where() == "s3://bucket/run/b");
        CHECK(std::string_view{thrown.what()}.find("replaced") != std::string_view::npos);
    }
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
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), timed_out);
        fails_with(s3_error(404, "NoSuchBucket"), from);
        CHECK_THROWS_AS(static_cast<void>(at.read("object")), not_found);
    }
}

// Many objects -----------------------------------------------------------------------------------------------------

TEST_CASE(
    "object_reader: read_each hands over in order, whatever the order of answers, and nothing for what is missing") {
    for (const delivery how_delivered : {delivery::at_once, delivery::later}) {
        for (const std::size_t at_once : {0U, 1U, 2U, 5U, 100U}) {
            fake_s3_options how;
            how.how = how_delivered;
            const place at{in_parts(10, at_once), how};
            std::vector<std::string> keys;
            std::vector<std::string> texts;
            for (std::size_t i = 0; i < 60; ++i) {
                keys.push_back("object " + std::to_string(i));
                texts.push_back(i % 7 == 3 ? "nothing"
                                           : text_of_size(i % 5 == 0 ? i : i % 11, static_cast<unsigned>(i)));
                if (texts.back() != "nothing") {
                    at.put(keys.back(), texts.back());
                }
            }
            CHECK(at.read_each(keys) == texts);
            CHECK(at.server.most_under_way() <= std::max<std::size_t>(at_once, 1));
            CHECK(at.server.wrong_signatures() == 0);
        }
    }
    const place at;
    CHECK(at.read_each({}).empty());
    CHECK(at.server.count() == 0);
}

TEST_CASE("object_reader: read_each keeps as many requests under way as it may, and no more") {
    fake_s3_options how;
    how.how = delivery::later;
    const place at{in_parts(10, 6), how};
    std::vector<std::string> keys;
    for (int i = 0; i < 40; ++i) {
        keys.push_back(std::to_string(i));
        at.put(keys.back(), text_of_size(i % 4 == 0 ? 205 : 5));
    }
    const std::vector<std::string> texts = at.read_each(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        CHECK(texts[i] == text_of_size(i % 4 == 0 ? 205 : 5));
    }
    CHECK(at.server.most_under_way() == 6);
}

TEST_CASE("object_reader: an error of read_each comes at its turn: those before it are handed over") {
    for (const std::size_t broken : {0U, 3U, 19U}) {
        const place at{in_parts(10, 8)};
        std::vector<std::string> keys;
        for (int i = 0; i < 20; ++i) {
            keys.push_back(std::to_string(100 + i));
            at.put(keys.back(), keys.back());
        }
        at.server.fail_by([&](const http::request& ask, std::size_t) {
            return ask.url.ends_with(keys[broken]) ? std::optional{s3_error(403, "AccessDenied")} : std::nullopt;
        });
        std::size_t handed_over = 0;
        const auto sink = [&](std::size_t i, std::optional<byte_view> bytes) {
            CHECK(i == handed_over++);
            CHECK(as_text(bytes.value()) == keys[i]);
        };
        CHECK_THROWS_AS(at.reader.read_each(keys, sink), access_denied);
        CHECK(handed_over == broken);
    }
}

TEST_CASE("object_reader: what the sink throws comes out, and what is under way is ended") {
    fake_s3_options how;
    how.how = delivery::later;
    const place at{in_parts(10, 8), how};
    std::vector<std::string> keys;
    std::vector<object_range> ranges;
    for (int i = 0; i < 20; ++i) {
        keys.push_back(std::to_string(i));
        at.put(keys.back(), text_of_size(35));
    }
    for (const std::string& key : keys) {
        ranges.push_back({key, {0, 5}});
    }
    CHECK_THROWS_AS(at.reader.read_each(keys,
                                        [](std::size_t i, std::optional<byte_view>) {
                                            if (i == 3) {
                                                throw std::out_of_range{"the sink's"};
                                            }
                                        }),
                    std::out_of_range);
    CHECK_THROWS_AS(at.reader.read_ranges(ranges,
                                          [](std::size_t i, std::optional<byte_buffer>) {
                                              if (i == 3) {
                                                  throw std::out_of_range{"the sink's"};
                                              }
                                          }),
                    std::out_of_range);
}

TEST_CASE("object_reader: an object above 256 MiB is too large for read_each, before it is read") {
    const place at;
    const std::uint64_t total = (std::uint64_t{256} << 20U) + 1;
    at.server.fail_by([&](const http::request&, std::size_t) {
        return std::optional{
            answer(206, {{"content-range", "bytes 0-9/" + std::to_string(total)}, {"etag", "\"e\""}}, "0123456789")};
    });
    try {
        static_cast<void>(at.read_each({"large"}));
        FAIL("it was read");
    } catch (const unsupported& thrown) {
        CHECK(thrown.where() == "s3://bucket/run/large");
        CHECK(std::string_view{thrown.what()}.find(std::to_string(total)) != std::string_view::npos);
    }
    CHECK(at.server.count() == 1);
}

// Many ranges ------------------------------------------------------------------------------------------------------

TEST_CASE("object_reader: neighbours come with one request, and each byte once") {
    s3_options options = in_parts(100, 4);
    options.merge_gap = 10;
    const place at{options};
    const std::string text = text_of_size(1000);
    at.put("a", text);
    at.put("b", text);
    std::vector<object_range> ranges;
    std::vector<std::string> texts;
    for (std::uint64_t offset = 0; offset < 300; offset += 15) {  // 5 bytes between two of them
        ranges.push_back({"a", {offset, 10}});
        texts.push_back(text.substr(offset, 10));
    }
    CHECK(at.read_ranges(ranges) == texts);
    CHECK(at.server.count() == 3);  // 7 ranges go into 100 bytes
    at.server.forget_requests();
    CHECK(at.read_ranges({{"a", {0, 10}}, {"a", {30, 10}}, {"b", {30, 10}}, {"b", {40, 10}}}) ==
          std::vector<std::string>{text.substr(0, 10), text.substr(30, 10), text.substr(30, 10), text.substr(40, 10)});
    CHECK(at.server.count() == 3);
    at.server.forget_requests();
    CHECK(at.read_ranges({{"a", {0, 350}}}) == std::vector<std::string>{text.substr(0, 350)});
    CHECK(at.server.count() == 4);
    CHECK(at.read_ranges({}).empty());
}

TEST_CASE("object_reader: any ranges of any objects, in any order, with any number of requests at once") {
    std::minstd_rand random{5};
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        fake_s3_options how;
        how.how = round % 2 == 0 ? delivery::at_once : delivery::later;
        how.knows_ranges = round % 7 != 3;
        const std::size_t at_once = 1 + random() % 4;
        s3_options options = in_parts(1 + random() % 20, at_once);
        options.merge_gap = random() % 10;
        const place at{options, how};
        const std::map<std::string, std::string> objects{
            {"a", text_of_size(100, 1)}, {"b", text_of_size(17, 2)}, {"c", ""}, {"d", text_of_size(1, 3)}};
        for (const auto& [key, text] : objects) {
            at.put(key, text);
        }
        const std::vector<std::string> keys{"a", "a", "a", "b", "c", "d", "missing", ""};
        std::vector<object_range> ranges;
        std::vector<std::string> texts;
        std::size_t which = 0;
        for (std::size_t i = 0; i < random() % 30; ++i) {
            which = random() % 3 == 0 ? random() % keys.size() : which;
            const std::string& key = keys[which];
            const byte_range where{random() % 110, random() % 11 == 0 ? most : random() % 40};
            ranges.push_back({key, where});
            const auto found = objects.find(key);
            texts.push_back(found == objects.end() ? "nothing" : cut(found->second, where));
        }
        CHECK(at.read_ranges(ranges) == texts);
        CHECK(at.server.most_under_way() <= at_once);
        CHECK(at.server.wrong_signatures() == 0);
    }
}

TEST_CASE("object_reader: long ranges of objects that are missing or short end, with one request at a time, too") {
    for (const std::size_t at_once : {1U, 2U, 16U}) {
        const place at{in_parts(10, at_once)};
        at.put("short", "x");
        at.put("last", "y");
        CHECK(at.read_ranges({{"missing", {0, 10'000}}, {"short", {0, 10'000}}, {"last", {0, 1}}}) ==
              std::vector<std::string>{"nothing", "x", "y"});
        // Not each of their parts is asked for.
        CHECK(at.server.count() <= 2 * at_once + 1);
        CHECK(at.read_ranges({{"missing", {0, most}}, {"short", {0, most}}, {"last", {0, most}}}) ==
              std::vector<std::string>{"nothing", "x", "y"});
    }
}

TEST_CASE("object_reader: an error of read_ranges comes at its turn: those before it are handed over") {
    for (const delivery how_delivered : {delivery::at_once, delivery::later}) {
        for (const std::size_t broken : {0U, 3U, 19U}) {
            fake_s3_options how;
            how.how = how_delivered;
            const place at{in_parts(10, 8), how};
            std::vector<std::string> keys;
            std::vector<object_range> ranges;
            for (int i = 0; i < 20; ++i) {
                keys.push_back(std::to_string(100 + i));
                at.put(keys.back(), text_of_size(35));
            }
            for (const std::string& key : keys) {
                ranges.push_back({key, {2, 25}});
            }
            at.server.fail_by([&](const http::request& ask, std::size_t) {
                return ask.url.ends_with(keys[broken]) ? std::optional{s3_error(403, "AccessDenied")} : std::nullopt;
            });
            std::size_t handed_over = 0;
            const auto sink = [&](std::size_t i, std::optional<byte_buffer> bytes) {
                CHECK(i == handed_over++);
                CHECK(as_text(bytes.value().view()) == cut(text_of_size(35), {2, 25}));
            };
            CHECK_THROWS_AS(at.reader.read_ranges(ranges, sink), access_denied);
            CHECK(handed_over == broken);
        }
    }
}
