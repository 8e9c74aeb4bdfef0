#include <smdebug/watch/watch.hpp>

#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

// A watcher, driven as by a hook.
template <class Callback, class... Rules>
auto watcher_of(watch_options how, Callback callback, Rules... rules) {
    const hook_options watched;  // named: with a temporary g++ 12 has an internal error
    std::vector<std::shared_ptr<detail::rule_watcher::watched_rule>> all;
    (all.push_back(std::make_shared<detail::held_rule<Rules, trial>>(std::move(rules))), ...);
    return std::make_shared<detail::rule_watcher>(watched, std::move(how), detail::any_kernel{scalar_kernel{}},
                                                  std::move(callback), std::move(all));
}

void show(hook_observer& who, std::string_view name, double value) {
    const std::array<std::size_t, 1> shape{1};
    const std::array values{value};
    if (who.wants(name)) {
        who.see(name, view_of(values, shape, name), {});
    }
}

// Whether the watcher wants the step.
bool one_step(hook_observer& who, step_number step, double value, mode in = mode::global) {
    const bool wanted = who.wants({.step = step, .mode = in, .mode_step = step});
    if (wanted) {
        show(who, "w", value);
    }
    who.end_step({.step = step, .mode = in, .mode_step = step});
    return wanted;
}

struct named {
    [[nodiscard]] static std::string name() { return "my_rule"; }
    finding operator()(const readable_trial auto& run, step_number step) const {
        const double value = run.tensor("w").reduction_value(step, reduction::max);
        return {.met = value > 1, .value = value, .message = "w is " + std::to_string(static_cast<int>(value))};
    }
};

}  // namespace

TEST_CASE("watcher: wants the steps that are due, asked as often as may be") {
    const auto who = watcher_of(
        {.save_config = {.save_interval = 10,
                         .save_steps = {3},
                         .modes = {{mode::eval, {.save_interval = 4, .start_step = 8}}}}},
        [](const watched_finding&) {}, named{});
    for (int again = 0; again < 2; ++again) {
        CHECK(who->wants({.step = 3, .mode_step = 3}));
        CHECK(who->wants({.step = 10, .mode = mode::train, .mode_step = 10}));
        CHECK_FALSE(who->wants({.step = 10, .mode = mode::train, .mode_step = 4}));
        CHECK_FALSE(who->wants({.step = 11, .mode = mode::eval, .mode_step = 4}));
        CHECK(who->wants({.step = 11, .mode = mode::eval, .mode_step = 8}));
    }
}

TEST_CASE("watcher: findings come with the rule's name and their place, in the order of the rules") {
    std::vector<std::string> told;
    const auto note = [&](const watched_finding& found) {
        told.push_back(std::string{found.rule} + " " + std::to_string(found.step) + " " +
                       std::string{name_of(found.mode)} + " " + std::to_string(found.mode_step) + " " +
                       found.what.message);
    };
    const auto who = watcher_of({.on_note = note}, note, named{},
                                [](const readable_trial auto&, step_number) -> std::vector<finding> {
                                    return {{.met = true, .message = "a"}, {}, {.met = true, .message = "b"}};
                                });
    one_step(*who, 4, 2, mode::predict);
    one_step(*who, 5, 0);
    CHECK(told == std::vector<std::string>{"my_rule 4 PREDICT 4 w is 2", "rule 4 PREDICT 4 a", "rule 4 PREDICT 4 b",
                                           "my_rule 5 GLOBAL 5 w is 0", "rule 5 GLOBAL 5 a", "rule 5 GLOBAL 5 b"});
    CHECK(who->counters().steps == 2);
    CHECK(who->counters().evaluated == 4);
    CHECK(who->counters().findings == 5);
    CHECK(who->counters().notes == 1);
}

TEST_CASE("watcher: a step in which nothing was seen is not looked at") {
    const auto who = watcher_of(
        {.include_regex = {"^v$"}}, [](const watched_finding&) {}, named{});
    CHECK(one_step(*who, 0, 1));
    CHECK(who->counters().steps == 0);
    CHECK(who->counters().evaluated == 0);
}

TEST_CASE("watcher: a rule that lacks data is not evaluated, and reported by name; other errors are passed on") {
    std::vector<std::string> skipped;
    const auto who = watcher_of(
        {.on_skip = [&](std::string_view rule, step_number step,
                        const error&) { skipped.push_back(std::string{rule} + " " + std::to_string(step)); }},
        [](const watched_finding&) {}, named{},
        [](const readable_trial auto& run, step_number step) -> finding {
            if (step == 2) {
                throw value_error("mine");
            }
            return {.met = run.has_tensor("w") && step == 1};
        });
    REQUIRE(who->wants({.step = 0}));
    show(*who, "v", 1);
    who->end_step({.step = 0});
    CHECK(skipped == std::vector<std::string>{"my_rule 0"});
    CHECK(who->counters().not_evaluated == 1);
    CHECK(who->counters().evaluated == 1);
    one_step(*who, 1, 1);
    CHECK_THROWS_AS(one_step(*who, 2, 1), value_error);
    one_step(*who, 3, 1);
    CHECK(who->counters().steps == 4);
    CHECK(who->counters().evaluated == 6);
    CHECK(who->counters().findings == 1);
}

TEST_CASE("watcher: a stopped one wants nothing") {
    const auto who = watcher_of(
        {}, [](const watched_finding&) {}, named{});
    one_step(*who, 0, 5);
    who->stop();
    CHECK_FALSE(who->wants({.step = 1, .mode_step = 1}));
    CHECK_FALSE(who->wants("w"));
    who->end_step({.step = 1, .mode_step = 1});
    CHECK(who->counters().findings == 1);
}
