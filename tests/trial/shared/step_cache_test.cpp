#include <smdebug/trial/shared/step_cache.hpp>

#include "support/counting_storage.hpp"
#include "support/look_up.hpp"
#include "support/odd_runs.hpp"
#include "support/run_builder.hpp"
#include "support/sanitized.hpp"
#include "support/shared_trial.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;
using counting_trial = basic_trial<counting_storage<>>;

namespace {

float first_element(const auto& tensor, step_number step) {
    const auto found = tensor.find_value(step, value_options{.worker = "worker_0"});
    return found->template elements<float>()[0];
}

static_assert(readable_trial<memory_trial> && smdebug::detail::shareable_trial<memory_trial> &&
              smdebug::detail::shareable_trial<trial>);

// A rule may name the trial's type, or deduce its storage.
static_assert(rule<decltype([](const memory_trial&, step_number) { return finding{}; }), memory_trial> &&
              rule<decltype([]<class S>(const basic_trial<S>&, step_number) { return finding{}; }), memory_trial>);

/// An answer, or why there is none, as text: NaN equals NaN here.
std::string words(const smdebug::lookup_error& why) {
    return "no: " + std::to_string(static_cast<int>(why.why)) + " " + std::to_string(static_cast<int>(why.damage)) +
           " " + std::to_string(why.offset) + " " + why.where + " " + why.note + (why.has_reductions ? " r" : "");
}
std::string words(const lookup<double>& found) {
    return found ? std::to_string(std::bit_cast<std::uint64_t>(*found)) : words(found.error());
}
std::string words(const lookup<reduction_values>& found) {
    return found ? std::to_string(found->count) + " " + std::to_string(found->nan) + " " +
                       std::to_string(found->pos_inf) + " " + std::to_string(found->neg_inf) + " " +
                       std::to_string(found->zeros)
                 : words(found.error());
}
std::string words(const lookup<tensor_value>& found) {
    if (!found) {
        return words(found.error());
    }
    std::string text = std::to_string(static_cast<int>(found->type()));
    for (const std::size_t extent : found->shape()) {
        text += " " + std::to_string(extent);
    }
    text += ": ";
    for (const std::byte each : found->bytes()) {
        text += static_cast<char>(each);
    }
    return text;
}
std::string words(const lookup<shape_type>& found) {
    if (!found) {
        return words(found.error());
    }
    std::string text = "shape";
    for (const std::size_t extent : *found) {
        text += " " + std::to_string(extent);
    }
    return text;
}

/// Everything that a handle returns at a step, with a worker, without one and with a wrong one, by step and mode step.
template <class Handle>
texts answers(const Handle& tensor, step_number step, std::optional<std::string> worker, mode in = mode::global) {
    texts all;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        const reduction_key key = reduction_key::from_index(i);
        all.push_back(key.name() + " " +
                      words(tensor.find_reduction(step, key.what, {.mode = in, .worker = worker, .abs = key.abs})));
    }
    all.push_back(words(tensor.find_computed(step, reduction_set::counts(), {.mode = in, .worker = worker})));
    all.push_back(words(tensor.find_value(step, value_options{.mode = in, .worker = worker})));
    all.push_back(words(tensor.find_shape(step, {.mode = in, .worker = worker})));
    return all;
}

/// Steps 0 to 9 of tensors "a" (8 values) and "b".
template <class Storage>
Storage ten_steps(bool ended = true) {
    Storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 10; ++step) {
        const float value = static_cast<float>(step);
        build.step(
            {.step = step,
             .tensors = {tensor_of<float>("a", {value, 1, -2, 3, 0, 5, -6, 7}), tensor_of<float>("b", {value})}});
    }
    if (ended) {
        build.end();
    }
    return store;
}

std::size_t event_reads(const texts& calls) {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
        return call.find("events/") != std::string::npos && !call.starts_with("size");
    }));
}
std::size_t listings(const texts& calls) {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
        return call.starts_with("list") || call.starts_with("entries");
    }));
}

/// Reads everything of each tensor, as several rules would.
struct greedy {
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        for (const std::string& name : run.tensor_names({.step = step})) {
            const auto tensor = run.tensor(name);
            for (const reduction what : {reduction::max, reduction::l2, reduction::variance}) {
                static_cast<void>(tensor.find_reduction(step, what, {.worker = "worker_0"}));
            }
            static_cast<void>(tensor.find_computed(step, reduction_set::counts(), {.worker = "worker_0"}));
        }
        return {};
    }
};

}  // namespace

