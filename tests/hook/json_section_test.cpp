#include <smdebug/hook/hook_json.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

const std::string file_name = "f.json";

// A document and the section that it is.
struct parsed {
    explicit parsed(std::string_view text) : section(file_name, "S", document.parse(as_bytes(text))) {}
    smdebug::detail::json::document document;
    json_section section;
};

template <class Call>
std::string wrong_with(Call&& call) {
    try {
        static_cast<void>(call());
    } catch (const value_error& thrown) {
        CHECK(thrown.where() == file_name);
        return std::string{thrown.message()};
    }
    return "";
}

}  // namespace

TEST_CASE("json_section: gives values of the types that are wanted") {
    const parsed file{R"({"text": "x", "number": 7, "quoted": " -8 ", "yes": true, "no": "False",
                          "list": "a, b ,,c", "numbers": [1, "2"], "inner": {"n": 1}})"};
    const json_section& section = file.section;
    CHECK(section.text("text") == "x");
    CHECK(section.number("number") == 7);
    CHECK(section.number("quoted") == -8);
    CHECK(section.truth("yes") == true);
    CHECK(section.truth("no") == false);
    CHECK(section.texts("list") == std::vector<std::string>{"a", "b", "c"});
    CHECK(section.numbers("numbers") == std::vector<std::int64_t>{1, 2});
    CHECK(section.numbers("number") == std::vector<std::int64_t>{7});
    CHECK(section.section("inner").number("n") == 1);
}

TEST_CASE("json_section: takes for a number and for a truth what the Python package does") {
    const parsed file{R"({"signed": "+3", "whole": 2.0, "exponent": 1e3, "true": true, "false": false, "one": 1,
                          "zero": 0.0, "steps": [1.0, true, "+2"]})"};
    const json_section& section = file.section;
    CHECK(section.number("signed") == 3);
    CHECK(section.number("whole") == 2);
    CHECK(section.number("exponent") == 1000);
    CHECK(section.number("true") == 1);
    CHECK(section.number("false") == 0);
    CHECK(section.truth("one") == true);
    CHECK(section.truth("zero") == false);
    CHECK(section.numbers("steps") == std::vector<std::int64_t>{1, 1, 2});
    CHECK(section.numbers("whole") == std::vector<std::int64_t>{2});
}

TEST_CASE("json_section: all_texts keeps the pieces that are empty") {
    const parsed file{R"({"empty": "", "end": "a, ", "comma": ",", "list": ["", "b"]})"};
    using texts = std::vector<std::string>;
    CHECK(file.section.all_texts("empty") == texts{""});
    CHECK(file.section.all_texts("end") == texts{"a", ""});
    CHECK(file.section.all_texts("comma") == texts{"", ""});
    CHECK(file.section.all_texts("list") == texts{"", "b"});
    CHECK_FALSE(file.section.all_texts("missing").has_value());
    CHECK(file.section.texts("end") == texts{"a"});
}

TEST_CASE("json_section: what is null is not there") {
    const parsed file{R"({"a": null, "b": null})"};
    for (const char* key : {"a", "b", "missing"}) {
        CAPTURE(key);
        CHECK_FALSE(file.section.find(key).has_value());
        CHECK_FALSE(file.section.text(key).has_value());
        CHECK_FALSE(file.section.number(key).has_value());
        CHECK_FALSE(file.section.truth(key).has_value());
        CHECK_FALSE(file.section.texts(key).has_value());
        CHECK_FALSE(file.section.numbers(key).has_value());
        CHECK_FALSE(file.section.section(key).text("x").has_value());
        int seen = 0;
        file.section.for_each_section(key, [&](const json_section&) { ++seen; });
        CHECK(seen == 0);
    }
    CHECK_FALSE(parsed{"null"}.section.text("x").has_value());
    CHECK_FALSE(json_section(file_name, "S", std::nullopt).text("x").has_value());
}

TEST_CASE("json_section: what has another type is refused with file, section and key") {
    const parsed file{R"({"number": 7, "text": "x", "large": "9223372036854775808", "list": [1, {}], "half": 0.5,
                          "signs": "+-1", "huge": 1e30, "two": 2})"};
    const json_section& section = file.section;
    CHECK(wrong_with([&] { return section.number("signs"); }) ==
          "f.json: S.signs holds \"+-1\", which is not a whole number");
    CHECK(wrong_with([&] { return section.number("huge"); }) == "f.json: S.huge is not a whole number");
    CHECK(wrong_with([&] { return section.truth("two"); }) == "f.json: S.two is neither true nor false");
    CHECK(wrong_with([&] { return section.text("number"); }) == "f.json: S.number is not a string");
    CHECK(wrong_with([&] { return section.number("text"); }) ==
          "f.json: S.text holds \"x\", which is not a whole number");
    CHECK(wrong_with([&] { return section.number("large"); }) ==
          "f.json: S.large holds \"9223372036854775808\", which is not a whole number");
    CHECK(wrong_with([&] { return section.number("half"); }) == "f.json: S.half is not a whole number");
    CHECK(wrong_with([&] { return section.truth("number"); }) == "f.json: S.number is neither true nor false");
    CHECK(wrong_with([&] { return section.texts("list"); }) == "f.json: S.list holds something that is not a string");
    CHECK(wrong_with([&] { return section.numbers("list"); }) == "f.json: S.list is not a whole number");
    CHECK(wrong_with([&] { return section.numbers("half"); }) == "f.json: S.half is not a whole number");
    CHECK(wrong_with([&] { return section.section("list").text("x"); }) == "f.json: S.list is not a JSON object");
    CHECK(wrong_with([&] { return parsed{"[]"}.section.text("x"); }) == "f.json: S is not a JSON object");
}

TEST_CASE("json_section: objects of a list are sections with their place in the name") {
    const parsed file{R"({"list": [{"n": 1}, null, {"n": "x"}], "text": "x"})"};
    std::vector<std::optional<std::int64_t>> seen;
    CHECK(wrong_with([&] {
              file.section.for_each_section("list",
                                            [&](const json_section& each) { seen.push_back(each.number("n")); });
              return 0;
          }) == "f.json: S.list[2].n holds \"x\", which is not a whole number");
    CHECK(seen == std::vector<std::optional<std::int64_t>>{1, std::nullopt});
    CHECK(wrong_with([&] {
              file.section.for_each_section("text", [](const json_section&) {});
              return 0;
          }) == "f.json: S.text is not a list");
}
