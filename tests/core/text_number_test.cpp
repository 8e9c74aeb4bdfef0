#include <smdebug/core/text_number.hpp>

#include "support/test.hpp"

using smdebug::detail::number_of_text;
using smdebug::detail::without_plus;

TEST_CASE("number_of_text: the whole text, or nothing") {
    CHECK(number_of_text<int>("17") == 17);
    CHECK(number_of_text<int>("007") == 7);
    CHECK(number_of_text<int>("-3") == -3);
    CHECK(number_of_text<unsigned>("755", 8) == 0755);
    CHECK(number_of_text<unsigned>("fF", 16) == 255);
    CHECK(number_of_text<double>("2.5e-3") == 2.5e-3);
    for (const std::string_view text : {"", " 1", "1 ", "+1", "1.0", "0x1", "1,0", "one", "-"}) {
        CAPTURE(text);
        CHECK_FALSE(number_of_text<int>(text).has_value());
    }
    for (const std::string_view text : {"", " 1", "+1", "1,0", "0x1", "e3"}) {
        CAPTURE(text);
        CHECK_FALSE(number_of_text<double>(text).has_value());
    }
    CHECK_FALSE(number_of_text<int>(std::string_view{"1\0", 2}).has_value());
}

TEST_CASE("number_of_text: nothing beyond the range of the type") {
    CHECK(number_of_text<std::uint8_t>("255") == 255);
    CHECK_FALSE(number_of_text<std::uint8_t>("256").has_value());
    CHECK_FALSE(number_of_text<std::uint64_t>("-1").has_value());
    CHECK(number_of_text<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    CHECK_FALSE(number_of_text<std::int64_t>("9223372036854775808").has_value());
    CHECK_FALSE(number_of_text<double>("1e999").has_value());
}

TEST_CASE("without_plus: one sign in front of a number") {
    CHECK(without_plus("+5") == "5");
    CHECK(without_plus("-5") == "-5");
    CHECK(without_plus("++5") == "+5");
    CHECK(without_plus("+-5") == "+-5");
    CHECK(without_plus("").empty());
}
