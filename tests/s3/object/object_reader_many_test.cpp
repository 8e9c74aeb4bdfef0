// Many objects, or many ranges, with one call.
#include <smdebug/s3/object/object_reader.hpp>

#include <smdebug/core/error.hpp>

#include "s3/object/object_reader_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::parts;
using namespace smdebug_test;

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
        at.server.fail_by(answer_where([&](const http::request& ask) { return ask.url.ends_with(keys[broken]); },
                                       s3_error(403, "AccessDenied")));
        std::size_t handed_over = 0;
        const auto sink = [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            CHECK(i == handed_over++);
            CHECK(as_text(bytes.value()) == keys[i]);
        };
        CHECK_THROWS_AS(at.reader().read_each(keys, sink), access_denied);
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
    CHECK_THROWS_AS(at.reader().read_each(keys,
                                          [](std::size_t i, std::optional<byte_view>, const object_version&) {
                                              if (i == 3) {
                                                  throw std::out_of_range{"the sink's"};
                                              }
                                          }),
                    std::out_of_range);
    CHECK_THROWS_AS(at.reader().read_ranges(ranges,
                                            [](std::size_t i, std::optional<byte_buffer>, const object_version&) {
                                                if (i == 3) {
                                                    throw std::out_of_range{"the sink's"};
                                                }
                                            }),
                    std::out_of_range);
}

TEST_CASE("object_reader: an object above 256 MiB is too large for read_each, before it is read") {
    const place at;
    const std::uint64_t total = (std::uint64_t{256} << 20U) + 1;
    at.server.fail_by(always_answer(
        answer(206, {{"content-range", "bytes 0-9/" + std::to_string(total)}, {"etag", "\"e\""}}, "0123456789")));
    const unsupported thrown = caught<unsupported>([&] { return at.read_each({"large"}); });
    CHECK(thrown.where() == "s3://bucket/run/large");
    CHECK(std::string_view{thrown.what()}.find(std::to_string(total)) != std::string_view::npos);
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
    for (std::uint64_t offset = 0; offset < 300; offset += 15) {  // with gaps of 5 bytes
        ranges.push_back({"a", {offset, 10}});
        texts.push_back(text.substr(offset, 10));
    }
    CHECK(at.read_ranges(ranges) == texts);
    CHECK(at.server.count() == 3);  // 7 ranges fit into 100 bytes
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
        // Not each of their parts is requested.
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
            at.server.fail_by(answer_where([&](const http::request& ask) { return ask.url.ends_with(keys[broken]); },
                                           s3_error(403, "AccessDenied")));
            std::size_t handed_over = 0;
            const auto sink = [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
                CHECK(i == handed_over++);
                CHECK(as_text(bytes.value().view()) == cut(text_of_size(35), {2, 25}));
            };
            CHECK_THROWS_AS(at.reader().read_ranges(ranges, sink), access_denied);
            CHECK(handed_over == broken);
        }
    }
}
