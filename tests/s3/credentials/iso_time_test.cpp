#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;
using s3::detail::parse_iso_time;
using time_point = std::chrono::system_clock::time_point;

namespace {

const time_point ten = time_point{1'795'255'200s};  // 2026-11-21T10:00:00Z

}  // namespace

TEST_CASE("iso_time: the form that services write") {
    CHECK(parse_iso_time("1970-01-01T00:00:00Z") == time_point{});
    CHECK(parse_iso_time("2026-11-21T10:00:00Z") == ten);
    CHECK(parse_iso_time("2024-02-29T23:59:59Z") == time_point{1'709'251'199s});
    CHECK(parse_iso_time("1969-12-31T23:59:59Z") == time_point{-1s});
    CHECK(parse_iso_time("2026-11-21t10:00:00z") == ten);
    CHECK(parse_iso_time("2026-11-21 10:00:00Z") == ten);
    CHECK(parse_iso_time("2016-12-31T23:59:60Z") == time_point{1'483'228'800s});
}

TEST_CASE("iso_time: fractions are exact, and cut beyond what the clock counts") {
    CHECK(parse_iso_time("2026-11-21T10:00:00.5Z") == ten + 500ms);
    CHECK(parse_iso_time("2026-11-21T10:00:00,007Z") == ten + 7ms);
    CHECK(parse_iso_time("2026-11-21T10:00:00.123456Z") == ten + 123456us);
    CHECK(parse_iso_time("2026-11-21T10:00:00.1234567899999999999999Z") ==
          ten + std::chrono::duration_cast<std::chrono::system_clock::duration>(123456789ns));
    CHECK(parse_iso_time("2026-11-21T10:00:00.000000000000000000000Z") == ten);
}

TEST_CASE("iso_time: zones") {
    CHECK(parse_iso_time("2026-11-21T10:00:00+00:00") == ten);
    CHECK(parse_iso_time("2026-11-21T11:30:00+01:30") == ten);
    CHECK(parse_iso_time("2026-11-21T11:30:00+0130") == ten);
    CHECK(parse_iso_time("2026-11-21T02:00:00.25-08") == ten + 250ms);
    CHECK(parse_iso_time("2026-11-22T00:00:00+14:00") == ten);
    CHECK(parse_iso_time("2026-11-20T23:00:00-11:00") == ten);
}

TEST_CASE("iso_time: what lies beyond the clock's range is its end") {
    const auto last = parse_iso_time("9999-12-31T23:59:59.999Z");
    const auto first = parse_iso_time("0001-01-01T00:00:00Z");
    REQUIRE((last && first));
    CHECK(*last > ten + 24h * 365 * 200);
    CHECK(*first < time_point{} - 24h * 365 * 200);
    CHECK(parse_iso_time("9999-12-31T23:59:59-23:59").has_value());
    CHECK(parse_iso_time("0000-01-01T00:00:00+23:59").has_value());
}

TEST_CASE("iso_time: anything else is nothing") {
    for (const char* text : {"",
                             "Z",
                             "2026",
                             "2026-11-21",
                             "2026-11-21T10:00:00",
                             "2026-11-21T10:00Z",
                             "2026-11-21T10:00:00.Z",
                             "2026-11-21T10:00:00.5",
                             "2026-13-21T10:00:00Z",
                             "2026-00-21T10:00:00Z",
                             "2026-11-31T10:00:00Z",
                             "2025-02-29T10:00:00Z",
                             "2026-11-21T24:00:00Z",
                             "2026-11-21T10:60:00Z",
                             "2026-11-21T10:00:61Z",
                             " 2026-11-21T10:00:00Z",
                             "2026-11-21T10:00:00Z ",
                             "2026-11-21T10:00:00ZZ",
                             "2026-11-21T10:00:00+",
                             "2026-11-21T10:00:00+1",
                             "2026-11-21T10:00:00+24:00",
                             "2026-11-21T10:00:00+01:60",
                             "2026-11-21T10:00:00+01:",
                             "2026-11-21T10:00:00+01:3",
                             "26-11-21T10:00:00Z",
                             "20261121T100000Z",
                             "2026/11/21T10:00:00Z",
                             "+026-11-21T10:00:00Z",
                             "2026-11-21T1O:00:00Z",
                             "2026-11-21T10:00:00 +01:00",
                             "1795255200"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_iso_time(text).has_value());
    }
}
