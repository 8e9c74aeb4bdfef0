#include <smdebug/trial/trial_access.hpp>
#include <smdebug/watch/watch.hpp>

#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/xtensor.hpp>

#include "watch/watch_fixture.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::watches;

namespace {

// Reports at each step how much "w" has grown since an earlier one.
struct grown_since {
    step_number by;
    finding operator()(const readable_trial auto& run, step_number step) const {
        const auto w = run.tensor("w");
        return {.met = true,
                .value = w.reduction_value(step, reduction::mean) - w.reduction_value(step - by, reduction::mean)};
    }
};

// Requires "w", at the step or after it.
struct needy {
    std::size_t* calls;
    step_number ahead;
    template <class Trial>
    void require(const Trial&, step_number step, required_tensors<Trial>& required) const {
        required.add("w", {step + ahead});
    }
    finding operator()(const readable_trial auto&, step_number) const {
        ++*calls;
        return {};
    }
};

// One parameter, trained by gradient descent on x^2 with a learning rate that makes it diverge or vanish.
struct miniature {
    float x = 1;
    float gradient = 0;
    float learning_rate = 0;

    template <class Hook>
    void step(Hook& hook) {
        gradient = 2 * x;
        x -= learning_rate * gradient;
        hook.save_tensor("gradient/x", std::vector<float>{gradient, -gradient});
        hook.save_tensor("x.weight", std::vector<float>{x, x, x});
        hook.save_scalar("loss", x * x);
        hook.end_step();
    }
};

}  // namespace

TEST_CASE("watch: rules find in the training process what they find in a run, at the same steps") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    std::vector<noted> found;
    const auto watching =
        watch(hook, {.save_config = {.save_interval = 10}}, into(found), rules::vanishing_gradient{},
              rules::exploding_tensor{}, [](const readable_trial auto& run, step_number step) -> finding {
                  const double loss = run.tensor("scalar/loss").reduction_value(step, reduction::max);
                  return {.met = loss > 100, .tensor = "scalar/loss", .value = loss, .threshold = 100};
              });
    miniature training{.learning_rate = 0.4F};  // each step leaves a fifth of x
    for (int step = 0; step < 40; ++step) {
        training.learning_rate = step < 25 ? 0.4F : -1e4F;  // until it explodes
        training.step(hook);
    }
    hook.close();
    CHECK(watching->counters().steps == 4);
    CHECK(watching->counters().evaluated == 12);
    CHECK(watching->counters().not_evaluated == 0);
    CHECK(watching->counters().findings == found.size());

    const run_in_memory run{store};
    std::vector<noted> expected;
    const auto expect = [&](auto rule, std::string name) {
        for (const step_number step : {0, 10, 20, 30}) {
            for (const finding& one : held_rule<decltype(rule)&, run_in_memory>{rule}.evaluate(run, step)) {
                expected.push_back({name, one, step});
            }
        }
    };
    expect(rules::vanishing_gradient{}, "vanishing_gradient");
    expect(rules::exploding_tensor{}, "exploding_tensor");
    REQUIRE_FALSE(expected.empty());
    for (const noted& one : expected) {
        CAPTURE(one.step);
        const auto same = std::find_if(found.begin(), found.end(), [&](const noted& other) {
            return other.rule == one.rule && other.step == one.step && other.what.tensor == one.what.tensor;
        });
        REQUIRE(same != found.end());
        CHECK(same->what.message == one.what.message);
        CHECK(same->what.worker == "worker_0");
    }
    CHECK(found.front().rule == "vanishing_gradient");
    CHECK(found.front().step == 20);
    CHECK(found.front().what.value < 1e-7);
    CHECK(found.back().rule == "rule");
    CHECK(found.back().step == 30);
}

TEST_CASE("watch: the callback stops the training, slows it down, or has the next step saved whole") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1000}}};
    bool stop = false;
    miniature training{.learning_rate = 2};  // x grows threefold
    const auto grows = [last = 1.0](const readable_trial auto& run, step_number step) mutable -> finding {
        const double now = run.tensor("scalar/loss").reduction_value(step, reduction::max);
        const double before = std::exchange(last, now);
        return {.met = now > 5 * before, .value = now, .threshold = before};
    };
    watch(
        hook,
        [&](const watched_finding& found) {
            hook.save_everything_next_step();
            training.learning_rate /= 8;
            stop = found.step >= 5;
        },
        grows);
    int steps = 0;
    for (; steps < 20 && !stop; ++steps) {
        training.step(hook);
        if (steps == 4) {
            training.learning_rate = 2;
        }
    }
    hook.close();
    CHECK(training.learning_rate == 0.25F);
    CHECK(steps == 6);
    const run_in_memory run{store};
    CHECK(run.tensor("x.weight").steps() == steps_list{1});
    CHECK(run.tensor("gradient/x").steps() == steps_list{1});
}

