#include <smdebug/rules/setting.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

namespace {

template <class T>
T parsed(std::string_view text) {
    T value{};
    parse_setting(text, value);
    return value;
}

/// The error for a refused text; empty for an accepted one.
template <class T, class Given>
std::string refusal(const Given& given, T value = {}) {
    const T before = value;
    try {
        parse_setting(given, value);
    } catch (const value_error& refused) {
        CHECK(text_of(value) == text_of(before));
        return std::string{refused.message()};
    }
    return {};
}

template <class T>
void check_round_trip(const T& value) {
    CHECK(text_of(parsed<T>(text_of(value))) == text_of(value));
}

static_assert(type_name_of<bool>() == "bool");
static_assert(type_name_of<std::int64_t>() == "int");
static_assert(type_name_of<double>() == "float");
static_assert(type_name_of<std::string>() == "str");
static_assert(type_name_of<std::optional<std::int64_t>>() == "int or None");
static_assert(type_name_of<std::optional<double>>() == "float or None");
static_assert(type_name_of<std::optional<mode>>() == "mode or None");
static_assert(type_name_of<text_list>() == "list");
static_assert(type_name_of<std::vector<double>>() == "list of float");

}  // namespace

TEST_CASE("text_of: doubles read as Python writes them") {
    struct written {
        double value;
        const char* text;
    };
    // The right column is what python3 prints for repr(float(left)).
    for (const written& held : {written{0, "0.0"},
                                written{-0.0, "-0.0"},
                                written{1, "1.0"},
                                written{-23, "-23.0"},
                                written{0.1, "0.1"},
                                written{16.99999, "16.99999"},
                                written{1e-7, "1e-07"},
                                written{1.5e-7, "1.5e-07"},
                                written{1e-4, "0.0001"},
                                written{9.999e-5, "9.999e-05"},
                                written{1e15, "1000000000000000.0"},
                                written{1e16, "1e+16"},
                                written{9999999999999998.0, "9999999999999998.0"},
                                written{123456789012345680.0, "1.2345678901234568e+17"},
                                written{1e100, "1e+100"},
                                written{5e-324, "5e-324"},
                                written{1.0 / 3, "0.3333333333333333"},
                                written{std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
                                written{std::numeric_limits<double>::infinity(), "inf"},
                                written{-std::numeric_limits<double>::infinity(), "-inf"},
                                written{std::numeric_limits<double>::quiet_NaN(), "nan"}}) {
        CHECK(text_of(held.value) == held.text);
    }
}

TEST_CASE("text_of: truths, whole numbers, modes, lists, and None where there is nothing") {
    CHECK(text_of(true) == "True");
    CHECK(text_of(false) == "False");
    CHECK(text_of(std::int64_t{-3}) == "-3");
    CHECK(text_of(std::string{"a, b"}) == "a, b");
    CHECK(text_of(std::optional<std::int64_t>{}) == "None");
    CHECK(text_of(std::optional<std::int64_t>{7}) == "7");
    CHECK(text_of(std::optional<double>{0.5}) == "0.5");
    CHECK(text_of(std::optional<mode>{mode::eval}) == "EVAL");
    CHECK(text_of(text_list{}) == "None");
    CHECK(text_of(text_list{texts{}}).empty());
    CHECK(text_of(text_list{"relu", "tanh"}) == "relu,tanh");
    CHECK(text_of(-3) == "-3");
    CHECK(text_of(std::optional<int>{7}) == "7");
    CHECK(text_of(texts{"relu", "tanh"}) == "relu,tanh");
    CHECK(text_of(texts{}).empty());
    CHECK(text_of(std::vector<double>{}).empty());
    CHECK(text_of(std::vector<double>{50, 0.5}) == "50.0,0.5");
}

TEST_CASE("parse_setting: a truth is one of four words") {
    CHECK(parsed<bool>("True"));
    CHECK(parsed<bool>("true"));
    CHECK(!parsed<bool>("False"));
    CHECK(!parsed<bool>("false"));
    for (const char* word : {"TRUE", "1", "0", "yes", "", " True", "None"}) {
        CHECK(refusal<bool>(std::string_view{word}, true) ==
              "must be True or False, not \"" + std::string{word} + "\"");
    }
}

TEST_CASE("parse_setting: numbers are C's, in full, and never NaN") {
    CHECK(parsed<std::int64_t>("10") == 10);
    CHECK(parsed<std::int64_t>(" -9223372036854775808 ") == std::numeric_limits<std::int64_t>::min());
    CHECK(parsed<std::int64_t>("+010") == 10);
    CHECK(parsed<double>("1e-7") == 1e-7);
    CHECK(parsed<double>("-.5") == -0.5);
    CHECK(parsed<double>("3") == 3);
    CHECK(parsed<double>("+2.5 ") == 2.5);
    CHECK(parsed<double>("inf") == std::numeric_limits<double>::infinity());
    CHECK(parsed<double>("-Infinity") == -std::numeric_limits<double>::infinity());
    for (const char* text : {"", " ", "x", "1.0", "1e3", "0x10", "1_000", "9223372036854775808", "+-1", "+", "None"}) {
        CHECK(refusal<std::int64_t>(std::string_view{text}, 5) ==
              "must be a whole number, not \"" + std::string{text} + "\"");
    }
    for (const char* text : {"", "nan", "NaN", "-nan", "1,5", "1.5.2", "0x1p3", "1e400", "1e-400", "five", "None"}) {
        CHECK(refusal<double>(std::string_view{text}, 0.5) == "must be a number, not \"" + std::string{text} + "\"");
    }
}

TEST_CASE("parse_setting: an optional setting may be nothing or None") {
    for (const char* nothing : {"", "None", " None "}) {
        CHECK(!parsed<std::optional<std::int64_t>>(nothing));
        CHECK(!parsed<std::optional<double>>(nothing));
        CHECK(!parsed<std::optional<mode>>(nothing));
    }
    CHECK(parsed<std::optional<std::int64_t>>("7") == 7);
    CHECK(parsed<std::optional<double>>("0.25") == 0.25);
    CHECK(parsed<std::optional<mode>>("PREDICT") == mode::predict);
    CHECK(refusal<std::optional<std::int64_t>>(std::string_view{"none"}) ==
          "must be a whole number or None, not \"none\"");
    CHECK(refusal<std::optional<double>>(std::string_view{"nan"}, 1.0) == "must be a number or None, not \"nan\"");
    CHECK(refusal<std::optional<mode>>(std::string_view{"train"}) ==
          "must be TRAIN, EVAL, PREDICT, GLOBAL or None, not \"train\"");
}

TEST_CASE("text_of: a list whose only item is None differs from no list") {
    const text_list one = parsed<text_list>("None,");
    REQUIRE(one.given());
    CHECK(one.texts() == std::vector<std::string>{"None"});
    CHECK(text_of(one) == "None,");
    CHECK(parsed<text_list>(text_of(one)).texts() == one.texts());
    CHECK(text_of(std::vector<std::string>{"None"}) == "None,");
    CHECK(text_of(std::vector<std::string>{"None", "None"}) == "None,None");
}

TEST_CASE("parse_setting: lists are split on commas and trimmed, and None is no list") {
    CHECK(parsed<text_list>("a, b ,,c").texts() == texts{"a", "b", "c"});
    CHECK(parsed<text_list>(".*relu_output").texts() == texts{".*relu_output"});
    CHECK(parsed<text_list>("").given());
    CHECK(parsed<text_list>(" ,").empty());
    CHECK(!parsed<text_list>("None").given());
    CHECK(parsed<std::string>(" a, b ") == " a, b ");
    CHECK(parsed<std::vector<double>>("50, 0.5") == std::vector<double>{50, 0.5});
    CHECK(parsed<std::vector<double>>("").empty());
    CHECK(parsed<std::vector<double>>("None").empty());
    CHECK(refusal<std::vector<double>>(std::string_view{"1,x"}, {2}) == "must be comma-separated numbers, not \"1,x\"");
}

TEST_CASE("parse_setting: a list that was given as one keeps the commas of its items") {
    text_list list;
    parse_setting(texts{"a{1,3}", " b", ""}, list);
    CHECK(list.texts() == texts{"a{1,3}", "b"});
    parse_setting(texts{}, list);
    CHECK(list.given());
    CHECK(list.empty());
    std::vector<double> numbers;
    parse_setting(texts{"1", " 2.5"}, numbers);
    CHECK(numbers == std::vector<double>{1, 2.5});
    double number = 0;
    parse_setting(texts{"4"}, number);
    CHECK(number == 4);
    CHECK(refusal<double>(texts{"1", "2"}, 3.0) == "must be a number, not a list of 2");
    CHECK(refusal<bool>(texts{}, true) == "must be True or False, not a list of 0");
}

TEST_CASE("parse_setting: reads back what text_of writes") {
    check_round_trip(true);
    check_round_trip(std::numeric_limits<std::int64_t>::max());
    check_round_trip(1e-7);
    check_round_trip(5e-324);
    check_round_trip(std::optional<double>{});
    check_round_trip(std::optional<mode>{mode::global});
    check_round_trip(text_list{});
    check_round_trip(text_list{"a", "b"});
    check_round_trip(std::vector<double>{1, -0.001, std::numeric_limits<double>::infinity()});
}
