#include <smdebug/s3/call/call.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

struct part {
    std::string bytes;
    std::uint64_t total = 0;
    friend bool operator==(const part&, const part&) = default;
};

std::optional<part> part_of(const http::response& from, byte_range wanted) {
    const auto held = s3::detail::part_in(from, wanted);
    return held ? std::optional{part{std::string{as_text(held->bytes)}, held->total}} : std::nullopt;
}

}  // namespace

TEST_CASE("content_range: what a server says of a part") {
    using s3::detail::content_range;
    using s3::detail::parse_content_range;
    CHECK(parse_content_range("bytes 0-9/100") == content_range{{0, 10}, 100});
    CHECK(parse_content_range("bytes 99-99/100") == content_range{{99, 1}, 100});
    CHECK(parse_content_range("bytes 0-0/1") == content_range{{0, 1}, 1});
    CHECK(parse_content_range("bytes */100") == content_range{{}, 100});
    CHECK(parse_content_range("bytes */0") == content_range{{}, 0});
    CHECK(parse_content_range("bytes 18446744073709551613-18446744073709551614/18446744073709551615") ==
          content_range{{most - 2, 2}, most});
    for (const std::string_view wrong : {"",
                                         "bytes",
                                         "bytes ",
                                         "bytes 0",
                                         "bytes 0-",
                                         "bytes 0-9",
                                         "bytes 0-9/",
                                         "bytes 0-9/*",
                                         "bytes */",
                                         "bytes *",
                                         "bytes 0-9/9",
                                         "bytes 0-10/10",
                                         "bytes 5-4/10",
                                         "bytes -9/10",
                                         "bytes 0--9/10",
                                         "bytes +0-9/10",
                                         "bytes 0-9/10 ",
                                         "bytes 0-9/10x",
                                         "bytes=0-9/10",
                                         "Bytes 0-9/10",
                                         "octets 0-9/10",
                                         " bytes 0-9/10",
                                         "bytes  0-9/10",
                                         "bytes 0 - 9/10",
                                         "bytes 0-9/18446744073709551616",
                                         "bytes 0-18446744073709551616/1",
                                         "bytes */-1",
                                         "bytes */1 "}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_content_range(wrong).has_value());
    }
}

TEST_CASE("content_range: the header that asks for a part ends within what servers can count") {
    CHECK(s3::detail::range_header({0, 1}) == "bytes=0-0");
    CHECK(s3::detail::range_header({5, 10}) == "bytes=5-14");
    CHECK(s3::detail::range_header({0, most}) == "bytes=0-9223372036854775807");
    CHECK(s3::detail::range_header({10, most}) == "bytes=10-9223372036854775807");
    for (const byte_range beyond : {byte_range{most, most}, {most, 1}, {most - 1, most}, {most / 2, 5}}) {
        CHECK(s3::detail::range_header(beyond) == "bytes=9223372036854775807-9223372036854775807");
    }
}

TEST_CASE("content_range: the length that an answer says its body has") {
    CHECK(s3::detail::body_length(answer(200, {{"content-length", "12"}})) == 12);
    CHECK(s3::detail::body_length(answer(200, {{"content-length", "0"}})) == 0);
    CHECK(s3::detail::body_length(answer(200, {{"content-length", "18446744073709551615"}})) == most);
    CHECK_FALSE(s3::detail::body_length(answer(200)).has_value());
    for (const char* wrong : {"", "-1", "12 ", " 12", "1e3", "18446744073709551616", "12, 12"}) {
        CAPTURE(wrong);
        CHECK_FALSE(s3::detail::body_length(answer(200, {{"content-length", wrong}})).has_value());
    }
}

