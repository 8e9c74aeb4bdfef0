// Rules over remote runs: the data of the next steps are prefetched once, by a single prefetcher.
#include <smdebug/trial/read/reading_plan.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/run_on_s3.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/rules/built_in/dead_relu.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::step_prefetch;

namespace {

using steps_list = std::vector<step_number>;

// Ten steps of slightly more than `floats` floats.
struct far_run {
    explicit far_run(std::size_t floats)
        : store([&] {
              memory_storage objects;
              run_builder build{objects};
              build.collections();
              for (step_number step = 0; step < 10; ++step) {
                  build.step({.step = step,
                              .tensors = {tensor_of("a", std::vector<float>(floats, 1)), tensor_of<float>("b", {1})}});
              }
              build.end();
              return counting_storage<>{objects};
          }()) {
        static_cast<void>(store.calls());
    }

    // The steps whose event files are cached, so that reading them requests nothing.
    [[nodiscard]] steps_list near() const {
        steps_list found;
        for (step_number step = 0; step < 10; ++step) {
            static_cast<void>(store.calls());
            static_cast<void>(run.tensor("b").value(step));
            const auto calls = store.calls();
            const bool is_read = std::any_of(calls.begin(), calls.end(), [&](const std::string& call) {
                return call.starts_with("part ") || call.starts_with("read ");
            });
            if (!is_read) {
                found.push_back(step);
            }
        }
        return found;
    }

    counting_storage<> store;
    trial run{cached_storage{store, {.memory_bytes = 0}}};
};

// Notes which steps are announced.
struct told_trial : trial_archetype {
    using trial_archetype::trial_archetype;
    std::shared_ptr<steps_list> told = std::make_shared<steps_list>();
    void read_ahead(step_number step) const { told->push_back(step); }
};

told_trial told_run(int steps) {
    trial_archetype::numbers saved;
    for (int i = 0; i < steps; ++i) {
        saved[10 * i] = 1;
    }
    return told_trial{saved};
}

// Notes which keys are prefetched.
class noting_storage : public prefetching_archetype {
public:
    using prefetching_archetype::prefetching_archetype;
    std::shared_ptr<std::vector<std::string>> asked = std::make_shared<std::vector<std::string>>();
    bool fails = false;
    [[nodiscard]] bool read_ahead(std::string_view key) const override {
        asked->emplace_back(key);
        if (fails) {
            throw unavailable("no");
        }
        return false;
    }
};
class noting_and_hesitant : public noting_storage {
public:
    using noting_storage::noting_storage;
    [[nodiscard]] storage_abilities abilities() const override { return base_archetype::abilities(); }
};

memory_storage saved_run(int steps) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"gradients", {"gradient"}}});
    for (int i = 0; i < steps; ++i) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            build.step(
                {.step = i, .tensors = {tensor_of<float>("gradient", {static_cast<float>(i + 1)})}, .worker = worker});
        }
    }
    build.end();
    return store;
}

using counted = std::map<std::size_t, std::size_t>;

// A rule that needs reductions only, one that reads all tensors, and one that reads values.
std::vector<rule_result> pass(const trial& run, const sharing_options& sharing = {}) {
    const rules::dead_relu relus{.all_workers = true};
    return invoke_rules(run, {.sharing = sharing}, rules::vanishing_gradient{}, rules::exploding_tensor{}, relus);
}

bool all_evaluated(const std::vector<rule_result>& results, std::size_t steps) {
    return std::all_of(results.begin(), results.end(),
                       [&](const rule_result& each) { return each.outcome.evaluated == steps && !each.cause; });
}

}  // namespace

