#include <smdebug/rules/judge/saved_tensor.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("require_whole_numbers: fractions are refused by name, what is not finite is left to the rule") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::vector<double>& fine : std::vector<std::vector<double>>{{}, {0, 1, -3, 1e300}, {nan, inf, -inf}}) {
        CHECK_NOTHROW(rules::detail::require_whole_numbers(fine, "labels", 7));
    }
    CHECK_THROWS_WITH_AS(
        rules::detail::require_whole_numbers({1, 0.9}, "labels", 7, " Set it."),
        "TensorUnavailableForStep: Value for tensor labels is not available for step 7 with mode GLOBAL "
        "as the number of a category, as 0.9 is not whole. Set it.",
        tensor_unavailable_for_step);
}
