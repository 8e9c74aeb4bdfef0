// What goes wrong in a training: exceptions, steps that are abandoned or lost, rules that fail, misspelt names.
#include <smdebug/hook/hook.hpp>

#include "hook/hook_fixture.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include <support/faulty_storage.hpp>
#include "support/test.hpp"

using namespace std::literals;
namespace smd = smdebug;
using namespace smdebug_test::hooks;
using smd::memory_storage;

TEST_CASE(
    "hook: an iteration that an exception of its own keeps from its end can be abandoned, and is not mixed with "
    "another") {
    memory_storage store;
    memory_hook hook{store, everything()};
    std::vector<smd::step_number> ended;
    const auto rule = std::make_shared<scripted_observer>();
    rule->ends = [&](const smd::hook_step& step) { ended.push_back(step.step); };
    hook.add_observer(rule);
    hook.set_mode(smd::mode::train);
    for (int step = 0; step < 6; ++step) {
        try {
            hook.save_tensor("a", std::vector<float>{static_cast<float>(step)});
            if (step == 2) {
                throw std::runtime_error("out of memory");
            }
            if (step == 4) {
                hook.save_tensor("", one);
            }
            hook.save_tensor("b", std::vector<float>{static_cast<float>(step)});
            hook.end_step();
        } catch (const std::exception&) {
            hook.abandon_step();
        }
    }
    CHECK(hook.step() == 6);
    CHECK(hook.mode_step() == 6);
    CHECK(hook.counters().lost_steps == 2);
    CHECK(hook.counters().last_loss == "step 4 is lost: it was abandoned");
    CHECK(ended == std::vector<smd::step_number>{0, 1, 3, 5});
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 1, 3, 5});
    for (const smd::step_number step : run.steps()) {
        CHECK(run.tensor("a").value<float>(step)(0) == static_cast<float>(step));
        CHECK(run.tensor("b").value<float>(step)(0) == static_cast<float>(step));
    }
    CHECK_THROWS_AS(hook.abandon_step(), smd::unsupported);
}

TEST_CASE("hook: a step that has ended is not abandoned once more, whatever its end threw") {
    const smdebug_test::faulty_storage store;
    smd::basic_hook<smdebug_test::faulty_storage> hook{store, everything()};
    for (int step = 0; step < 5; ++step) {
        try {
            if (step == 1 || step == 3) {
                store.plan({.first = 0, .only = "commit events/"});
            }
            hook.save_tensor("a", std::vector<float>{static_cast<float>(step)});
            hook.end_step();
        } catch (const smd::unavailable&) {
            hook.abandon_step();
        }
        CHECK(hook.step() == step + 1);
    }
    CHECK(hook.counters().lost_steps == 2);
    hook.abandon_step();  // an iteration that saved nothing is one, too
    CHECK(hook.step() == 6);
    CHECK(hook.counters().lost_steps == 2);
    hook.close();
    CHECK(smd::basic_trial{store.objects()}.steps() == std::vector<smd::step_number>{0, 2, 4});
}

TEST_CASE("hook: a step that was to hold everything, and was abandoned, leaves that to the next one") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 100}}};
    hook.end_step();
    hook.save_everything_next_step();
    CHECK(hook.should_save("w"));
    hook.abandon_step();
    CHECK(hook.save_tensor("w", one));
    hook.end_step();
    CHECK_FALSE(hook.save_tensor("w", one));
    hook.close();
    CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{2});
}

TEST_CASE("hook: a name that is for saved reductions is refused, and costs nothing but itself") {
    memory_storage store;
    memory_hook hook{store, everything()};
    hook.save_tensor("a", one);
    CHECK_THROWS_AS(hook.save_tensor("smdebug/reductions/mean/a", one), smd::value_error);
    CHECK_THROWS_AS(hook.save_tensor("smdebug/reductions/x", one, {"mine"}), smd::value_error);
    CHECK_THROWS_AS(hook.save_scalar("smdebug/reductions/mean/a", 1), smd::value_error);
    hook.end_step();
    hook.close();
    CHECK(smd::basic_trial{store}.tensor_names() == std::vector<std::string>{"a"});
    CHECK(hook.counters().lost_steps == 0);
}