TEST_CASE("watch: tensors that rules need are due though nothing is due on disk, and no disk is touched") {
    memory_storage store;
    memory_hook hook{store, nothing_on_disk()};
    hook.end_step();
    CHECK_FALSE(hook.should_save("w"));
    std::vector<noted> found;
    watch(hook, {.save_config = {.save_interval = 2}, .include_regex = {"^w$"}}, into(found), mean_of_w);
    for (int step = 1; step < 6; ++step) {
        CHECK(hook.should_save("w") == (step % 2 == 0));
        CHECK_FALSE(hook.should_save("v"));
        CHECK(hook.save_tensor("w", std::vector<float>{1, 2, static_cast<float>(step)}) == (step % 2 == 0));
        CHECK_FALSE(hook.save_tensor("v", std::vector<float>{1}));
        hook.end_step();
    }
    hook.close();
    CHECK(steps_of(found) == steps_list{2, 4});
    CHECK(found[1].what.value == doctest::Approx(7.0 / 3));
    CHECK(store.list("", "").empty());
}

TEST_CASE("watch: a worker that writes nothing is watched all the same, and findings name it") {
    memory_storage store;
    memory_hook hook{store, {.save_all = true, .worker = "worker_1", .num_workers = 2}};
    std::vector<noted> found;
    watch(hook, into(found), rules::exploding_tensor{});
    CHECK(hook.should_save("w"));
    hook.save_tensor("w", std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()});
    hook.end_step();
    REQUIRE(found.size() == 1);
    CHECK(found[0].what.worker == "worker_1");
    CHECK(found[0].what.tensor == "w");
    CHECK(store.list("", "").empty());
}

TEST_CASE("watch: several watchers look at steps and tensors of their own") {
    memory_hook hook{{}, nothing_on_disk()};
    std::vector<noted> of_w;
    std::vector<noted> of_all;
    const auto count = [](const readable_trial auto& run, step_number step) -> finding {
        return {.met = true, .value = static_cast<double>(run.tensor_names({.step = step}).size())};
    };
    watch(hook, {.save_config = {.save_interval = 2}, .include_regex = {"^w"}}, into(of_w), count);
    watch(hook, {.save_config = {.save_interval = 3}}, into(of_all), count);
    for (int step = 0; step < 7; ++step) {
        hook.save_tensor("w", std::vector<float>{1});
        hook.save_tensor("v", std::vector<float>{1});
        hook.save_scalar("s", 1);
        hook.end_step();
    }
    CHECK(steps_of(of_w) == steps_list{0, 2, 4, 6});
    CHECK(steps_of(of_all) == steps_list{0, 3, 6});
    CHECK(of_w[1].what.value == 1);
    CHECK(of_all[1].what.value == 3);
}

TEST_CASE("watch: a rule looks back as far as steps are kept, and is not asked to wait for others") {
    memory_hook hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    std::vector<std::string> why;
    const auto watching = watch(hook,
                                {.keep_steps = 4,
                                 .on_skip = [&](std::string_view, step_number,
                                                const error& missing) { why.emplace_back(missing.python_name()); }},
                                into(found), grown_since{3}, grown_since{5}, grown_since{-1});
    for (int step = 0; step < 10; ++step) {
        hook.save_tensor("w", std::vector<float>{static_cast<float>(step * step)});
        hook.end_step();
    }
    CHECK(steps_of(found) == steps_list{3, 4, 5, 6, 7, 8, 9});
    CHECK(found.back().what.value == 81 - 36);
    CHECK(watching->counters().evaluated == 7);
    CHECK(watching->counters().not_evaluated == 23);
    CHECK(std::count(why.begin(), why.end(), "StepNotYetAvailable") == 10);
    CHECK(std::count(why.begin(), why.end(), "StepUnavailable") == 13);
}

TEST_CASE("watch: a rule is not called without the tensors that it requires") {
    memory_hook hook{{}, nothing_on_disk()};
    std::size_t calls = 0;
    std::size_t calls_ahead = 0;
    std::vector<noted> found;
    const auto watching = watch(hook, into(found), needy{&calls, 0}, needy{&calls_ahead, 1});
    for (int step = 0; step < 6; ++step) {
        hook.save_tensor(step % 2 == 0 ? "w" : "v", std::vector<float>{1});
        hook.end_step();
    }
    CHECK(calls == 3);
    CHECK(calls_ahead == 0);
    CHECK(watching->counters().steps == 6);
    CHECK(watching->counters().evaluated == 3);
    CHECK(watching->counters().not_evaluated == 9);
}

