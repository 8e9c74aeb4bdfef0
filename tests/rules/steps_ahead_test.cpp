// Rules over runs far away: the storage is told which steps will be wanted next.
#include <smdebug/rules/invoke.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/fake_trial.hpp"
#include "support/run_builder.hpp"

#include <smdebug/rules/vanishing_gradient.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

using steps_list = std::vector<step_number>;

// Notes which steps it is told of.
struct told_trial : fake_trial {
    using fake_trial::fake_trial;
    std::shared_ptr<steps_list> told = std::make_shared<steps_list>();
    void read_ahead(step_number step) const { told->push_back(step); }
};

told_trial fake_run(int steps) {
    fake_tensor::values_by_step values;
    for (int i = 0; i < steps; ++i) {
        values[10 * i] = {1, 2};
    }
    return told_trial{{{"a", values}}};
}

// Notes what it is asked for ahead.
class noting_storage : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    std::shared_ptr<std::vector<std::string>> asked = std::make_shared<std::vector<std::string>>();
    bool fails = false;
    [[nodiscard]] bool read_ahead(std::string_view key) const {
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
    [[nodiscard]] bool reads_ahead() const { return false; }
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

}  // namespace

TEST_CASE("steps ahead: before a call the trial is told of the next four steps, of each once") {
    const told_trial run = fake_run(8);
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

TEST_CASE("steps ahead: none behind the end, and none where there is one step or none") {
    const told_trial run = fake_run(8);
    const auto rule = [](const readable_trial auto&, step_number) { return finding{}; };
    static_cast<void>(invoke_rule(rule, run, {.start_step = 15, .end_step = 40}));
    CHECK(*run.told == steps_list{30});
    const told_trial one = fake_run(1);
    CHECK(invoke_rule(rule, one).evaluated == 1);
    CHECK(one.told->empty());
    const told_trial none = fake_run(0);
    CHECK(invoke_rule(rule, none).evaluated == 0);
    CHECK(none.told->empty());
}

TEST_CASE("steps ahead: a trial asks its storage for the event files of all workers, where that is worth its while") {
    const memory_storage objects = saved_run(3);
    const noting_storage noting{objects};
    const auto asked = noting.asked;
    noting_storage told{objects};
    told.asked = asked;
    const basic_trial far{any_storage{std::move(told)}};
    far.read_ahead(1);
    CHECK(*asked == std::vector<std::string>{locations::event_key(1, "worker_0"), locations::event_key(1, "worker_1")});
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

TEST_CASE("steps ahead: over a cached storage each event file is fetched once, whoever comes first") {
    const counting_storage<> far{saved_run(30)};
    const trial run{any_storage{cached(far)}};
    static_cast<void>(far.calls());
    const auto outcome = invoke_rule(rules::vanishing_gradient{}, run);
    CHECK(outcome.evaluated == 30);
    const auto calls = far.calls();
    for (int i = 0; i < 30; ++i) {
        CHECK(std::count(calls.begin(), calls.end(), "read " + locations::event_key(i, "worker_0")) == 1);
        CHECK(std::count(calls.begin(), calls.end(), "read " + locations::event_key(i, "worker_1")) <= 1);
        CHECK(std::count(calls.begin(), calls.end(), "part " + locations::event_key(i, "worker_0")) == 0);
    }
}
