#include <smdebug/core/json_document.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("json: values of each kind, and nothing for another kind") {
    smdebug::detail::json::document parser;
    const auto root =
        parser.parse(as_bytes(R"({"i": -5, "u": 18446744073709551615, "d": 1.5, "s": "t\u00e4\n", "b": true,
        "n": null, "a": [1, 2], "o": {}})"));
    REQUIRE(root.has_value());
    CHECK(root->is_object());
    CHECK((*root)["i"]->integer() == -5);
    CHECK_FALSE((*root)["i"]->unsigned_integer().has_value());
    CHECK((*root)["u"]->unsigned_integer() == 18446744073709551615ULL);
    CHECK_FALSE((*root)["u"]->integer().has_value());
    CHECK((*root)["d"]->number() == 1.5);
    CHECK_FALSE((*root)["d"]->integer().has_value());
    CHECK((*root)["s"]->string() == "t\xC3\xA4\n");
    CHECK_FALSE((*root)["s"]->number().has_value());
    CHECK((*root)["b"]->boolean() == true);
    CHECK((*root)["n"]->is_null());
    CHECK((*root)["a"]->is_array());
    CHECK_FALSE((*root)["missing"].has_value());
    CHECK_FALSE((*(*root)["a"])["x"].has_value());
    int sum = 0;
    CHECK((*root)["a"]->for_each_element([&](smdebug::detail::json::value item) {
        sum += static_cast<int>(*item.integer());
        return true;
    }));
    CHECK(sum == 3);
    CHECK_FALSE((*root)["o"]->for_each_element([](smdebug::detail::json::value) { return true; }));
    CHECK((*root)["o"]->for_each_field([](std::string_view, smdebug::detail::json::value) { return true; }));
}

TEST_CASE("json: the last of two equal names counts, as in Python") {
    smdebug::detail::json::document parser;
    const auto root = parser.parse(as_bytes(R"({"a": 1, "a": 2})"));
    REQUIRE(root.has_value());
    CHECK((*root)["a"]->integer() == 2);
}

TEST_CASE("json: an invalid document is nothing, and the parser can parse the next") {
    smdebug::detail::json::document parser;
    const std::string whole = R"({"meta": {"mode": "TRAIN", "mode_step": 12}, "tensor_payload": [{"x": [1.5, "y"]}]})";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(parser.parse(as_bytes(std::string_view{whole}.substr(0, length))).has_value());
    }
    CHECK(parser.parse(as_bytes(whole)).has_value());
    CHECK_FALSE(parser.parse(byte_view{}).has_value());
    CHECK_FALSE(parser.parse(as_bytes("\xEF\xBB\xBF")).has_value());
    CHECK_FALSE(parser.parse(as_bytes("{} {}")).has_value());
    CHECK_FALSE(parser.parse(as_bytes("\"\xFF\"")).has_value());
    CHECK_FALSE(parser.parse(as_bytes(std::string(100'000, '['))).has_value());
    CHECK(parser.parse(as_bytes("\xEF\xBB\xBF{}")).has_value());
    CHECK(parser.parse(as_bytes("3"))->integer() == 3);
}

TEST_CASE("json: the parser's version is three numbers") {
    const std::string version = smdebug::detail::json::library_version();
    CAPTURE(version);
    CHECK(version.find_first_not_of("0123456789.") == std::string::npos);
    CHECK(std::count(version.begin(), version.end(), '.') == 2);
    CHECK(version.front() != '.');
}

namespace {

std::string checked(std::string_view text) {
    constexpr std::array<std::string_view, 2> known{"meta", "tensor_payload"};
    smdebug::detail::json::document parser;
    return renamed_keys(*parser.parse(as_bytes(text)), known).value_or("");
}

}  // namespace

TEST_CASE("renamed_keys: an unknown key counts where a known one is missing, else it is somebody's addition") {
    CHECK(checked(R"({"meta": 1, "tensor_payload": 2})").empty());
    CHECK(checked(R"({"meta": 1, "tensor_payload": 2, "more": 3})").empty());
    CHECK(checked(R"({"meta": 1})").empty());
    CHECK(checked("[]").empty());
    CHECK(checked(R"({"meta": 1, "tensor_qayload": 2})") ==
          R"(unknown key "tensor_qayload" where "tensor_payload" is missing)");
    CHECK(checked(R"({"a": 1, "b": 2})") == R"(unknown key "a", "b" where "meta", "tensor_payload" is missing)");
}

TEST_CASE("repeated_keys: names a key that stands twice") {
    smdebug::detail::json::document parser;
    CHECK_FALSE(repeated_keys(*parser.parse(as_bytes(R"({"a": 1, "b": 2})"))).has_value());
    CHECK_FALSE(repeated_keys(*parser.parse(as_bytes("3"))).has_value());
    CHECK(repeated_keys(*parser.parse(as_bytes(R"({"a": 1, "b": 2, "a": 3})"))) == "the key \"a\" stands twice");
}
