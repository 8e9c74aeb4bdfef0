#include <smdebug/rules/built_in/stalled_training.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::stalled_training;
using std::chrono::milliseconds;
using std::chrono::seconds;
using time_point = std::chrono::steady_clock::time_point;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A clock that only changes when it is set.
class hand_clock {
public:
    void at(int second) { *now_ = time_point{seconds{1000 + second}}; }
    [[nodiscard]] std::function<time_point()> reader() const {
        return [now = now_] { return *now; };
    }

private:
    std::shared_ptr<time_point> now_ = std::make_shared<time_point>(seconds{1000});
};

/// A run that has saved a step, and goes on, or has ended.
memory_trial one_step(bool ended) {
    return memory_trial{small_store({{"loss", {{0, {1}}}}}, saves_of::values, ended, {})};
}

static_assert(described_rule<stalled_training> && checked_rule<stalled_training>);
static_assert(rule<stalled_training, trial> && rule<stalled_training, memory_trial>);
static_assert(polled_rule<stalled_training, trial> && polled_rule<stalled_training, memory_trial>);

// Near misses of polled_rule.
struct not_polled {
    finding operator()(const trial& /*run*/, step_number /*step*/) const { return {}; }
};
struct no_start : not_polled {
    std::optional<finding> while_waiting(const trial& /*run*/) { return {}; }
    milliseconds poll_interval() const { return milliseconds{1}; }
};
struct bare_finding : not_polled {
    void start() {}
    finding while_waiting(const trial& /*run*/) { return {}; }
    milliseconds poll_interval() const { return milliseconds{1}; }
};
struct interval_of_seconds : not_polled {
    void start() {}
    std::optional<finding> while_waiting(const trial& /*run*/) { return {}; }
    seconds poll_interval() const { return seconds{1}; }
};
static_assert(!polled_rule<not_polled, trial> && !polled_rule<no_start, trial>);
static_assert(!polled_rule<bare_finding, trial> && !polled_rule<interval_of_seconds, trial>);

}  // namespace

TEST_CASE("stalled_training: fires once the last new step is longer ago than the specification's example says") {
    hand_clock time;
    stalled_training rule{.threshold = 60, .clock = time.reader()};
    const memory_trial run = one_step(false);
    rule.start();
    time.at(10);
    CHECK(rule(run, 0).empty());
    time.at(65);
    CHECK_FALSE(rule.while_waiting(run));
    time.at(70);
    CHECK_FALSE(rule.while_waiting(run));  // at the threshold
    time.at(71);
    const auto found = rule.while_waiting(run);
    REQUIRE(found);
    CHECK(found->met);
    CHECK(found->step == 0);
    CHECK(found->value == 61);
    CHECK(found->threshold == 60);
    CHECK(found->message == "nothing new was saved for 61 seconds, since step 0; more than 60 count as a stall");
}

TEST_CASE("stalled_training: a run that has ended never stalls") {
    hand_clock time;
    stalled_training rule{.threshold = 60, .clock = time.reader()};
    const memory_trial run = one_step(true);
    rule.start();
    CHECK(rule(run, 0).empty());
    time.at(50);
    CHECK_FALSE(rule.while_waiting(run));
    time.at(5000);
    CHECK_FALSE(rule.while_waiting(run));
}

TEST_CASE("stalled_training: each stall is reported once, and a new step ends it") {
    hand_clock time;
    stalled_training rule{.threshold = 60, .clock = time.reader()};
    const memory_trial run = one_step(false);
    rule.start();
    time.at(61);
    const auto first = rule.while_waiting(run);
    REQUIRE(first);
    CHECK(first->step == -1);  // before any step
    CHECK(first->message == "nothing new was saved for 61 seconds; more than 60 count as a stall");
    time.at(500);
    CHECK_FALSE(rule.while_waiting(run));
    CHECK(rule(run, 7).empty());
    time.at(560);
    CHECK_FALSE(rule.while_waiting(run));
    time.at(561);
    const auto second = rule.while_waiting(run);
    REQUIRE(second);
    CHECK(second->step == 7);
    rule.start();
    CHECK_FALSE(rule.while_waiting(run));
    time.at(700);
    CHECK(rule.while_waiting(run)->step == -1);
}

