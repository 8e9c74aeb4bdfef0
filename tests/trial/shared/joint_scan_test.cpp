#include <smdebug/trial/shared/joint_scan.hpp>

#include "support/run_builder.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

memory_trial run_of(int steps) {
    memory_storage store{"run"};
    run_builder build{store};
    build.collections();
    for (int i = 0; i < steps; ++i) {
        const auto value = static_cast<float>(i);
        build.step({.step = i, .tensors = {tensor_of<float>("a", {value, 1}), tensor_of<float>("b", {-value, 2})}});
    }
    build.end();
    return memory_trial{store};
}

/// Always scans "a", and what rules request; notes the steps.
class noting_scan final : public smdebug::detail::joint_scan {
public:
    explicit noting_scan(const trial& run) : run_(run) {}

    [[nodiscard]] const texts& names() const noexcept override { return names_; }
    void scan(const smdebug::detail::scan_options& asked, look rules) override {
        ranges.push_back(asked.which.range);
        last_names = asked.which.names.value_or(texts{});
        if (fails) {
            throw std::runtime_error("no room");
        }
        static_cast<void>(
            smdebug::detail::scan(run_.state(), asked, [&](const smdebug::detail::scanned_tensor& tensor) {
                ++scanned;
                rules(tensor, reduced(tensor, reduction_set::all(), run_.state()->kernel()));
            }));
    }

    std::vector<step_range> ranges;
    texts last_names;
    std::size_t scanned = 0;
    std::atomic<bool> fails = false;

private:
    trial run_;
    texts names_{"a"};
};

/// Finds the steps at which the mean of "b" is below -3, and also reads values of "a".
struct low_mean {
    [[nodiscard]] finding operator()(const trial& run, step_number step) const {
        const auto mean = run.tensor("b").find_reduction(step, reduction::mean, {.worker = "worker_0"});
        const auto values = run.tensor("a").find_value(step, {.worker = "worker_0"});
        return {.met = mean && *mean < -3 && values && values->elements<float>()[0] > 3};
    }
};

std::vector<rule_result> beside(const std::shared_ptr<noting_scan>& scan, const memory_trial& run,
                                const invoke_rules_options& how) {
    return smdebug::detail::invoke_rules_beside<memory_trial>(scan, run, {any_rule<memory_trial>{low_mean{}}}, how);
}

}  // namespace

TEST_CASE("joint_scan: rules request consecutive ranges, and find the same as with their own scan") {
    const memory_trial run = run_of(40);
    const auto alone = invoke_rules(run, {}, low_mean{});
    for (const bool ahead : {true, false}) {
        const auto scan = std::make_shared<noting_scan>(run);
        const auto found = beside(scan, run, {.sharing = {.look_ahead = ahead}});
        CHECK(found.front().outcome.met_at == alone.front().outcome.met_at);
        CHECK(found.front().outcome.met_at.size() == 31);
        step_number next = 0;
        for (const step_range& each : scan->ranges) {
            CHECK(each.begin == next);
            next = each.end.value_or(-1);
        }
        CHECK(next == 40);
        std::sort(scan->last_names.begin(), scan->last_names.end());
        CHECK(scan->last_names == texts{"a", "b"});
        CHECK(scan->scanned >= 78);  // "b" is unknown before rules have used it
        if (ahead) {
            CHECK(scan->ranges.size() < 15);  // many steps at once, once it is known what rules read
        }
    }
}

TEST_CASE("joint_scan: rules that do not look at the first steps, nor at the last ones") {
    const memory_trial run = run_of(40);
    const auto scan = std::make_shared<noting_scan>(run);
    const auto found = beside(scan, run, {.common = {.start_step = 10, .end_step = 20}});
    CHECK(found.front().outcome.met_at.size() == 10);
    CHECK(scan->ranges.front().begin == 10);
    CHECK(scan->ranges.back().end == 20);
}

TEST_CASE("joint_scan: if it fails on the second thread, rules read on their own") {
    const memory_trial run = run_of(40);
    const auto scan = std::make_shared<noting_scan>(run);
    invoke_rules_options how;
    how.on_step = [&](step_number) { scan->fails = true; };
    CHECK(beside(scan, run, how).front().outcome.met_at.size() == 31);
}
