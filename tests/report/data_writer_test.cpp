#include <smdebug/report/page_text.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using namespace smdebug;
using report::detail::base64;
using report::detail::data_writer;

namespace {

template <class Write>
std::vector<int> written(Write&& write) {
    data_writer data;
    write(data);
    std::vector<int> bytes;
    for (const std::byte each : data.bytes()) {
        bytes.push_back(std::to_integer<int>(each));
    }
    return bytes;
}
using ints = std::vector<int>;

}  // namespace

TEST_CASE("data_writer: whole numbers") {
    CHECK(written([](data_writer& to) { to.whole(0); }) == ints{0});
    CHECK(written([](data_writer& to) { to.whole(300); }) == ints{0xAC, 2});
    CHECK(written([](data_writer& to) { to.whole(std::numeric_limits<std::uint64_t>::max()); }).size() == 10);
    CHECK(written([](data_writer& to) { to.whole_signed(-1); }) == ints{1});
    CHECK(written([](data_writer& to) { to.whole_signed(1); }) == ints{2});
    CHECK(written([](data_writer& to) { to.whole_signed(-64); }) == ints{127});
    CHECK(written([](data_writer& to) { to.number(1); }) == ints{0, 0, 0x80, 0x3F});
}

TEST_CASE("data_writer: which rows are there") {
    CHECK(written([](data_writer& to) { to.presence({}); }) == ints{1, 0});
    CHECK(written([](data_writer& to) { to.presence({true, true}); }) == ints{2, 0, 2});
    CHECK(written([](data_writer& to) { to.presence({false, true, false}); }) == ints{3, 1, 1, 1});
}

TEST_CASE("data_writer: columns, shorter where they say nothing new") {
    report::detail::tensor_series series;
    series.there = {true, false, true};
    series.rows.resize(3);
    series.rows[0].fill(1);
    series.rows[1].fill(7);  // not there
    series.rows[2].fill(1);
    CHECK(written([&](data_writer& to) { to.column(series, 0, false); }) == ints{0, 0, 0, 0x80, 0x3F});
    series.rows[2][2] = 2;
    series.rows[2][3] = 2;
    CHECK(written([&](data_writer& to) { to.column(series, 2, false); }) == ints{1, 0, 0, 0x80, 0x3F, 0, 0, 0, 0x40});
    CHECK(written([&](data_writer& to) { to.column(series, 3, true); }) == ints{2});
    CHECK(written([&](data_writer& to) { to.column(series, 3, false); }).front() == 1);  // the first written row
    series.there = {false, false, false};
    CHECK(written([&](data_writer& to) { to.column(series, 2, true); }) == ints{0, 0, 0, 0, 0});
}

TEST_CASE("data_writer: doubles where floats do not show them") {
    report::detail::tensor_series series;
    series.there = {true, true};
    series.rows.resize(2);
    for (const double odd : {1e300, -1e39, 1e-310, 1e-40}) {
        CAPTURE(odd);
        series.rows[0].fill(odd);
        series.rows[1].fill(odd);
        ints one = written([&](data_writer& to) { to.column(series, 2, false); });
        CHECK(one == written([&](data_writer& to) { to.byte(3), to.wide_number(odd); }));
        series.rows[1].fill(2);
        CHECK(written([&](data_writer& to) { to.column(series, 2, false); }) ==
              written([&](data_writer& to) { to.byte(4), to.wide_number(odd), to.wide_number(2); }));
        CHECK(written([&](data_writer& to) { to.column(series, 3, true); }) == ints{2});
        CHECK(written([&](data_writer& to) {
                  to.numbers(std::vector<double>{1, odd});
              }) == written([&](data_writer& to) { to.byte(1), to.wide_number(1), to.wide_number(odd); }));
    }
    CHECK(written([](data_writer& to) { to.wide_number(1); }) == ints{0, 0, 0, 0, 0, 0, 0xF0, 0x3F});
    CHECK(written([](data_writer& to) { to.numbers(std::vector<double>{1}); }) == ints{0, 0, 0, 0x80, 0x3F});
    // Neither NaN, infinity nor a missing number needs a double.
    series.rows[0].fill(report::detail::absent_number());
    series.rows[1].fill(std::numeric_limits<double>::infinity());
    CHECK(written([&](data_writer& to) { to.column(series, 2, false); }) ==
          ints{1, 1, 0, 0xC0, 0x7F, 0, 0, 0x80, 0x7F});
}

TEST_CASE("base64") {
    const auto text = [](std::string_view bytes) { return base64(as_bytes(bytes)); };
    CHECK(text("") == "");
    CHECK(text("f") == "Zg==");
    CHECK(text("fo") == "Zm8=");
    CHECK(text("foo") == "Zm9v");
    CHECK(text("foobar") == "Zm9vYmFy");
    CHECK(text("\xFF\xFE\xFD") == "//79");
}
