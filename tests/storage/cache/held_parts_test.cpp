#include <smdebug/storage/cache/held_parts.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

byte_buffer bytes_of(const std::string& text) { return byte_buffer::take(text); }

std::string found_in(const held_parts& table, const std::string& key, byte_range where) {
    const std::optional<byte_buffer> part = table.find(key, where);
    return part ? std::string{as_text(part->view())} : "nothing";
}

}  // namespace

TEST_CASE("held_parts: only ranges inside a present part are returned") {
    held_parts table;
    const auto [part, fresh] = table.promise("a", {10, 6});
    CHECK(fresh);
    CHECK(table.covers("a", {10, 6}));
    CHECK_FALSE(table.covers("a", {9, 2}));
    CHECK_FALSE(table.covers("a", {10, 7}));
    CHECK_FALSE(table.covers("b", {10, 6}));
    table.put(part, bytes_of("012345"));
    CHECK(found_in(table, "a", {10, 6}) == "012345");
    CHECK(found_in(table, "a", {12, 2}) == "23");
    CHECK(found_in(table, "a", {15, 2}) == "nothing");
    CHECK(found_in(table, "a", {9, 2}) == "nothing");
    CHECK(found_in(table, "a", {12, 0}) == "nothing");
    CHECK(found_in(table, "a", {12, UINT64_MAX}) == "nothing");
    CHECK(found_in(table, "b", {10, 6}) == "nothing");
    table.release(part);
    CHECK(found_in(table, "a", {12, 2}) == "nothing");
}

TEST_CASE("held_parts: a whole object is cut at its end, and behind its end nothing is known") {
    held_parts table;
    const auto whole = table.promise("a", whole_object).what;
    CHECK(table.covers("a", {1000, 5}));
    table.put(whole, bytes_of("012345"));
    CHECK(found_in(table, "a", whole_object) == "012345");
    CHECK(found_in(table, "a", {4, 100}) == "45");
    CHECK(found_in(table, "a", {6, 1}) == "nothing");
    table.forget("a");
    CHECK(found_in(table, "a", {4, 100}) == "nothing");
    table.release(whole);
}

TEST_CASE("held_parts: a part of the requested length may not be the whole object") {
    for (const std::uint64_t asked : {6U, 7U}) {
        held_parts table;
        const auto part = table.promise("a", {0, asked}).what;
        CHECK(table.covers("a", whole_object));
        table.put(part, bytes_of("012345"));
        CHECK(found_in(table, "a", whole_object) == (asked == 7 ? "012345" : "nothing"));
        CHECK(found_in(table, "a", {4, 2}) == "45");
        CHECK(found_in(table, "a", {4, 100}) == (asked == 7 ? "45" : "nothing"));
        table.release(part);
    }
}

TEST_CASE("held_parts: two holders share one part until the last releases it") {
    held_parts table;
    const auto one = table.promise("a", {0, 4});
    const auto other = table.promise("a", {0, 4});
    CHECK(one.fresh);
    CHECK_FALSE(other.fresh);
    table.put(one.what, bytes_of("0123"));
    table.release(one.what);
    CHECK(table.is_held(other.what));
    CHECK(found_in(table, "a", {0, 4}) == "0123");
    table.release(other.what);
    CHECK_FALSE(table.is_held(other.what));
    CHECK(table.promise("a", {0, 4}).fresh);
}

TEST_CASE("held_parts: a reader waits for a part on its way, and reads it itself if the fetch fails") {
    for (const bool comes : {true, false}) {
        held_parts table;
        const auto part = table.promise("a", {0, 4}).what;
        std::string seen;
        std::thread reader{[&] { seen = found_in(table, "a", {1, 2}); }};
        table.put(part, comes ? std::optional{bytes_of("0123")} : std::nullopt);
        reader.join();
        CHECK(seen == (comes ? "12" : "nothing"));
        CHECK(table.covers("a", {1, 2}) == comes);
        table.release(part);
    }
}

TEST_CASE("held_parts: parts of two versions are never returned, whatever was fetched in between") {
    held_parts table;
    const auto first = table.promise("a", {0, 4}).what;
    const auto failed = table.promise("a", {4, 4}).what;
    const auto last = table.promise("a", {8, 4}).what;
    const auto other = table.promise("b", {0, 4}).what;
    table.put(first, bytes_of("1111"), {.tag = "v1"});
    table.put(other, bytes_of("bbbb"), {.tag = "w"});
    table.put(failed, std::nullopt);
    CHECK(found_in(table, "a", {0, 4}) == "1111");
    table.put(last, bytes_of("2222"), {.tag = "v2"});
    CHECK(found_in(table, "a", {0, 4}) == "nothing");
    CHECK(found_in(table, "a", {8, 4}) == "nothing");
    CHECK(found_in(table, "b", {0, 4}) == "bbbb");
    const auto again = table.promise("a", {0, 4});
    CHECK(again.fresh);
    table.put(again.what, bytes_of("2222"), {.tag = "v2"});
    CHECK(found_in(table, "a", {0, 4}) == "2222");
    for (const auto& each : {first, failed, last, other, again.what}) {
        table.release(each);
    }
}