TEST_CASE("stalled_training: without a start time counts from the first call") {
    hand_clock time;
    time.at(100000);
    stalled_training rule{.threshold = 60, .clock = time.reader()};
    const memory_trial run = one_step(false);
    CHECK_FALSE(rule.while_waiting(run));
    time.at(100061);
    CHECK(rule.while_waiting(run));
    const stalled_training by_default;
    CHECK(by_default.clock().time_since_epoch().count() > 0);
}

TEST_CASE("stalled_training: a walk over the steps of a run finds nothing, and a run in storage says when it ended") {
    hand_clock time;
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 3, .tensors = {tensor_of<float>("loss", {1})}});
    build.step({.step = 8, .tensors = {tensor_of<float>("loss", {1})}});
    stalled_training rule{.threshold = 60, .clock = time.reader()};
    const memory_trial running{store};
    rule.start();
    CHECK(invoke_rule(rule, running, {.timeout = milliseconds{0}}).findings.empty());
    time.at(61);
    const auto found = rule.while_waiting(running);
    REQUIRE(found);
    CHECK(found->step == 8);
    build.end();
    const memory_trial ended{store};
    CHECK(invoke_rule(rule, ended).findings.empty());
    time.at(5000);
    CHECK_FALSE(rule.while_waiting(ended));
}

TEST_CASE("stalled_training: is polled while a driver waits for a step that does not come") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 3, .tensors = {tensor_of<float>("loss", {1})}});
    const auto ticks = std::make_shared<int>(0);  // a clock that advances by a second with each reading
    const stalled_training rule{.threshold = 0.5, .clock = [ticks] { return time_point{seconds{++*ticks}}; }};
    const auto outcome = invoke_rule(stalled_training{rule}, memory_trial{store}, {.stop_at_first = true});
    CHECK(outcome.end == invoke_end::first_finding);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].step == 3);
    CHECK(outcome.findings[0].value == 1);
    build.end();
    CHECK(invoke_rule(stalled_training{rule}, memory_trial{store}).findings.empty());
}

TEST_CASE("stalled_training: is polled ten times in its threshold, within reason") {
    struct row {
        double threshold;
        int interval_ms;
    };
    for (const row& each :
         {row{1800, 5000}, {20, 2000}, {0.5, 50}, {0.01, 10}, {0, 10}, {inf, 5000}, {not_a_number, 10}}) {
        CAPTURE(each.threshold);
        CHECK(stalled_training{.threshold = each.threshold}.poll_interval() == milliseconds{each.interval_ms});
    }
}

TEST_CASE("stalled_training: requests a stop only if configured, and names the job") {
    CHECK_FALSE(stalled_training{}.stop_request());
    CHECK_FALSE(stalled_training{.training_job_name_prefix = "job"}.stop_request());
    CHECK_FALSE(stalled_training{.stop_training_on_fire = true}.stop_request());
    CHECK(stalled_training{.stop_training_on_fire = true, .training_job_name_prefix = "job"}.stop_request() == "job");
}

TEST_CASE("stalled_training: refuses settings that make no sense") {
    CHECK_NOTHROW(stalled_training{}.check());
    CHECK_NOTHROW((stalled_training{.stop_training_on_fire = true, .training_job_name_prefix = "job"}.check()));
    CHECK_THROWS_AS(stalled_training{.threshold = -1}.check(), value_error);
    CHECK_THROWS_AS(stalled_training{.threshold = not_a_number}.check(), value_error);
    CHECK(thrown_code([&] { static_cast<void>(stalled_training{.stop_training_on_fire = true}.check()); }) ==
          error_code::insufficient_information);
}
