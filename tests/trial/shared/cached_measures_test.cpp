// What a step_cache computes for a step in one pass: reductions, and results of measures.
#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

double first_of(const tensor_view& values) {
    double first = -1;
    for_each_real_block(values, [&](auto elements) {
        first = to_double(elements[0]);
        return false;
    });
    return first;
}

struct first_value {
    double operator()(const tensor_view& values) const { return first_of(values); }
    friend bool operator==(const first_value&, const first_value&) = default;
};
struct change {
    double operator()(const tensor_view& earlier, const tensor_view& now) const {
        return first_of(now) - first_of(earlier);
    }
    friend bool operator==(const change&, const change&) = default;
};
struct throws_at_three {
    double operator()(const tensor_view& values) const {
        return first_of(values) == 3 ? throw std::runtime_error{"three"} : 1.0;
    }
    friend bool operator==(const throws_at_three&, const throws_at_three&) = default;
};

/// Steps 0 to 5 of two workers; every third step is one of evaluation.  The value of "a" is its step, and 100 more of
/// worker_1.
memory_storage six_steps() {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number step = 0; step < 6; ++step) {
        for (const int worker : {0, 1}) {
            const auto value = static_cast<float>(step + 100 * worker);
            build.step({.step = step,
                        .tensors = {tensor_of<float>("a", {value, 1, 2}), tensor_of<float>("b", {-value})},
                        .mode = step % 3 == 2 ? mode::eval : mode::train,
                        .worker = "worker_" + std::to_string(worker)});
        }
    }
    build.end();
    return store;
}

/// A cache of steps over a run, driven by hand.
struct driven_cache {
    explicit driven_cache(const trial& of, const sharing_options& how = {})
        : run(of), view(detail::view_for_rules(smdebug::detail::state_of(run), &how)) {}

    void begin(step_number step) const { view->begin_step(*smdebug::detail::catalog_of(run), step, {}); }

    /// A cached result, without computing it; a comparison's step is `earlier`.
    template <class M>
    [[nodiscard]] lookup<double> known(const std::string& name, step_number step, const std::string& worker,
                                       const M& measure, step_number earlier = -1) const {
        const auto compute = [] { return lookup<detail::any_measure::answer>{lookup_error{}}; };
        constexpr bool compares = tensor_comparison<M>;
        return detail::unpacked<double>(view->answer(*view->share_of(name), step, worker, earlier,
                                                     detail::typed_measure<M, compares>{measure}, compute));
    }
    /// Uses this at a step, so that it is computed at later steps.
    void ask(const std::string& name, const auto& measure) const {
        CHECK_FALSE(known(name, -1, "worker_0", measure).has_value());
    }
    [[nodiscard]] std::optional<reduction_values> reductions(const std::string& name, step_number step,
                                                             const std::string& worker) const {
        std::optional<reduction_values> found;
        const bool is_there = view->reductions(*view->share_of(name), step, worker,
                                               [&](const reduction_values& known) { found = known; });
        CHECK(is_there == found.has_value());
        return found;
    }

    trial run;
    std::shared_ptr<detail::rule_view> view;
};

}  // namespace

TEST_CASE("step_cache: reduces only what is needed, and applies measures to their tensors only") {
    for (const bool look_ahead : {false, true}) {
        CAPTURE(look_ahead);
        const counting_storage<> store{six_steps()};
        const driven_cache cache{trial{store}, {.look_ahead = look_ahead}};
        static_cast<void>(cache.reductions("a", 0, "worker_0"));
        cache.ask("a", first_value{});
        cache.ask("b", first_value{});
        for (step_number step = 1; step < 6; ++step) {
            cache.begin(step);
            for (const int worker : {0, 1}) {
                const std::string saved_by = "worker_" + std::to_string(worker);
                const double value = static_cast<double>(step) + 100 * worker;
                CHECK(*cache.known("a", step, saved_by, first_value{}) == value);
                CHECK(*cache.known("b", step, saved_by, first_value{}) == -value);
                static_cast<void>(store.calls());
                CHECK((*cache.reductions("a", step, saved_by))(reduction::sum) == value + 3);
                CHECK((look_ahead || store.calls().empty()));
            }
        }
        static_cast<void>(store.calls());
        CHECK((*cache.reductions("b", 5, "worker_1"))(reduction::sum) == -105);
        CHECK_FALSE(store.calls().empty());  // it was not used before
    }
}

TEST_CASE("step_cache: compares each save with the worker's last one of the same mode, also over several scans") {
    for (const bool look_ahead : {false, true}) {
        CAPTURE(look_ahead);
        const driven_cache cache{memory_trial{six_steps()}, {.look_ahead = look_ahead}};
        cache.ask("a", change{});
        const std::vector<step_number> earlier{-1, 0, -1, 1, 3, 2};
        for (step_number step = 0; step < 6; ++step) {
            cache.begin(step);
            for (const char* const worker : {"worker_0", "worker_1"}) {
                for (step_number before = 0; before < step; ++before) {
                    const auto found = cache.known("a", step, worker, change{}, before);
                    REQUIRE(found.has_value() == (before == earlier[static_cast<std::size_t>(step)]));
                    CHECK((!found || *found == static_cast<double>(step - before)));
                }
            }
        }
    }
}