TEST_CASE("hook: a shape in braces is a shape, whatever its numbers") {
    memory_storage store;
    memory_hook hook{store, everything()};
    const std::vector<float> none;
    CHECK(hook.save_tensor("empty", none, {0}));
    CHECK(hook.save_tensor("empty 2", none, {0, 0}));
    CHECK(hook.save_tensor("square", std::vector<float>{1, 2, 3, 4}, {2, 2}, {"mine"}));
    CHECK(hook.save_tensor("scalar", one, smd::shape_type{}));
    CHECK(hook.save_tensor("flat", one, {"mine"}));
    CHECK(hook.save_tensor("flat 2", one, {"mine", "yours"}));
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.tensor("empty").shape(0) == smd::shape_type{0});
    CHECK(run.tensor("empty 2").shape(0) == smd::shape_type{0, 0});
    CHECK(run.tensor("scalar").shape(0).empty());
    CHECK(run.tensor("flat 2").shape(0) == smd::shape_type{1});
    CHECK(run.tensor_names({.collection = "mine"}) == std::vector<std::string>{"flat", "flat 2", "square"});
}

TEST_CASE("hook: says that nothing was taken of what has no reductions") {
    memory_storage store;
    smd::hook_options options = everything();
    options.reduction_config = smd::reduction_config{.reductions = {"mean"}};
    memory_hook hook{store, options};
    const std::array texts{"a"sv};
    CHECK_FALSE(hook.save_tensor("texts", std::span<const std::string_view>{texts}, {1}));
    CHECK_FALSE(hook.save_tensor("complex", std::vector<std::complex<float>>{{1, 2}}));
    CHECK(hook.save_tensor("float", one));
    hook.end_step();
    CHECK(hook.counters().tensors == 1);
}

TEST_CASE("hook: a step is over, and observers are notified, whatever one of them throws") {
    memory_storage store;
    memory_hook hook{store, everything()};
    smd::step_number last_ended = -1;
    const auto rule = std::make_shared<scripted_observer>();
    rule->wants_step = [](const smd::hook_step& step) {
        return step.step == 1 ? throw std::runtime_error("the rule is sick") : true;
    };
    rule->ends = [&](const smd::hook_step& step) { last_ended = step.step; };
    hook.add_observer(rule);
    hook.save_tensor("a", one);
    hook.end_step();
    CHECK_THROWS_WITH(hook.end_step(), "the rule is sick");
    CHECK(hook.step() == 2);
    hook.save_tensor("b", one);
    hook.close();  // ends the current step, and notifies observers
    CHECK(last_ended == 2);
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 2});
    CHECK(run.tensor_names({.step = 2}) == std::vector<std::string>{"b"});
}

TEST_CASE("hook: a step that is lost in the background before it has ended is counted once, and no other is") {
    const smdebug_test::faulty_storage store;
    smd::hook_options options = everything();
    options.background.pool_bytes = std::size_t{2} << 20U;
    options.on_failure = smd::failure_policy::drop;
    smd::basic_hook<smdebug_test::faulty_storage> hook{store, options};
    hook.save_tensor("a", one);
    hook.end_step();
    hook.flush();
    store.plan({.first = 0, .count = 1, .only = "create events/"});
    hook.save_tensor("large", std::vector<float>(1'000'000));
    hook.flush();
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().steps == 1);
    CHECK_FALSE(hook.save_tensor("more of it", one));
    hook.end_step();
    hook.save_tensor("b", one);
    hook.end_step();
    hook.close();
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().steps == 2);
    CHECK(smd::basic_trial{store.objects()}.steps() == std::vector<smd::step_number>{0, 2});
}