TEST_CASE("watch: modes have their own steps, and findings say which") {
    memory_hook hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    watch(hook, {.save_config = {.save_interval = 2, .modes = {{mode::eval, {.save_interval = 1}}}}}, into(found),
          [](const readable_trial auto& run, step_number step) -> finding {
              return {.met = true, .value = static_cast<double>(run.tensor_names({.step = step}).size())};
          });
    for (int epoch = 0; epoch < 2; ++epoch) {
        hook.set_mode(mode::train);
        for (int step = 0; step < 3; ++step) {
            hook.save_tensor("gradient/w", std::vector<float>{0});
            hook.save_tensor("w", std::vector<float>{0});
            hook.end_step();
        }
        hook.set_mode(mode::eval);
        CHECK_FALSE(hook.should_save("gradient/w"));
        hook.save_tensor("gradient/w", std::vector<float>{0});  // left from the training
        hook.save_tensor("w", std::vector<float>{0});
        hook.end_step();
    }
    CHECK(steps_of(found) == steps_list{0, 2, 3, 5, 7});
    CHECK(found[1].mode == mode::train);
    CHECK(found[1].mode_step == 2);
    CHECK(found[1].what.value == 2);
    CHECK(found[2].mode == mode::eval);
    CHECK(found[2].mode_step == 0);
    CHECK(found[2].what.value == 1);
    CHECK(found[3].mode_step == 4);
    CHECK(found[4].mode_step == 1);
}

TEST_CASE("watch: set_step() forth and back is followed") {
    memory_hook hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    watch(hook, into(found), [](const readable_trial auto& run, step_number) -> finding {
        return {.met = true, .value = static_cast<double>(run.steps(steps_options{}).size())};
    });
    for (const step_number step : {0, 100, 101, 50, 51}) {
        hook.set_step(step);
        hook.save_tensor("w", std::vector<float>{0});
        hook.end_step();
    }
    CHECK(steps_of(found) == steps_list{0, 100, 101, 50, 51});
    CHECK(found[2].what.value == 3);
    CHECK(found[3].what.value == 2);
    CHECK(found[4].what.value == 3);
}

TEST_CASE("watch: notes are separate from findings") {
    memory_hook hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    std::vector<noted> notes;
    const auto watching =
        watch(hook, {.reduction_config = reduction_config{.reductions = {"min"}}, .on_note = into(notes)}, into(found),
              rules::exploding_tensor{});
    hook.save_tensor("w", std::vector<float>{1});
    hook.end_step();
    CHECK(found.empty());
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].what.tensor == "w");
    CHECK(watching->counters().notes == 1);
    CHECK(watching->counters().evaluated == 1);
}

namespace {

// Returns a maximum that no other kernel would.
struct doubling_kernel {
    [[nodiscard]] static std::string name() { return "doubling"; }
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        result<reduction_values> found = scalar_kernel{}.reduce(tensor, wanted);
        if (found) {
            found->value[reduction_key{reduction::max, false}.index()] *= 2;
        }
        return found;
    }
};

}  // namespace

TEST_CASE("watch: rules are called with a trial of the hook's kernel") {
    basic_hook<memory_storage, doubling_kernel> hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    watch(hook, into(found), [](const trial& run, step_number step) -> finding {
        return {.met = run.tensor("w").value<float>(step)(1) == 2,
                .value = run.tensor("w").reduction_value(step, reduction::max)};
    });
    hook.save_tensor("w", std::vector<float>{1, 2});
    hook.end_step();
    REQUIRE(found.size() == 1);
    CHECK(found[0].what.met);
    CHECK(found[0].what.value == 4);
}

namespace {

// Counts reductions.
struct counting_kernel {
    static inline std::size_t reduced = 0;
    [[nodiscard]] static std::string name() { return "counting"; }
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        ++reduced;
        return scalar_kernel{}.reduce(tensor, wanted);
    }
};

}  // namespace

TEST_CASE("watch: rules share the trial, as those of invoke_rules do: a tensor is reduced once a step") {
    basic_hook<memory_storage, counting_kernel> hook{{}, nothing_on_disk()};
    std::vector<noted> found;
    const auto rule = [](const trial& run, step_number step) -> finding {
        const read_options where{.worker = run.workers(step).front()};
        const auto w = run.tensor("w");
        CHECK(trial_access::remembers_measures(w));
        return {.met = true,
                .value = w.reduction_value(step, reduction::max, {.worker = where.worker}) +
                         w.reduction_value(step, reduction::min, {.worker = where.worker})};
    };
    watch(hook, into(found), rule, rule, rule);
    for (int step = 0; step < 50; ++step) {
        hook.save_tensor("w", std::vector<float>{static_cast<float>(step), 2});
        hook.end_step();
    }
    REQUIRE(found.size() == 150);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].what.value == static_cast<double>(i / 3) + 2);
    }
    CHECK(counting_kernel::reduced == 50);
}
