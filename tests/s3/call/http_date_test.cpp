#include <smdebug/s3/call/client.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view example = "Sun, 06 Nov 1994 08:49:37 GMT";

}  // namespace

TEST_CASE("http_date: the one form that servers send") {
    using std::chrono::sys_days;
    using std::chrono::year;
    CHECK(s3::detail::parse_http_date(example) == sys_days{year{1994} / 11 / 6} + 8h + 49min + 37s);
    CHECK(s3::detail::parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == std::chrono::system_clock::time_point{});
    CHECK(s3::detail::parse_http_date("Thu, 29 Feb 2024 23:59:59 GMT") == sys_days{year{2024} / 2 / 29} + 24h - 1s);
    // A leap second equals the next second, as everywhere.
    CHECK(s3::detail::parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT") == sys_days{year{2017} / 1 / 1});
    int month = 0;
    for (const std::string name :
         {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}) {
        CHECK(s3::detail::parse_http_date("Mon, 02 " + name + " 2023 00:00:00 GMT") ==
              sys_days{year{2023} / ++month / 2});
    }
}

TEST_CASE("http_date: what lies beyond the clock's range is its end") {
    using std::chrono::sys_days;
    using std::chrono::year;
    for (const std::string_view early :
         {"Sat, 01 Jan 0000 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 01 Jan 1677 00:00:00 GMT"}) {
        CAPTURE(early);
        REQUIRE(s3::detail::parse_http_date(early).has_value());
        CHECK(*s3::detail::parse_http_date(early) < sys_days{year{1678} / 1 / 1});
    }
    for (const std::string_view late : {"Mon, 01 Jan 2263 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:60 GMT"}) {
        CAPTURE(late);
        REQUIRE(s3::detail::parse_http_date(late).has_value());
        CHECK(*s3::detail::parse_http_date(late) > sys_days{year{2262} / 1 / 1});
    }
    CHECK(s3::detail::parse_http_date("Sat, 01 Jan 1678 00:00:00 GMT") == sys_days{year{1678} / 1 / 1});
}

TEST_CASE("http_date: everything else is none") {
    for (std::size_t length = 0; length < example.size(); ++length) {
        CHECK_FALSE(s3::detail::parse_http_date(example.substr(0, length)).has_value());
    }
    for (const std::string_view wrong :
         {"Sun, 06 Nov 1994 08:49:37 UTC",  "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun  06 Nov 1994 08:49:37 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",       "1994-11-06T08:49:37Z",
          "Sun, 06 Nov 1994 24:00:00 GMT",  "Sun, 06 Nov 1994 08:60:37 GMT",  "Sun, 06 Nov 1994 08:49:61 GMT",
          "Sun, 31 Nov 1994 08:49:37 GMT",  "Wed, 29 Feb 2023 08:49:37 GMT",  "Sun, 00 Nov 1994 08:49:37 GMT",
          "Sun, 06 nov 1994 08:49:37 GMT",  "Sun, 06 Noo 1994 08:49:37 GMT",  "Sun, +6 Nov 1994 08:49:37 GMT",
          "Sun, -6 Nov 1994 08:49:37 GMT",  "Sun,  6 Nov 1994 08:49:37 GMT",  "Sun, 06 Nov 1994 08-49-37 GMT",
          "Sun, 06 Nov 199x 08:49:37 GMT",  "Sun, 06 Nov 1994 -8:49:37 GMT"}) {
        CAPTURE(wrong);
        CHECK_FALSE(s3::detail::parse_http_date(wrong).has_value());
    }
}
