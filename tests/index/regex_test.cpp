#include <smdebug/index/regex.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("regex: searches anywhere, with what real collections use") {
    CHECK(regex{"relu"}.search("conv/relu_output"));
    CHECK_FALSE(regex{"^relu"}.search("conv/relu_output"));
    CHECK(regex{"^(?!gradient).*bias"}.search("Sequential_0.bias"));
    CHECK_FALSE(regex{"^(?!gradient).*bias"}.search("gradient/Sequential_0.bias"));
    CHECK(regex{"(?i)LOSS"}.search("CrossEntropyLoss_output_0"));
    CHECK(regex{"(?<=conv)\\d"}.search("conv2d"));
    CHECK(regex{"(?P<name>a)(?P=name)"}.search("baab"));
    CHECK(regex{""}.search(""));
    CHECK(regex{".*"}.search("x"));
    CHECK(regex{"^.$"}.search("\xC3\xA4"));  // one character, two bytes
    CHECK(regex{"\\w"}.search("\xC3\xA4"));
}

TEST_CASE("regex: gives what its first group has") {
    const regex pattern{"step-([0-9]+)(x)?"};
    CHECK(pattern.groups() == 2);
    const std::string text = "a/step-500/step-7";
    const auto found = pattern.first_group(text);
    REQUIRE(found.has_value());
    CHECK(*found == "500");
    CHECK(found->data() == text.data() + 7);  // borrowed
    CHECK(pattern.first_group("step-") == std::nullopt);
    CHECK(regex{"step"}.groups() == 0);
    CHECK(regex{"step"}.first_group("step") == std::nullopt);
    CHECK(regex{"a|(b)"}.first_group("a") == std::nullopt);  // the group took no part
    CHECK(regex{"a(b*)"}.first_group("ac") == "");
    for (int i = 0; i < 500; ++i) {  // compiled to machine code meanwhile
        REQUIRE(pattern.first_group("step-12") == "12");
    }
}

TEST_CASE("regex: a bad pattern is a value_error that says where") {
    for (const char* pattern : {"(", "[a", "*", "(?<!a+)b", "\\", "\xFF"}) {
        CAPTURE(pattern);
        CHECK_THROWS_AS(regex{pattern}, value_error);
    }
    const value_error thrown = smdebug_test::caught<value_error>([&] { const regex bad{"abc["}; });
    CHECK(std::string{thrown.what()}.find("abc[") != std::string::npos);
    CHECK(std::string{thrown.what()}.find("character 4") != std::string::npos);
}

TEST_CASE("regex: bytes that are no UTF-8 can be searched") {
    CHECK(
        regex{"b"}.search("\xFF"
                          "b"));
    CHECK_FALSE(
        regex{"c"}.search("\xFF"
                          "b"));
}

TEST_CASE("regex: a search that would take for ever is given up with an error") {
    const regex catastrophic{"(x+x+)+y(?=q)\\1"};
    bool given_up = false;
    bool found = false;
    try {
        found = catastrophic.search(std::string(60, 'x'));
    } catch (const value_error&) {
        given_up = true;
    }
    CHECK_FALSE(found);  // whether it is given up depends on what PCRE2 can prove before it starts
    MESSAGE("given up: " << given_up);
    CHECK_THROWS_AS(static_cast<void>(regex{"^(?:(a+)+)+$(?<=b)"}.search(std::string(200, 'a') + "!")), value_error);
}

TEST_CASE("regex: what is given up is given up the same, compiled to machine code or not") {
    const regex catastrophic{"(a+)+$"};
    const std::string name = std::string(2000, 'a') + "!";
    for (int i = 0; i < 300; ++i) {  // compiled meanwhile
        CHECK(catastrophic.search(i % 2 == 0 ? "aaaa" : "baaa"));
    }
    CHECK_THROWS_AS(static_cast<void>(catastrophic.search(name)), value_error);
    const regex fresh{"(a+)+$"};
    const value_error thrown = smdebug_test::caught<value_error>([&] { return fresh.search(name); });
    CHECK(std::string{thrown.what()}.find("in a text of 2001 bytes was given up: ") != std::string::npos);
    CHECK(fresh.search("aaaa"));  // and goes on
}

TEST_CASE("regex: a search takes no more memory than it may") {
    // A frame for each character, as there is a place to come back to.
    const std::string long_name(600'000, 'a');
    CHECK_THROWS_AS(static_cast<void>(regex{"^(?:(a)|b)*$"}.search(long_name)), value_error);
    CHECK(regex{"^a*$"}.search(long_name));
}

TEST_CASE("regex: long names need no stack") {
    const std::string name = std::string(20'000, 'a') + "/b";
    CHECK(regex{"(a|b)+/b$"}.search(name));
    CHECK(regex{"^((?:[^/]|/)*)$"}.search(name));
}

TEST_CASE("regex: copies are compiled anew") {
    const regex first{"ab+"};
    std::vector<regex> all{first, regex{"c"}};
    for (int i = 0; i < 300; ++i) {  // so often that `first` is compiled to machine code
        CHECK(first.search("xabb"));
    }
    const regex late{first};
    all[1] = late;
    const std::vector<regex> copied{all};
    for (const regex& each : copied) {
        CHECK(each.pattern() == "ab+");
        CHECK(each.search("xabb"));
        CHECK_FALSE(each.search("xb"));
    }
}

TEST_CASE("regex: moves") {
    regex first{"a"};
    const regex second = std::move(first);
    CHECK(second.search("bab"));
    CHECK(second.pattern() == "a");
}

TEST_CASE("regex: answers the same before and after it is compiled to machine code") {
    const regex layer{"(?i)relu_?(\\d+)(?!x)"};
    for (int i = 0; i < 1000; ++i) {
        CHECK(layer.search("model/ReLU_" + std::to_string(i)));
        CHECK_FALSE(layer.search("model/relu_"));
    }
}

TEST_CASE("regex: the version of the library that searches is a release and a date") {
    const std::string version = regex_library_version();
    CAPTURE(version);
    CHECK(regex{R"(^[0-9]+\.[0-9]+(-RC[0-9]+)? [0-9]{4}-[0-9]{2}-[0-9]{2}$)"}.search(version));
}