TEST_CASE(
    "step_prefetch: a pass of rules over S3 fetches each event file once, small and large, of one worker and many") {
    for (const run_on_s3::shape& shape : {run_on_s3::shape{.steps = 300},
                                          {.steps = 40, .workers = 3},
                                          {.steps = 12, .workers = 2, .floats = 100'000},
                                          {.steps = 1},
                                          {.steps = 2, .workers = 2}}) {
        CAPTURE(shape.steps);
        CAPTURE(shape.workers);
        CAPTURE(shape.floats);
        const run_on_s3 far{shape};
        far.end();
        const trial run = far.open();
        static_cast<void>(far.fetches());
        CHECK(all_evaluated(pass(run), static_cast<std::size_t>(shape.steps)));
        CHECK(far.fetches() == counted{{1, far.files()}});
    }
}

TEST_CASE("step_prefetch: the same if neither the cache nor the pinned files have room for the run") {
    const run_on_s3 far{{.steps = 30, .workers = 2, .floats = 20'000}};  // 30 x 2 x 240 KB
    far.end();
    for (const std::uint64_t cache : {std::uint64_t{0}, std::uint64_t{1} << 20U, std::uint64_t{256} << 20U}) {
        for (const std::uint64_t held : {std::uint64_t{1} << 20U, std::uint64_t{3} << 20U}) {
            CAPTURE(cache);
            CAPTURE(held);
            const trial run = far.open({.memory_bytes = cache});
            static_cast<void>(far.fetches());
            CHECK(all_evaluated(pass(run, {.file_bytes = held}), 30));
            CHECK(far.fetches() == counted{{1, far.files()}});
        }
    }
}

TEST_CASE("step_prefetch: a single rule that reads values, or reductions, fetches each event file once") {
    const run_on_s3 far{{.steps = 60, .workers = 2}};
    far.end();
    {
        const trial run = far.open({.memory_bytes = 2048});
        static_cast<void>(far.fetches());
        CHECK(all_evaluated(invoke_rules(run, {}, rules::dead_relu{}), 60));
        CHECK(far.fetches() == counted{{1, far.files()}});
    }
    {
        const trial run = far.open({.memory_bytes = 2048});
        static_cast<void>(far.fetches());
        CHECK(all_evaluated(invoke_rules(run, {}, rules::vanishing_gradient{}), 60));
        CHECK(far.fetches() == counted{{1, far.files()}});
    }
    // As users write rules: no worker, and no non-throwing look-ups.
    const trial run = far.open({.memory_bytes = 2048});
    static_cast<void>(far.fetches());
    const auto by_hand = [](const auto& seen, step_number step) {
        const auto values = seen.tensor("relu_output").template value<float>(step, {.worker = "worker_1"});
        const double mean = seen.tensor("gradient").reduction_value(step, reduction::mean);
        return finding{.met = values(0) != static_cast<float>(mean)};
    };
    const auto results = invoke_rules(run, {}, by_hand);
    CHECK(all_evaluated(results, 60));
    CHECK(results[0].outcome.findings.empty());
    CHECK(far.fetches() == counted{{1, far.files()}});
}

TEST_CASE("step_prefetch: if rules want little of large files only that is fetched, once") {
    const run_on_s3 far{{.steps = 20, .floats = 500'000, .reduced = true}};  // 2 MB each
    far.end();
    const trial run = far.open();
    static_cast<void>(far.fetches());
    CHECK(all_evaluated(invoke_rules(run, {}, rules::vanishing_gradient{}), 20));
    std::size_t whole = 0;
    for (const fake_request& each : far.server().requests()) {
        whole += each.what == asks_for::get && each.header("range").starts_with("bytes=0-") ? 1U : 0U;
    }
    CHECK(whole <= 1);  // at the first step it is unknown what rules will read
    CHECK(far.fetches() == counted{{1, far.files()}});
}

TEST_CASE("step_prefetch: with a cache on disk each event file is fetched once, and then never again") {
    const temporary_folder place;
    const run_on_s3 far{{.steps = 50, .workers = 2}};
    far.end();
    {
        const trial run = far.open({.folder = place.path() + "/cache"});
        static_cast<void>(far.fetches());
        CHECK(all_evaluated(pass(run), 50));
        CHECK(far.fetches() == counted{{1, far.files()}});
    }
    {
        const trial run = far.open({.folder = place.path() + "/cache"});
        CHECK(all_evaluated(pass(run), 50));
        CHECK(far.fetches() == counted{{0, far.files()}});
    }
    // A cache with room for only a few files, and one whose folder cannot be created.
    for (const std::string& folder : {place.path() + "/small", std::string{"/dev/null/none"}}) {
        CAPTURE(folder);
        const trial run = far.open({.memory_bytes = 4 << 10, .folder = folder, .folder_bytes = 16 << 10});
        static_cast<void>(far.fetches());
        CHECK(all_evaluated(pass(run), 50));
        CHECK(far.fetches() == counted{{1, far.files()}});
    }
}

TEST_CASE("step_prefetch: in a growing run each event file is fetched once, when its step is available") {
    const run_on_s3 far{{.steps = 10, .workers = 2}};
    const trial run = far.open();
    static_cast<void>(far.fetches());
    rule_session<trial> session{
        run, {any_rule<trial>{rules::vanishing_gradient{}}, any_rule<trial>{rules::dead_relu{.all_workers = true}}}};
    for (step_number step = 0; step < 30; ++step) {
        if (step >= 10) {
            far.write(step);
            run.refresh();
        }
        session.visit(step);
    }
    CHECK(all_evaluated(session.results(), 30));
    CHECK(far.fetches() == counted{{1, 60}});
}

TEST_CASE("step_prefetch: failed prefetches are reported as failed reads, and have no other effect") {
    const run_on_s3 far{{.steps = 30, .workers = 2}};
    far.end();
    const std::string lost = "run/" + smdebug::detail::locations::event_key(7, "worker_1");
    far.server().erase(lost);
    const trial run = far.open();
    static_cast<void>(far.fetches());
    steps_list noted;
    const rules::dead_relu relus{.all_workers = true};
    const auto note = [&](std::size_t, const finding& one) { noted.push_back(one.step); };
    CHECK(all_evaluated(invoke_rules(run, {.on_note = note}, rules::vanishing_gradient{}, relus), 30));
    CHECK(noted == steps_list{7});
    CHECK(far.fetches() == counted{{1, 59}});
}

TEST_CASE("step_prefetch: before a call the next four steps are announced to the trial, each once") {
    const told_trial run = told_run(8);
    std::vector<steps_list> before_call;
    const auto rule = [&](const readable_trial auto&, step_number) {
        before_call.push_back(*run.told);
        return finding{};
    };
    CHECK(invoke_rule(rule, run).evaluated == 8);
    REQUIRE(before_call.size() == 8);
    CHECK(before_call[0] == steps_list{10, 20, 30, 40});
    CHECK(before_call[1] == steps_list{10, 20, 30, 40, 50});
    CHECK(*run.told == steps_list{10, 20, 30, 40, 50, 60, 70});
}

TEST_CASE("step_prefetch: announces none after the end, and none for one step or no steps") {
    const told_trial run = told_run(8);
    const auto rule = [](const readable_trial auto&, step_number) { return finding{}; };
    static_cast<void>(invoke_rule(rule, run, {.start_step = 15, .end_step = 40}));
    CHECK(*run.told == steps_list{30});
    const told_trial one = told_run(1);
    CHECK(invoke_rule(rule, one).evaluated == 1);
    CHECK(one.told->empty());
    const told_trial none = told_run(0);
    CHECK(invoke_rule(rule, none).evaluated == 0);
    CHECK(none.told->empty());
}

TEST_CASE("step_prefetch: a trial prefetches the event files of all workers, if its storage makes use of that") {
    const memory_storage objects = saved_run(3);
    const noting_storage noting{objects};
    const auto asked = noting.asked;
    noting_storage told{objects};
    told.asked = asked;
    const basic_trial far{any_storage{std::move(told)}};
    far.read_ahead(1);
    CHECK(*asked == std::vector<std::string>{smdebug::detail::locations::event_key(1, "worker_0"),
                                             smdebug::detail::locations::event_key(1, "worker_1")});
    far.read_ahead(99);
    CHECK(asked->size() == 2);
    noting_and_hesitant near{objects};
    near.asked = asked;
    basic_trial{any_storage{std::move(near)}}.read_ahead(1);
    CHECK(asked->size() == 2);
    basic_trial{objects}.read_ahead(1);
    basic_trial{storage_archetype{objects}}.read_ahead(1);
    noting_storage failing{objects};
    failing.fails = true;
    failing.asked = asked;
    basic_trial{std::move(failing)}.read_ahead(1);
    CHECK(asked->size() == 4);
}

TEST_CASE("step_prefetch: over a cached storage each event file is fetched once, in any order of requests") {
    const counting_storage<> far{saved_run(30)};
    const trial run{cached_storage{far}};
    static_cast<void>(far.calls());
    const auto outcome = invoke_rule(rules::vanishing_gradient{}, run);
    CHECK(outcome.evaluated == 30);
    const auto calls = far.calls();
    for (int i = 0; i < 30; ++i) {
        CHECK(std::count(calls.begin(), calls.end(), "read " + smdebug::detail::locations::event_key(i, "worker_0")) ==
              1);
        CHECK(std::count(calls.begin(), calls.end(), "read " + smdebug::detail::locations::event_key(i, "worker_1")) <=
              1);
        CHECK(std::count(calls.begin(), calls.end(), "part " + smdebug::detail::locations::event_key(i, "worker_0")) ==
              0);
    }
}

TEST_CASE("step_prefetch: steps ahead take half of the room, and steps behind a quarter") {
    const far_run far{25'000};  // 100 KB a step
    step_prefetch files{smdebug::detail::state_of(far.run), 650'000};
    files.begin_step(0, {}, {"a"});
    CHECK(far.near() == steps_list{0, 1, 2, 3});
    CHECK(files.steps_after(0, {}, 8) == steps_list{1, 2, 3});
    files.begin_step(1, {}, {"a"});  // less than half of the free room is free again
    CHECK(far.near() == steps_list{0, 1, 2, 3});
    files.begin_step(3, {}, {"a"});
    CHECK(far.near() == steps_list{2, 3, 4, 5, 6});
    CHECK(files.steps_after(3, {}, 8) == steps_list{4, 5, 6});
    CHECK(files.steps_after(3, 6, 8) == steps_list{4, 5});
    CHECK(files.steps_after(3, {}, 1) == steps_list{4});
    files.begin_step(4, {}, {"a"});
    CHECK(far.near() == steps_list{3, 4, 5, 6});
}

TEST_CASE("step_prefetch: one step ahead is kept whatever its size, if there is room for it at all") {
    const far_run far{25'000};
    step_prefetch two{smdebug::detail::state_of(far.run), 250'000};
    two.begin_step(0, {}, {"a"});
    CHECK(two.steps_after(0, {}, 8) == steps_list{1});
    CHECK(far.near() == steps_list{0, 1});
    step_prefetch none{smdebug::detail::state_of(far.run), 50'000};
    none.begin_step(5, {}, {"a"});
    CHECK(none.steps_after(5, {}, 8).empty());
    CHECK(far.near() == steps_list{0, 1});
}

TEST_CASE("step_prefetch: if little of a large file is wanted only that is kept, unless more will be read") {
    const far_run far{300'000};  // 1.2 MB a step
    step_prefetch files{smdebug::detail::state_of(far.run), std::uint64_t{64} << 20U};
    files.begin_step(4, 5, {"b"});
    CHECK(far.near() == steps_list{4});
    static_cast<void>(far.store.calls());
    static_cast<void>(far.run.tensor("a").value(4));
    CHECK(far.store.calls().size() == 1);
    files.begin_step(5, 6, {});
    CHECK(far.near() == steps_list{4});
    files.fetch("b");
    CHECK(far.near() == steps_list{4, 5});
    static_cast<void>(far.run.tensor("a").value(5));
    CHECK(far.store.calls().empty());
}

TEST_CASE("step_prefetch: nothing is kept of a local run, and every available step comes next") {
    const trial run{any_storage{saved_run(3)}};
    step_prefetch files{smdebug::detail::state_of(run), 0};
    CHECK_FALSE(files.fetches());
    files.begin_step(0, {}, {"gradient"});
    files.fetch("gradient");
    CHECK(files.steps_after(0, {}, 8) == steps_list{1, 2});
}
