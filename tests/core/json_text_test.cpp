#include <smdebug/core/json_text.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace smdebug;

TEST_CASE("json_text: strings are escaped, UTF-8 goes through") {
    std::string out;
    append_json_string(out, "a\"b\\c\n\t\x01\x7F\xC3\xA4");
    CHECK(out == "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xC3\xA4\"");
}

TEST_CASE("json_text: doubles come back exactly from 17 digits") {
    for (const double value : {0.1, 1.0 / 3, 1e300, 2.5e-300, -0.0, 123456789.0}) {
        CHECK(std::stod(double_text(value)) == value);
    }
    CHECK(double_text(-0.0) == "-0");
    CHECK(double_text(0.5) == "0.5");
    std::string out;
    append_json_number(out, std::numeric_limits<double>::infinity());
    append_json_number(out, -std::numeric_limits<double>::infinity());
    append_json_number(out, std::numeric_limits<double>::quiet_NaN());
    append_json_number(out, 2.5);
    CHECK(out == "\"Infinity\"\"-Infinity\"\"NaN\"2.5");
}

TEST_CASE("json_text: short numbers are for people") {
    CHECK(short_text(0.1) == "0.1");
    CHECK(short_text(1e-7) == "1e-07");
    CHECK(short_text(123456.7) == "123457");
}