TEST_CASE("step_cache: answers everything as the trial does, whatever the run is like, in whatever order" *
          doctest::skip(threads_sanitized)) {
    for (const odd_run& odd_one : odd_runs()) {
        INFO("run: " << odd_one.name);
        const memory_trial& run = odd_one.trial;
        shared_trial<memory_trial> shared{run};
        const auto steps = run.steps({.show_incomplete_steps = true});
        CHECK(shared.steps({.show_incomplete_steps = true}) == steps);
        std::size_t wrong = 0;
        std::map<std::tuple<std::string, step_number, std::string>, texts> known;  // reading from the trial is slow
        for (const bool again : {false, true}) {  // the second time most of it is cached
            for (const step_number step : steps) {
                shared.begin_step(step);
                CHECK(shared.tensor_names({.step = step}) == run.tensor_names({.step = step}));
                for (const std::string& name : run.tensor_names()) {
                    const auto own = run.tensor(name);
                    const auto theirs = shared.tensor(name);
                    const auto check_at = [&](step_number at, const std::string& worker) {
                        texts& expected = known[{name, at, worker}];
                        expected = expected.empty() ? answers(own, at, worker) : expected;
                        wrong += answers(theirs, at, worker) != expected ? 1U : 0U;
                    };
                    check_at(step, "worker_0");
                    check_at(step, "worker_1");
                    check_at(again ? steps.front() : step + 1, "worker_0");
                    if (!again && step <= steps.front() + 1) {
                        check_at(step, "absent");
                        wrong += answers(own, step, {}) != answers(theirs, step, {}) ? 1U : 0U;
                        wrong += answers(own, 0, {}, mode::train) != answers(theirs, 0, {}, mode::train) ? 1U : 0U;
                    }
                    CHECK(theirs.steps() == own.steps());
                    for (const mode in : {mode::global, mode::train, mode::eval}) {
                        CHECK(theirs.prev_steps(step, {.n = 2, .mode = in}) ==
                              own.prev_steps(step, {.n = 2, .mode = in}));
                    }
                }
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("step_cache: throws what the trial throws") {
    const memory_trial run{ten_steps<memory_storage>()};
    shared_trial<memory_trial> shared{run};
    shared.begin_step(3);
    CHECK_THROWS_AS(static_cast<void>(shared.tensor("nothing")), tensor_unavailable);
    const auto tensor = shared.tensor("a");
    CHECK(tensor.reduction_value(3, reduction::max, {.worker = "worker_0"}) == 7);
    CHECK(tensor.reduction_value(3, "max") == 7);
    CHECK_THROWS_AS(static_cast<void>(tensor.reduction_value(3, reduction::max, {.worker = "absent"})), invalid_worker);
    CHECK_THROWS_AS(static_cast<void>(tensor.reduction_value(99, reduction::max, {.worker = "worker_0"})),
                    step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(tensor.reduction_value(3, "median")), value_error);
    const auto own = run.tensor("a");
    CHECK(tensor.saved_reduction_values(3) == own.saved_reduction_values(3));
    CHECK(words(lookup<tensor_value>{tensor.value(3)}) == words(own.find_value(3)));
    CHECK(words(lookup<tensor_value>{tensor.value(3, {.worker = "worker_0"})}) == words(own.find_value(3)));
    CHECK_THROWS_AS(static_cast<void>(tensor.value(3, {.worker = "absent"})), invalid_worker);
    CHECK_THROWS_AS(static_cast<void>(tensor.value(99)), step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(tensor.saved_reduction_values(99)), step_unavailable);
    // Measures of any worker, and of a mode, are not cached, but correct.
    const auto elements = [](const tensor_view& values) { return values.count(); };
    const std::size_t all = own.measured(3, elements);
    CHECK(all > 0);
    CHECK(tensor.measured(3, elements) == all);
    CHECK(tensor.measured(3, elements, {.worker = "worker_0"}) == all);
    CHECK_THROWS_AS(static_cast<void>(tensor.measured(99, elements)), step_unavailable);
    const auto both = [](const tensor_view& before, const tensor_view& now) { return before.count() + now.count(); };
    CHECK(tensor.compared(2, 3, both) == 2 * all);
    CHECK(tensor.compared(2, 3, both, {.worker = "worker_0"}) == 2 * all);
    CHECK_THROWS_AS(static_cast<void>(tensor.compared(2, 99, both)), step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(shared.tensor_names({.regex = "(", .step = 3})), value_error);
    CHECK_THROWS_AS(static_cast<void>(shared.tensor_names({.regex = "(", .step = 3})), value_error);
}

TEST_CASE("step_cache: a tensor that five rules use is read once a step") {
    const auto store = ten_steps<counting_storage<>>();
    const counting_trial run{store};
    static_cast<void>(store.calls());
    const auto results = invoke_rules(run, {}, greedy{}, greedy{}, greedy{}, greedy{}, rules::exploding_tensor{});
    CHECK(results[4].outcome.evaluated == 10);
    CHECK(event_reads(store.calls()) <= 10 + 1);  // at the first step it is unknown what rules will read
    static_cast<void>(invoke_rule(greedy{}, run));
    CHECK(event_reads(store.calls()) >= 80);  // the reads that sharing saves
}

TEST_CASE("step_cache: tensors of a missing event file cost one look each, and are found when it appears") {
    memory_storage objects;
    run_builder build{objects};
    written_step step;
    for (int i = 0; i < 50; ++i) {
        step.tensors.push_back(tensor_of<float>("t" + std::to_string(i), {1, 2, 3}));
    }
    build.collections().step(step).end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer bytes = objects.read(key);
    objects.remove(key);
    counting_storage<> store{objects};
    const counting_trial run{store};
    shared_trial<counting_trial> shared{run};
    shared.begin_step(0);
    static_cast<void>(store.calls());
    const auto mean_of = [&](int i) {
        return shared.tensor("t" + std::to_string(i)).find_reduction(0, reduction::mean, {.worker = "worker_0"});
    };
    for (int i = 0; i < 50; ++i) {
        CHECK(failure_of(mean_of(i)).why == lookup_failure_kind::event_file_missing);
    }
    CHECK(store.calls().size() <= 50 + 2);
    store.write(key, bytes.view());
    for (int i = 0; i < 50; ++i) {
        CHECK(mean_of(i).has_value());
    }
}

namespace {

struct values_above {
    double limit = 0;
    double operator()(const tensor_view& values) const {
        std::size_t count = 0;
        for_each_real_block(values, [&](auto elements) {
            for (const auto each : elements) {
                count += to_double(each) > limit ? 1U : 0U;
            }
            return true;
        });
        return static_cast<double>(count);
    }
    friend bool operator==(const values_above&, const values_above&) = default;
};
struct first_change {
    double operator()(const tensor_view& earlier, const tensor_view& now) const {
        return static_cast<double>(load_le<float>(now.bytes.data())) -
               static_cast<double>(load_le<float>(earlier.bytes.data()));
    }
    friend bool operator==(const first_change&, const first_change&) = default;
};

/// Adds the results of two measures and a comparison.
struct measuring_rule {
    std::shared_ptr<double> sum = std::make_shared<double>(0);
    [[nodiscard]] finding operator()(const readable_trial auto& run, step_number step) const {
        const auto tensor = run.tensor("a");
        const read_options where{.worker = "worker_0"};
        *sum += tensor.measured(step, values_above{2}, where) + 10 * tensor.measured(step, values_above{4}, where);
        if (step > 0) {
            *sum += 100 * tensor.compared(step - 1, step, first_change{}, where);
        }
        static_cast<void>(tensor.find_reduction(step, reduction::max, {.worker = "worker_0"}));
        return {};
    }
};

/// Steps 0 to 39 of one tensor, whose first element is the step.
counting_storage<> forty_steps() {
    counting_storage<> store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 40; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {static_cast<float>(step), 1, -2, 3, 0, 5})}});
    }
    build.end();
    return store;
}

}  // namespace

