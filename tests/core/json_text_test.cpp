#include <smdebug/core/json_text.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("json_text: strings are escaped, UTF-8 goes through") {
    std::string out;
    append_json_string(out, "a\"b\\c\n\t\x01\x7F\xC3\xA4");
    CHECK(out == "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xC3\xA4\"");
}

TEST_CASE("json_text: strings are safe for a terminal, and keep their meaning") {
    std::string out;
    append_json_string(out, std::string_view{"\0\r\x1b\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81\xFF", 13});
    CHECK(out == "\"\\u0000\\u000d\\u001b\\u009b\\u202e\\udb40\\udc41\xEF\xBF\xBD\"");
}

TEST_CASE("json_text: ASCII alone, as Python's json.dumps writes it") {
    const auto ascii = [](std::string_view text) {
        std::string out;
        append_json_ascii(out, text);
        return out;
    };
    CHECK(ascii("") == "\"\"");
    CHECK(ascii("plain/name:0") == "\"plain/name:0\"");
    CHECK(ascii("a\"b\\c/d") == R"("a\"b\\c/d")");
    CHECK(ascii("\b\t\n\v\f\r\x01\x1F\x7F ~") == R"("\b\t\n\u000b\f\r\u0001\u001f\u007f ~")");
    CHECK(ascii(std::string_view{"\0", 1}) == R"("\u0000")");
    CHECK(ascii("\xC2\x80\xDF\xBF") == R"("\u0080\u07ff")");
    CHECK(ascii("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF") == R"("\u0800\ud7ff\ue000\uffff")");
    CHECK(ascii("\xF0\x90\x80\x80\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF") == R"("\ud800\udc00\ud83d\ude00\udbff\udfff")");
}

TEST_CASE("json_text: bytes that are not UTF-8 are detected, and become one replacement each") {
    // Lone and missing continuations, overlong forms, surrogates, beyond the last character, bytes that never occur.
    for (const std::string_view bad :
         {"\x80", "\xBF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
          "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
        CAPTURE(bad.size());
        CHECK_FALSE(is_utf8(bad));
        CHECK_FALSE(is_utf8("a" + std::string{bad} + "b"));
        std::string expected = "\"a";
        for (std::size_t i = 0; i < bad.size(); ++i) {
            expected += "\\ufffd";
        }
        std::string out;
        append_json_ascii(out, "a" + std::string{bad} + "b");
        CHECK(out == expected + "b\"");
    }
    CHECK(is_utf8(""));
    CHECK(is_utf8("plain"));
    CHECK(is_utf8("\x7F\xC2\x80\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
    static_assert(is_utf8("\xC3\xA4"));
}

TEST_CASE("json_text: whole numbers") {
    std::string out;
    append_json_integer(out, std::numeric_limits<std::int64_t>::min());
    append_json_integer(out, std::numeric_limits<std::uint64_t>::max());
    CHECK(out == "-922337203685477580818446744073709551615");
}

TEST_CASE("json_text: doubles are restored exactly from 17 digits") {
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
