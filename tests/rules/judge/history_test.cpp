#include <smdebug/rules/judge/history.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace smdebug;
using rules::detail::robust_statistics_of;
using rules::detail::save_history;

TEST_CASE("robust_statistics_of: medians of odd and even counts, insensitive to outliers") {
    CHECK(robust_statistics_of({2.0, 2.1, 1.9, 2.2, 2.0}).median == 2);
    CHECK(robust_statistics_of({2.0, 2.1, 1.9, 2.2, 2.0}).deviation == doctest::Approx(0.14826));
    CHECK(robust_statistics_of({4, 1, 3, 2}).median == 2.5);
    CHECK(robust_statistics_of({1, 1, 1, 1e9}).deviation == 0);
    CHECK(robust_statistics_of({1.7e308, 1.7e308}).median == 1.7e308);
    CHECK(robust_statistics_of({5}).median == 5);
    CHECK(robust_statistics_of({}).median != robust_statistics_of({}).median);
}

TEST_CASE("save_history: looks nothing up twice in a walk, and begins again when a walk goes back") {
    save_history<int> history;
    std::vector<step_number> looked;
    const auto reach = [&](step_number step, std::size_t most) {
        looked.clear();
        history.reach(
            step, most,
            [](step_number from, const auto& visit) {
                while (from >= 0 && visit(from)) {
                    --from;
                }
            },
            [&](step_number at) {
                looked.push_back(at);
                return at % 2 == 0 ? std::optional{static_cast<int>(at)} : std::nullopt;
            });
        std::vector<step_number> steps;
        for (const auto& each : history.entries()) {
            steps.push_back(each.step);
        }
        return steps;
    };
    using steps = std::vector<step_number>;
    CHECK(reach(5, 2) == steps{2, 4});
    CHECK(looked == steps{4, 3, 2});
    history.put(5, std::nullopt);
    CHECK(reach(6, 2) == steps{2, 4});
    CHECK(looked.empty());
    history.put(6, 6);
    CHECK(reach(7, 2) == steps{4, 6});
    CHECK(looked.empty());
    CHECK(reach(10, 2) == steps{6, 8});
    CHECK(looked == steps{9, 8, 7});
    CHECK(reach(3, 2) == steps{0, 2});
    CHECK(looked == steps{2, 1, 0});
    CHECK(reach(1, 9) == steps{0});
    history.put(1, std::nullopt);
    CHECK(reach(2, 9) == steps{0});
    CHECK(looked.empty());  // there is nothing before the first
    CHECK(reach(2, 0).empty());
}