TEST_CASE("step_cache: a measure that throws has no result there, and others have theirs") {
    const driven_cache cache{memory_trial{six_steps()}};
    cache.ask("a", throws_at_three{});
    cache.ask("a", first_value{});
    for (step_number step = 0; step < 6; ++step) {
        cache.begin(step);
        for (const char* const worker : {"worker_0", "worker_1"}) {
            const bool threw = step == 3 && std::string{worker} == "worker_0";
            CHECK(cache.known("a", step, worker, throws_at_three{}).has_value() != threw);
            CHECK(cache.known("a", step, worker, first_value{}).has_value());
        }
    }
}

TEST_CASE("step_cache: large tensors in files have the reductions of a scan, measured or not") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections({"worker_0"}, {});
    std::vector<float> values(300'000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 1013) - 300;
    }
    for (step_number step = 0; step < 4; ++step) {
        values[0] = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", values, {300'000}), tensor_of<float>("b", values, {300'000})}});
    }
    build.end();
    const local_trial run{std::string{folder.path()}};
    std::map<std::pair<std::string, step_number>, reduction_values> expected;
    for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& one) {
        expected[{std::string{one.name}, one.step}] = one.reductions;
    });
    const driven_cache cache{run};
    static_cast<void>(cache.reductions("a", 9, "worker_0"));  // no such step: it is only noted as used
    static_cast<void>(cache.reductions("b", 9, "worker_0"));
    cache.ask("b", first_value{});
    for (step_number step = 0; step < 4; ++step) {
        cache.begin(step);
        for (const std::string name : {"a", "b"}) {
            const auto found = cache.reductions(name, step, "worker_0");
            REQUIRE(found.has_value());
            CHECK(found->value == expected.at({name, step}).value);
            CHECK(found->count == 300'000);
        }
        CHECK(*cache.known("b", step, "worker_0", first_value{}) == static_cast<double>(step));
    }
}

TEST_CASE("step_cache: a last save without room is not kept, and not compared with") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    const std::vector<std::pair<std::size_t, std::size_t>> sizes{{3, 2}, {1, 3}, {5, 3}, {1, 1}};  // of "a" and "b"
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        build.step({.step = static_cast<step_number>(i),
                    .tensors = {tensor_of("a", std::vector<float>(sizes[i].first, 1)),
                                tensor_of("b", std::vector<float>(sizes[i].second, 1))}});
    }
    build.end();
    const driven_cache cache{memory_trial{store}, {.value_bytes = 16}};
    cache.ask("a", change{});
    cache.ask("b", change{});
    for (step_number step = 0; step < 4; ++step) {
        cache.begin(step);
        CHECK(cache.known("a", step, "worker_0", change{}, step - 1).has_value() == (step == 1 || step == 2));
        CHECK(cache.known("b", step, "worker_0", change{}, step - 1).has_value() == (step >= 2));
    }
}

namespace {

struct scaled {
    double by = 1;
    double operator()(const tensor_view& values) const { return by * first_of(values); }
    friend bool operator==(const scaled&, const scaled&) = default;
};

struct slow_measure {
    std::atomic<int>* done = nullptr;
    double operator()(const tensor_view&) const {
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
        return static_cast<double>(++*done);
    }
    friend bool operator==(const slow_measure&, const slow_measure&) = default;
};

}  // namespace

TEST_CASE("step_cache: results of 256 measures are cached, those of others are computed each time") {
    const driven_cache cache{memory_trial{six_steps()}, {.look_ahead = false}};
    for (int i = 0; i < 256; ++i) {
        cache.ask("a", scaled{static_cast<double>(i)});
    }
    cache.ask("a", scaled{-1});
    cache.begin(2);
    for (int i = 0; i < 256; ++i) {
        CHECK(*cache.known("a", 2, "worker_0", scaled{static_cast<double>(i)}) == 2.0 * i);
    }
    CHECK_FALSE(cache.known("a", 2, "worker_0", scaled{-1}).has_value());
    const trial run = [&] {
        trial shared = cache.run;
        smdebug::detail::trial_access::share_with_rules(shared, cache.view);
        return shared;
    }();
    CHECK(run.tensor("a").measured(2, scaled{-1}, {.worker = "worker_0"}) == -2);
    CHECK_FALSE(cache.known("a", 2, "worker_0", scaled{-1}).has_value());
}

TEST_CASE("step_cache: waits for a running scan ahead, and begins no other") {
    std::atomic<int> done = 0;
    {
        const driven_cache cache{memory_trial{six_steps()}};
        cache.ask("a", slow_measure{&done});
        cache.begin(0);
    }
    const int then = done;
    CHECK((then == 2 || then == 10 || then == 12));  // that of the step alone, of four more, or of all
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    CHECK(done == then);
}

TEST_CASE("step_cache: steps whose scan ahead failed are read on demand") {
    const counting_storage<> store{six_steps()};
    store.before_each([here = std::this_thread::get_id()](const std::string&) {
        if (std::this_thread::get_id() != here) {
            throw std::runtime_error{"not on another thread"};
        }
    });
    const driven_cache cache{basic_trial<counting_storage<>>{store}, {.threads = std::make_shared<thread_budget>(1)}};
    cache.ask("a", first_value{});
    for (step_number step = 0; step < 6; ++step) {
        cache.begin(step);
        CHECK(cache.known("a", step, "worker_0", first_value{}).has_value() == (step == 0));
        CHECK((*cache.reductions("a", step, "worker_0"))(reduction::sum) == static_cast<double>(step) + 3);
    }
}