TEST_CASE("step_cache: measures are computed in the pass that reduces, with the same results as for one rule alone") {
    const counting_storage<> store = forty_steps();
    const counting_trial run{store};
    const measuring_rule alone;
    static_cast<void>(store.calls());
    static_cast<void>(invoke_rule(alone, run));
    // Above 2 and above 4 of {step, 1, -2, 3, 0, 5}, and a change of 1 a step.
    CHECK(*alone.sum == 2 * 40 + 37 + 10 * (40 + 35) + 100 * 39);
    CHECK(event_reads(store.calls()) >= 4 * 40);
    const measuring_rule first;
    const measuring_rule second;
    const auto results = invoke_rules(run, {}, first, second);
    CHECK(results[0].outcome.evaluated == 40);
    CHECK(*first.sum == *alone.sum);
    CHECK(*second.sum == *alone.sum);
    // One pass over each step; values at the first ones, where it is unknown what rules will read.
    CHECK(event_reads(store.calls()) <= 40 + 14);
}

TEST_CASE("step_cache: numbers and comparisons do not depend on the thread budget, and all permits are returned") {
    const counting_storage<> store = forty_steps();
    const counting_trial run{store};
    for (const unsigned free : {0U, 1U, 2U, 3U, 20U}) {
        INFO("threads: " << free);
        const auto threads = std::make_shared<thread_budget>(free);
        const measuring_rule rule;
        static_cast<void>(store.calls());
        const auto results = invoke_rules(run, {.sharing = {.threads = threads}}, rule);
        CHECK(results[0].outcome.evaluated == 40);
        CHECK(*rule.sum == 2 * 40 + 37 + 10 * (40 + 35) + 100 * 39);
        std::vector<thread_permit> back(free);
        for (thread_permit& each : back) {
            each = threads->try_acquire();
            CHECK(each);
        }
        CHECK_FALSE(threads->try_acquire());
        // Values that are compared are read once more if other threads do the rest.
        CHECK(event_reads(store.calls()) <= (free < 2 ? 40U : 80U) + 14);
    }
}

