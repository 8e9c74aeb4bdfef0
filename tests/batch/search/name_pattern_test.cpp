#include <smdebug/batch/search/name_pattern.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

bool matches(std::string_view pattern, std::string_view name) { return name_pattern{pattern}.matches(name); }
constexpr std::size_t none = std::string_view::npos;

struct name_row {
    std::string_view pattern;
    std::string_view name;
    bool is_match;
};

void check_matches(std::initializer_list<name_row> rows) {
    for (const name_row& each : rows) {
        CAPTURE(each.pattern);
        CAPTURE(each.name);
        CHECK(matches(each.pattern, each.name) == each.is_match);
    }
}

}  // namespace

TEST_CASE("name_pattern: * and ?") {
    check_matches({
        {"*", "a", true},
        {"job-*", "job-", true},
        {"*-*-x", "a-b-c-x", true},
        {"*-*-x", "a-b-c-y", false},
        {"a*b*c", "aXbXbXc", true},
        {"job-?", "job-1", true},
        {"job-?", "job-12", false},
        {"job-?", "job-", false},
        {"a*", "b", false},
        {"a***", "a", true},
        {"*\n*", "a\nb", true},
    });
}

TEST_CASE("name_pattern: a character is one of UTF-8, or a byte that is none") {
    check_matches({
        {"?", "\xC3\xA4", true},
        {"??", "\xC3\xA4", false},
        {"?", "\xFF", true},
        {"*\xFF*", "a\xFF", true},
        {"[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true},
        {"[\xC3\xA4]", "\xC3", false},
        {"\xC3?", "\xC3\xA4x", false},
    });
}

TEST_CASE("name_pattern: sets, and brackets that are none") {
    check_matches({
        {"run_[ab]", "run_a", true},
        {"run_[ab]", "run_c", false},
        {"run_[!ab]", "run_c", true},
        {"run_[^ab]", "run_c", true},
        {"run_[!ab]", "run_b", false},
        {"[0-9][0-9]", "42", true},
        {"[]]", "]", true},
        {"[]a]", "a", true},
        {"[!]]", "]", false},
        {"[a-]", "-", true},
        {"[\\]]", "]", true},
        {"a[", "a[", true},
        {"?[", "a[", true},
        {"[[]", "[", true},
    });
}

TEST_CASE("name_pattern: braces, one in another, and those that are none") {
    check_matches({
        {"{a,b}", "a", true},
        {"x{a,b}y", "xby", true},
        {"x{a,b}y", "xy", false},
        {"x{,b}y", "xy", true},
        {"{a,b{1,2}}*", "b2z", true},
        {"{a,b{1,2}}", "b", false},
        {"{a,b}{c,d}", "bc", true},
        {"{a}", "{a}", true},
        {"{a", "{a", true},
        {"{a\\,b,c}", "a,b", true},
        {"{a}{b,c}", "{a}c", true},
        {"\\{a,b}", "{a,b}", true},
    });
    std::string many;
    for (int i = 0; i < 11; ++i) {
        many += "{a,b}";
    }
    CHECK_THROWS_AS(name_pattern{many}, value_error);
}

TEST_CASE("name_pattern: a name that is hidden, and what a backslash stands before") {
    check_matches({
        {"*", ".git", false},
        {"?git", ".git", false},
        {"[.]git", ".git", false},
        {".*", ".git", true},
        {"\\.*", ".git", true},
        {"a\\*", "a*", true},
        {"a\\*", "ab", false},
    });
    CHECK(name_pattern{"a\\*b"}.name() == "a*b");
    CHECK(name_pattern{"a*b"}.name().empty());
    CHECK(name_pattern{"**"}.is_any_depth());
    CHECK_FALSE(name_pattern{"a**"}.is_any_depth());
}

TEST_CASE("name_pattern: a pattern that a name nearly matches in many ways ends soon") {
    CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(4096, 'a')));
}

TEST_CASE("first_wildcard: the first character that is not literal") {
    struct row {
        std::string_view path;
        std::size_t at;
    };
    for (const row& each : {
             row{"a/b", none},
             row{"a/*", 2},
             row{"a?", 1},
             row{"a[b", none},
             row{"a[b/c]", none},
             row{"a[b]", 1},
             row{"{a}/{b,c}", 4},
             row{"{a/b,c}", none},
             row{"a\\*", none},
             row{"a\\", none},
         }) {
        CAPTURE(each.path);
        CHECK(first_wildcard(each.path) == each.at);
    }
}

TEST_CASE("path_pattern: covers what it matches, and all below it") {
    struct row {
        std::string_view pattern;
        std::string_view path;
        bool is_covered;
    };
    for (const row& each : {
             row{"*/job-?", "a/job-1", true},
             row{"*/job-?", "a/job-1/deep/run", true},
             row{"*/job-?", "a", false},
             row{"*/job-?", "a/x", false},
             row{"*/job-?", "a/x/job-1", false},
             row{"**/job-?", "job-1", true},
             row{"**/job-?", "a/.hidden/job-1/x", true},
             row{"**/job-?", "a/b", false},
             row{"a/**", "a", true},
             row{"a/**", "a/b/c", true},
             row{"a/**", "b/a", false},
             row{"**/**/x/**/**", "x", true},
             row{"a//./b/", "a/b", true},
         }) {
        CAPTURE(each.pattern);
        CAPTURE(each.path);
        CHECK(path_pattern{each.pattern}.covers(each.path) == each.is_covered);
    }
    CHECK(path_pattern{"a/**"}.ends_at_any_depth());
    CHECK(path_pattern{}.covers(""));
}

TEST_CASE("path_pattern: says whether more can match below, and where only one name can match") {
    const path_pattern pattern{"*/out/run-*"};
    auto reached = pattern.begin();
    CHECK(pattern.only_name(reached).empty());
    reached = pattern.after(reached, "a");
    CHECK(pattern.only_name(reached) == "out");
    CHECK_FALSE(pattern.goes_on(pattern.after(reached, "b")));
    reached = pattern.after(reached, "out");
    CHECK(pattern.goes_on(reached));
    CHECK_FALSE(pattern.is_end(reached));
    CHECK(pattern.is_end(pattern.after(reached, "run-1")));
    const path_pattern deep{"**/x"};
    CHECK(deep.only_name(deep.begin()).empty());
    CHECK(deep.goes_on(deep.after(deep.begin(), "a")));
    CHECK_FALSE(deep.goes_on(deep.after(deep.begin(), "a", true)));
    CHECK(deep.is_end(deep.after(deep.begin(), "x", true)));
}