TEST_CASE("content_range: 206 counts where it holds what was wanted, to the byte") {
    const auto partial = [](std::string range, std::string body) {
        return answer(206, {{"content-range", std::move(range)}}, std::move(body));
    };
    CHECK(part_of(partial("bytes 2-4/10", "cde"), {2, 3}) == part{"cde", 10});
    CHECK(part_of(partial("bytes 8-9/10", "ij"), {8, 5}) == part{"ij", 10});
    CHECK(part_of(partial("bytes 8-9/10", "ij"), {8, most}) == part{"ij", 10});
    CHECK(part_of(partial("bytes 0-0/1", "a"), {0, 1}) == part{"a", 1});
    // Shorter, longer, at another place, or with a wrong length.
    CHECK_FALSE(part_of(partial("bytes 2-3/10", "cd"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 2-5/10", "cdef"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 1-3/10", "bcd"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 3-5/10", "def"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 2-4/10", "cd"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 2-4/10", "cdef"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 2-4/10", ""), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes 2-4", "cde"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes */10", "cde"), {2, 3}).has_value());
    CHECK_FALSE(part_of(partial("bytes */10", ""), {2, 3}).has_value());
    CHECK_FALSE(part_of(answer(206, {}, "cde"), {2, 3}).has_value());
}

TEST_CASE("content_range: 200 holds the whole object, of which the part is taken") {
    const auto whole = [](std::string body) {
        const std::string length = std::to_string(body.size());
        return answer(200, {{"content-length", length}}, std::move(body));
    };
    CHECK(part_of(whole("abcdefghij"), {2, 3}) == part{"cde", 10});
    CHECK(part_of(whole("abcdefghij"), {0, most}) == part{"abcdefghij", 10});
    CHECK(part_of(whole("abcdefghij"), {8, 5}) == part{"ij", 10});
    CHECK(part_of(whole("abcdefghij"), {10, 5}) == part{"", 10});
    CHECK(part_of(whole("abcdefghij"), {most, most}) == part{"", 10});
    // It is unknown whether that is all.
    CHECK_FALSE(part_of(answer(200, {}, "abc"), {0, 3}).has_value());
    CHECK_FALSE(part_of(answer(200, {{"content-length", "4"}}, "abc"), {0, 3}).has_value());
    CHECK_FALSE(part_of(answer(200, {{"content-length", "2"}}, "abc"), {0, 3}).has_value());
}

TEST_CASE("content_range: 200 without a byte is an empty object only where its ETag says so") {
    const auto nothing = [](std::string etag) {
        return answer(200, {{"content-length", "0"}, {"etag", std::move(etag)}});
    };
    CHECK(part_of(nothing("\"d41d8cd98f00b204e9800998ecf8427e\""), {0, 5}) == part{"", 0});
    CHECK(part_of(nothing("d41d8cd98f00b204e9800998ecf8427e"), {3, 5}) == part{"", 0});
    CHECK_FALSE(part_of(nothing("\"900150983cd24fb0d6963f7d28e17f72\""), {0, 5}).has_value());
    CHECK_FALSE(part_of(nothing(""), {0, 5}).has_value());
    CHECK_FALSE(part_of(answer(200, {{"content-length", "0"}}), {0, 5}).has_value());
}

TEST_CASE("content_range: 416 counts where it says that the object ends before what was wanted") {
    CHECK(part_of(answer(416, {{"content-range", "bytes */10"}}, "<Error/>"), {12, 3}) == part{"", 10});
    CHECK(part_of(answer(416, {{"content-range", "bytes */0"}}), {0, 3}) == part{"", 0});
    CHECK(part_of(answer(416, {{"content-range", "bytes */12"}}), {12, 3}) == part{"", 12});
    for (const char* said : {"bytes */13", "bytes */100", "bytes 12-14/15", "nonsense", ""}) {
        CAPTURE(said);
        CHECK_FALSE(part_of(answer(416, {{"content-range", said}}), {12, 3}).has_value());
    }
    CHECK_FALSE(part_of(answer(416), {12, 3}).has_value());
    CHECK_FALSE(part_of(answer(416), {0, 3}).has_value());
}

TEST_CASE("content_range: other answers hold no part") {
    for (const int status : {0, 100, 201, 204, 301, 304, 400, 403, 404, 412, 500, 503}) {
        CAPTURE(status);
        CHECK_FALSE(part_of(answer(status, {{"content-range", "bytes 0-2/3"}, {"content-length", "3"}}, "abc"), {0, 3})
                        .has_value());
    }
}