TEST_CASE("step_cache: does not list a running job once a step") {
    const auto store = ten_steps<counting_storage<>>(false);
    const counting_trial run{store, {.poll_interval = std::chrono::milliseconds{1}}};
    static_cast<void>(store.calls());
    const auto results =
        invoke_rules(run, {.common = {.timeout = std::chrono::milliseconds{0}}}, greedy{}, rules::exploding_tensor{});
    CHECK(results[0].outcome.evaluated == 10);
    CHECK(listings(store.calls()) < 10);
}

TEST_CASE("step_cache: the most recently read values are kept as far as there is room") {
    for (const std::size_t room : {std::size_t{0}, std::size_t{1} << 20U}) {
        const auto store = ten_steps<counting_storage<>>();
        const counting_trial run{store};
        shared_trial<counting_trial> shared{run, {.value_bytes = room}};
        const auto first = shared.tensor("a");
        const auto second = shared.tensor("a");
        shared.begin_step(2);
        static_cast<void>(store.calls());
        CHECK(first_element(first, 2) == 2);
        CHECK(first_element(second, 2) == 2);
        CHECK(event_reads(store.calls()) == (room == 0 ? 2 : 1));
    }
}

TEST_CASE("step_cache: reductions of the last sixteen saves are cached, older ones are read again") {
    counting_storage<> store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 18; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("b", {static_cast<float>(step)})}});
    }
    build.end();
    const counting_trial run{store};
    shared_trial<counting_trial> shared{run};
    const auto tensor = shared.tensor("b");
    for (step_number step = 0; step < 18; ++step) {
        shared.begin_step(step);
        static_cast<void>(tensor.find_reduction(step, reduction::max, {.worker = "worker_0"}));
    }
    static_cast<void>(store.calls());
    for (step_number step = 2; step < 18; ++step) {
        CHECK(*tensor.find_reduction(step, reduction::sum, {.worker = "worker_0"}) == static_cast<double>(step));
    }
    CHECK(event_reads(store.calls()) == 0);
    CHECK(*tensor.find_reduction(0, reduction::sum, {.worker = "worker_0"}) == 0);
    CHECK(event_reads(store.calls()) == 1);
}

TEST_CASE("step_cache: a tensor that rules no longer use is not prefetched for ever") {
    counting_storage<> store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 100; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {1})}});
    }
    build.end();
    const counting_trial run{store};
    shared_trial<counting_trial> shared{run};
    shared.begin_step(0);
    static_cast<void>(shared.tensor("a").find_reduction(0, reduction::max, {.worker = "worker_0"}));
    static_cast<void>(store.calls());
    for (step_number step = 1; step < 100; ++step) {
        shared.begin_step(step);
    }
    const std::size_t reads = event_reads(store.calls());
    CHECK(reads > 0);
    CHECK(reads < 70);
}

TEST_CASE("step_cache: shares the trial's refresh setting; handles outlive both") {
    std::optional<memory_trial> run{std::in_place, ten_steps<memory_storage>()};
    auto shared = std::make_unique<shared_trial<memory_trial>>(*run);
    shared->begin_step(0);
    {
        const no_refresh guard{*shared};
        CHECK_FALSE(run->dynamic_refresh());
    }
    CHECK(shared->name() == run->name());
    const auto tensor = shared->tensor("b");
    shared.reset();
    run.reset();
    for (step_number step = 0; step < 10; ++step) {
        CHECK(tensor.reduction_value(step, reduction::max, {.worker = "worker_0"}) == static_cast<double>(step));
    }
    CHECK(first_element(tensor, 4) == 4);
}

TEST_CASE("step_cache: concurrent threads get what one would get") {
    const memory_trial run{ten_steps<memory_storage>()};
    shared_trial<memory_trial> shared{run, {.value_bytes = 64}};
    std::atomic<int> wrong = 0;
    for (step_number step = 0; step < 10; ++step) {
        shared.begin_step(step);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    const auto names = shared.tensor_names({.step = step});
                    const auto b = shared.tensor("b");
                    const auto a = shared.tensor("a");
                    const step_number earlier = step / 2;
                    const auto counts = a.find_computed(step, reduction_set::counts(), {.worker = "worker_0"});
                    const bool right =
                        names == texts{"a", "b"} &&
                        *b.find_reduction(step, reduction::sum, {.worker = "worker_0"}) == static_cast<double>(step) &&
                        *b.find_reduction(earlier, reduction::sum, {.worker = "worker_0"}) ==
                            static_cast<double>(earlier) &&
                        counts && counts->count == 8 && first_element(a, step) == static_cast<float>(step);
                    wrong += right ? 0 : 1;
                }
            });
        }
    }
    CHECK(wrong == 0);
}
