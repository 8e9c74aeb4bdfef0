// Storages that fail at any call: what is lost is told and counted, what is there is whole, and the training goes on.
#include <smdebug/hook/basic_hook.hpp>

#include "support/child_process.hpp"
#include "support/faulty_storage.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using faulty_hook = basic_hook<faulty_storage>;

// --- a training: what is saved at each step follows from the step -------------------------------------------------

constexpr step_number step_count = 7;  // the last one is not ended: close() does

struct planned {
    std::string name;
    std::size_t count = 0;
};

// Small and large ones; at step 2 many small ones, at step 3 a new one, so that the collections file changes.
std::vector<planned> planned_at(step_number step) {
    std::vector<planned> all{{"loss", 1}, {"layer/weight", 2000}, {"layer/activation", 60'000}};
    if (step >= 3) {
        all.push_back({"late", 10});
    }
    for (int i = 0; step == 2 && i < 40; ++i) {
        all.push_back({"small_" + std::to_string(i), 975});
    }
    return all;
}

std::vector<float> values_of(step_number step, const planned& tensor) {
    std::vector<float> values(tensor.count);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(step * 1000) + static_cast<float>(tensor.name.size()) +
                    static_cast<float>(i % 997) / 1024;
    }
    return values;
}

hook_options saves_all() {
    return {.save_config = {.save_interval = 1},
            .collections = {{.name = "summaries",
                             .include_regex = {"weight$"},
                             .reduction_config = reduction_config{.reductions = {"mean", "abs_max"}, .save_shape = true}}},
            .include_collections = {"summaries"},
            .save_all = true};
}

// What the training saw of the hook.
struct tally {
    int thrown = 0;
    std::string last = {};
    std::vector<std::string> told = {};

    // Calls something of the hook that may fail as storages do, and no other way.
    template <class Call>
    void attempt(Call&& call) {
        try {
            call();
        } catch (const unavailable& failed) {
            ++thrown;
            last = failed.what();
        }
    }
};

template <class Hook>
void train(Hook& hook, tally& seen, step_number steps = step_count) {
    for (step_number step = hook.step(); step < steps; ++step) {
        hook.set_mode(step % 3 == 2 ? mode::eval : mode::train);
        for (const planned& tensor : planned_at(step)) {
            seen.attempt([&] { hook.save_tensor(tensor.name, values_of(step, tensor)); });
        }
        if (step + 1 < steps) {
            seen.attempt([&] { hook.end_step(); });
            CHECK(hook.step() == step + 1);
        }
    }
    seen.attempt([&] { hook.close(); });
}

// The steps that have an index file; each of them is whole, and the run opens.
std::set<step_number> whole_steps(const memory_storage& objects) {
    std::set<step_number> found;
    for (const std::string& key : objects.list(locations::index_folder, {})) {
        const auto parsed = locations::parse_index_key(key);
        REQUIRE(parsed);
        found.insert(parsed->step);
        CHECK(objects.size(locations::event_key(parsed->step, "worker_0")));
    }
    if (!found.empty()) {
        const memory_trial run{objects};
        CHECK(run.steps() == std::vector<step_number>(found.begin(), found.end()));
        for (const step_number step : found) {
            CAPTURE(step);
            CHECK(run.mode(step) == (step % 3 == 2 ? mode::eval : mode::train));
            const std::vector<planned> tensors = planned_at(step);
            CHECK(run.tensor_names({.step = step}).size() == tensors.size());
            for (const planned& tensor : tensors) {
                const auto value = run.tensor(tensor.name).value(step);
                const std::vector<float> expected = values_of(step, tensor);
                CHECK(std::ranges::equal(value.elements<float>(), expected));
            }
            CHECK(run.tensor("layer/weight").reduction_values(step).size() == 2);
            CHECK(run.tensor("layer/weight").shape(step) == shape_type{2000});
        }
    }
    return found;
}

bool has_ended(const memory_storage& objects) { return objects.size(locations::end_of_job).has_value(); }

// Whether the first call that failed belongs to the end of a run, and to no step.
bool failed_at_the_end(const faulty_storage& store, std::size_t number) {
    const std::string failed = store.failed();
    if (failed == "release" || failed.find(locations::end_of_job) != std::string::npos) {
        return true;
    }
    // The last time that the collections file was written.
    const std::vector<std::string> calls = store.calls();
    const auto written_again = [](const std::string& call) { return call.starts_with("create collections/"); };
    return failed.find(locations::collections_folder) != std::string::npos &&
           std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(number) + 1, calls.end(), written_again) == calls.end();
}

