#include <smdebug/trial/shared/scan_onlooker.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

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

/// Always looks at "a"; notes the steps.
class noting_scan final : public smdebug::detail::scan_onlooker {
public:
    [[nodiscard]] const texts& names() const noexcept override { return names_; }
    [[nodiscard]] bool begin(const step_range& steps) override {
        ranges.push_back(steps);
        last_names.clear();
        if (refuses) {
            throw std::runtime_error("no room");
        }
        return false;
    }
    void look(const smdebug::detail::scanned_tensor& tensor, const reduced_tensor& reduced) override {
        CHECK(ranges.back().contains(tensor.step));
        CHECK(reduced.reductions.computed.contains(reduction::l2));
        last_names.insert(std::string{tensor.name});
        ++scanned;
    }
    void fail(std::exception_ptr why) noexcept override { failure = std::move(why); }

    std::vector<step_range> ranges;
    std::set<std::string> last_names;
    std::size_t scanned = 0;
    std::atomic<bool> refuses = false;
    std::exception_ptr failure;

private:
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

TEST_CASE("scan_onlooker: rules request consecutive ranges, and find the same as with their own scan") {
    const memory_trial run = run_of(40);
    const auto alone = invoke_rules(run, {}, low_mean{});
    for (const bool ahead : {true, false}) {
        const auto scan = std::make_shared<noting_scan>();
        const auto found = beside(scan, run, {.sharing = {.look_ahead = ahead}});
        CHECK(found.front().outcome.met_at == alone.front().outcome.met_at);
        CHECK(found.front().outcome.met_at.size() == 31);
        step_number next = 0;
        for (const step_range& each : scan->ranges) {
            CHECK(each.begin == next);
            next = each.end.value_or(-1);
        }
        CHECK(next == 40);
        CHECK(scan->last_names == std::set<std::string>{"a", "b"});
        CHECK(scan->failure == nullptr);
        CHECK(scan->scanned >= 78);  // "b" is unknown before rules have used it
        if (ahead) {
            CHECK(scan->ranges.size() < 25);  // two steps at once, once it is known what rules read
        }
    }
}

TEST_CASE("scan_onlooker: rules that do not look at the first steps, nor at the last ones") {
    const memory_trial run = run_of(40);
    const auto scan = std::make_shared<noting_scan>();
    const auto found = beside(scan, run, {.common = {.start_step = 10, .end_step = 20}});
    CHECK(found.front().outcome.met_at.size() == 10);
    CHECK(scan->ranges.front().begin == 10);
    CHECK(scan->ranges.back().end == 20);
}

TEST_CASE("scan_onlooker: where it refuses a scan on the second thread, rules read on their own") {
    const memory_trial run = run_of(40);
    const auto scan = std::make_shared<noting_scan>();
    invoke_rules_options how;
    how.on_step = [&](step_number) { scan->refuses = true; };
    CHECK(beside(scan, run, how).front().outcome.met_at.size() == 31);
    CHECK(scan->failure != nullptr);
}
