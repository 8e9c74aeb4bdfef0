#include <smdebug/rules/judge/check_settings.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using rules::detail::allowed_range;
using rules::detail::any_number;
using rules::detail::check_range;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// What is said about a value; empty: nothing.
std::string said(auto value, const allowed_range& allowed = {}) {
    try {
        check_range("rule", "x", value, allowed);
        return {};
    } catch (const value_error& wrong) {
        return std::string{wrong.message()};
    }
}

}  // namespace

TEST_CASE("check_range: refuses what is out of range, NaN, and infinite unless that is allowed") {
    CHECK(said(0.0) == "");
    CHECK(said(-0.5) == "rule: x is -0.5; it must be a number of at least 0");
    CHECK(said(not_a_number) == "rule: x is nan; it must be a number of at least 0");
    CHECK(said(inf) == "rule: x is inf; it must be a number of at least 0");
    CHECK(said(0.0, {.above_least = true}) == "rule: x is 0; it must be a number above 0");
    CHECK(said(1.5, {.most = 1}) == "rule: x is 1.5; it must be from 0 to 1");
    CHECK(said(inf, {.infinite = true}) == "");
    CHECK(said(-inf, {.infinite = true}) == "rule: x is -inf; it must be a number of at least 0");
    CHECK(said(inf, any_number) == "");
    CHECK(said(-inf, any_number) == "");
    CHECK(said(not_a_number, any_number) == "rule: x is nan; it must be a number");
}

TEST_CASE("check_range: takes whole numbers, and what is not set is in range") {
    CHECK(said(std::int64_t{0}, {.least = 1}) == "rule: x is 0; it must be a number of at least 1");
    CHECK(said(1, {.least = 1}) == "");
    CHECK(said(std::optional<double>{}, {.least = 1}) == "");
    CHECK(said(std::optional<std::int64_t>{0}, {.least = 1}) == "rule: x is 0; it must be a number of at least 1");
}

TEST_CASE("require_setting, require_choice: say what is needed") {
    using rules::detail::require_choice;
    CHECK_NOTHROW(rules::detail::require_setting("rule", true, "x"));
    CHECK_THROWS_WITH_AS(rules::detail::require_setting("rule", false, "x"), doctest::Contains("x is needed"),
                         value_error);
    CHECK_NOTHROW(require_choice("rule", "a", {}));
    CHECK_NOTHROW(require_choice("rule", {}, "a"));
    CHECK_THROWS_WITH_AS(require_choice("rule", {}, {}),
                         doctest::Contains("collection_names or tensor_regex is needed"), value_error);
}

TEST_CASE("check_history: a window of saves, of which some are needed") {
    using rules::detail::check_history;
    CHECK_NOTHROW(check_history("rule", 1, {}));
    CHECK_NOTHROW(check_history("rule", 5, 5));
    CHECK_THROWS_AS(check_history("rule", 0, {}), value_error);
    CHECK_THROWS_AS(check_history("rule", 5, 0), value_error);
    CHECK_THROWS_AS(check_history("rule", 5, 6), value_error);
}