enum class writing { at_once, behind };

hook_options writes(hook_options options, writing how) {
    options.background.pool_bytes = how == writing::behind ? 2U << 20U : 0;
    return options;
}

// What a run became under a plan of faults.
struct fate {
    bool begun = false;  // the hook could be made
    tally seen = {};
    hook_counters counters = {};
    std::set<step_number> whole = {};
    bool ended = false;
    std::string failed = {};
    bool failed_at_the_end = false;
};

fate run_under(fault_plan plan, hook_options options) {
    fate became;
    const faulty_storage store{{}, plan};
    options.on_drop = [&](const std::string& what) { became.seen.told.push_back(what); };
    became.seen.attempt([&] {
        faulty_hook hook{store, options};
        became.begun = true;
        train(hook, became.seen);
        became.counters = hook.counters();
    });
    became.failed = store.failed();
    became.failed_at_the_end = failed_at_the_end(store, plan.first.value_or(0));
    became.whole = whole_steps(store.objects());
    became.ended = has_ended(store.objects());
    CHECK_FALSE(store.objects().claimed("claim.smd"));  // whatever happened, the next one may come
    return became;
}

// Tries a fault at each call of a run, until the run has none left to fail.
template <class Check>
std::size_t at_every_call(const hook_options& options, bool in_part, Check&& check) {
    for (std::size_t call = 0;; ++call) {
        const fate became = run_under({.first = call, .in_part = in_part}, options);
        CAPTURE(call);
        CAPTURE(became.failed);
        if (became.failed.empty()) {
            CHECK(became.whole.size() == step_count);
            CHECK(became.seen.thrown == 0);
            CHECK(became.counters.lost_steps == 0);
            return call;
        }
        check(became);
    }
}

}  // namespace

TEST_CASE("faults: a run without any is whole, and tells its counts") {
    for (const writing how : {writing::at_once, writing::behind}) {
        const fate became = run_under({}, writes(saves_all(), how));
        CHECK(became.whole.size() == step_count);
        CHECK(became.ended);
        CHECK(became.counters.steps == step_count);
        CHECK(became.counters.tensors == 3 * step_count + 40 + 4);
        CHECK(became.counters.lost_steps == 0);
        CHECK(became.counters.dropped_tensors == 0);
        CHECK(became.counters.last_loss.empty());
    }
}

TEST_CASE("faults: whichever call fails, raise throws once, and one step is lost or the end is not marked") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        std::size_t steps_lost = 0;
        const std::size_t calls = at_every_call(writes(saves_all(), how), false, [&](const fate& became) {
            CHECK(became.seen.thrown == 1);
            CHECK(became.seen.told.empty());
            CHECK(became.seen.last.find(became.failed) != std::string::npos);
            if (!became.begun) {
                CHECK(became.whole.empty());
                return;
            }
            CHECK(became.whole.size() + became.counters.lost_steps == step_count);
            CHECK(became.counters.last_loss.find(became.failed) != std::string::npos);
            CHECK(became.ended == !became.failed_at_the_end);
            const bool is_collections = became.failed.find("collections") != std::string::npos;
            CHECK(became.counters.lost_steps ==
                  (became.failed_at_the_end || (how == writing::behind && is_collections) ? 0 : 1));
            steps_lost += became.counters.lost_steps;
            CHECK(became.counters.steps == (how == writing::at_once ? became.whole.size() : step_count));
        });
        MESSAGE(calls, " calls, a step was lost in ", steps_lost);
        CHECK(steps_lost > 30);
    }
}
