#include <smdebug/batch/search/name_pattern.hpp>

#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

bool matches(std::string_view pattern, std::string_view name) { return name_pattern{pattern}.matches(name); }
constexpr std::size_t none = std::string_view::npos;

}  // namespace

TEST_CASE("name_pattern: * and ?") {
    CHECK(matches("*", "a"));
    CHECK(matches("job-*", "job-"));
    CHECK(matches("*-*-x", "a-b-c-x"));
    CHECK_FALSE(matches("*-*-x", "a-b-c-y"));
    CHECK(matches("a*b*c", "aXbXbXc"));
    CHECK(matches("job-?", "job-1"));
    CHECK_FALSE(matches("job-?", "job-12"));
    CHECK_FALSE(matches("job-?", "job-"));
    CHECK_FALSE(matches("a*", "b"));
    CHECK(matches("a***", "a"));
    CHECK(matches("*\n*", "a\nb"));
}

TEST_CASE("name_pattern: a character is one of UTF-8, or a byte that is none") {
    CHECK(matches("?", "\xC3\xA4"));
    CHECK_FALSE(matches("??", "\xC3\xA4"));
    CHECK(matches("?", "\xFF"));
    CHECK(matches("*\xFF*", "a\xFF"));
    CHECK(matches("[\xC3\xA4-\xC3\xBC]", "\xC3\xB6"));
    CHECK_FALSE(matches("[\xC3\xA4]", "\xC3"));
    CHECK_FALSE(matches("\xC3?", "\xC3\xA4x"));
}

TEST_CASE("name_pattern: sets, and brackets that are none") {
    CHECK(matches("run_[ab]", "run_a"));
    CHECK_FALSE(matches("run_[ab]", "run_c"));
    CHECK(matches("run_[!ab]", "run_c"));
    CHECK(matches("run_[^ab]", "run_c"));
    CHECK_FALSE(matches("run_[!ab]", "run_b"));
    CHECK(matches("[0-9][0-9]", "42"));
    CHECK(matches("[]]", "]"));
    CHECK(matches("[]a]", "a"));
    CHECK_FALSE(matches("[!]]", "]"));
    CHECK(matches("[a-]", "-"));
    CHECK(matches("[\\]]", "]"));
    CHECK(matches("a[", "a["));
    CHECK(matches("?[", "a["));
    CHECK(matches("[[]", "["));
}

TEST_CASE("name_pattern: braces, one in another, and those that are none") {
    CHECK(matches("{a,b}", "a"));
    CHECK(matches("x{a,b}y", "xby"));
    CHECK_FALSE(matches("x{a,b}y", "xy"));
    CHECK(matches("x{,b}y", "xy"));
    CHECK(matches("{a,b{1,2}}*", "b2z"));
    CHECK_FALSE(matches("{a,b{1,2}}", "b"));
    CHECK(matches("{a,b}{c,d}", "bc"));
    CHECK(matches("{a}", "{a}"));
    CHECK(matches("{a", "{a"));
    CHECK(matches("{a\\,b,c}", "a,b"));
    CHECK(matches("{a}{b,c}", "{a}c"));
    CHECK(matches("\\{a,b}", "{a,b}"));
    std::string many;
    for (int i = 0; i < 11; ++i) {
        many += "{a,b}";
    }
    CHECK_THROWS_AS(name_pattern{many}, value_error);
}

TEST_CASE("name_pattern: a name that is hidden, and what a backslash stands before") {
    CHECK_FALSE(matches("*", ".git"));
    CHECK_FALSE(matches("?git", ".git"));
    CHECK_FALSE(matches("[.]git", ".git"));
    CHECK(matches(".*", ".git"));
    CHECK(matches("\\.*", ".git"));
    CHECK(matches("a\\*", "a*"));
    CHECK_FALSE(matches("a\\*", "ab"));
    CHECK(name_pattern{"a\\*b"}.name() == "a*b");
    CHECK(name_pattern{"a*b"}.name().empty());
    CHECK(name_pattern{"**"}.is_any_depth());
    CHECK_FALSE(name_pattern{"a**"}.is_any_depth());
}

TEST_CASE("name_pattern: a pattern that a name nearly matches in many ways ends soon") {
    CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(4096, 'a')));
}

TEST_CASE("first_wildcard: the first of those that mean something") {
    CHECK(first_wildcard("a/b") == none);
    CHECK(first_wildcard("a/*") == 2);
    CHECK(first_wildcard("a?") == 1);
    CHECK(first_wildcard("a[b") == none);
    CHECK(first_wildcard("a[b/c]") == none);
    CHECK(first_wildcard("a[b]") == 1);
    CHECK(first_wildcard("{a}/{b,c}") == 4);
    CHECK(first_wildcard("{a/b,c}") == none);
    CHECK(first_wildcard("a\\*") == none);
    CHECK(first_wildcard("a\\") == none);
}

TEST_CASE("path_pattern: covers what it matches, and all below it") {
    const path_pattern two{"*/job-?"};
    CHECK(two.covers("a/job-1"));
    CHECK(two.covers("a/job-1/deep/run"));
    CHECK_FALSE(two.covers("a"));
    CHECK_FALSE(two.covers("a/x"));
    CHECK_FALSE(two.covers("a/x/job-1"));
    const path_pattern deep{"**/job-?"};
    CHECK(deep.covers("job-1"));
    CHECK(deep.covers("a/.hidden/job-1/x"));
    CHECK_FALSE(deep.covers("a/b"));
    const path_pattern all{"a/**"};
    CHECK(all.ends_at_any_depth());
    CHECK(all.covers("a"));
    CHECK(all.covers("a/b/c"));
    CHECK_FALSE(all.covers("b/a"));
    CHECK(path_pattern{"**/**/x/**/**"}.covers("x"));
    CHECK(path_pattern{}.covers(""));
    CHECK(path_pattern{"a//./b/"}.covers("a/b"));
}

TEST_CASE("path_pattern: tells whether there is more below, and where only one name can be") {
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
