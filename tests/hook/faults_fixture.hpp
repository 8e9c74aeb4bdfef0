// A training whose storage fails at given calls, and what became of its run: for the tests of a hook's faults.
#pragma once

#include <smdebug/hook/hook.hpp>

#include "hook/object_store.hpp"
#include "support/faulty_storage.hpp"
#include "support/gate.hpp"
#include "support/test.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test::faults {

using namespace smdebug;

// The training: what is saved at each step follows from the step ------------------------------------------------------

using faulty_hook = basic_hook<faulty_storage>;

inline constexpr step_number step_count = 7;  // the last one is not ended: close() does

struct planned {
    std::string name;
    std::size_t count = 0;
};

enum class sizes { any, small };

// Small and large ones; at step 2 many small ones, at step 3 a new one, so that the collections file changes.
inline std::vector<planned> planned_at(step_number step, sizes which = sizes::any) {
    std::vector<planned> all{
        {"loss", 1}, {"layer/weight", 2000}, {"layer/activation", which == sizes::any ? 60'000U : 100U}};
    if (step >= 3) {
        all.push_back({"late", 10});
    }
    for (int i = 0; which == sizes::any && step == 2 && i < 40; ++i) {
        all.push_back({"small_" + std::to_string(i), 975});
    }
    return all;
}

// A part of one long row of numbers, that begins elsewhere for each step and name: trainings are run by the hundred,
// with a sanitizer that makes each number computed or compared dear.
inline std::span<const float> values_of(step_number step, const planned& tensor) {
    static const std::vector<float> row = [] {
        std::vector<float> made(70'000);
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = static_cast<float>(i * 7919 % 99'991) / 1024;
        }
        return made;
    }();
    const std::size_t begin = static_cast<std::size_t>(step) * 1000 + tensor.name.size();
    return std::span{row}.subspan(begin, tensor.count);
}

inline hook_options saves_all() {
    return {
        .save_config = {.save_interval = 1},
        .collections = {{.name = "summaries",
                         .include_regex = {"weight$"},
                         .reduction_config = reduction_config{.reductions = {"mean", "abs_max"}, .save_shape = true}}},
        .include_collections = {"summaries"},
        .save_all = true};
}

// Of the tensor "shape" its shape alone, of "large" its values.
inline hook_options saves_shapes_of_some() {
    return {.save_config = {.save_interval = 1},
            .collections = {{.name = "shapes",
                             .include_regex = {"^shape$"},
                             .reduction_config = reduction_config{.save_shape = true}},
                            {.name = "values", .include_regex = {"^large$"}}},
            .include_collections = {"shapes", "values"}};
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

// What a loop that continues after a failure has in its try block: each call of the hook, or the whole iteration.
enum class catching { each_call, iteration };

template <class Hook>
void train(Hook& hook, tally& seen, step_number steps = step_count, catching around = catching::each_call,
           sizes which = sizes::any) {
    for (step_number step = hook.step(); around == catching::iteration && step < steps; ++step) {
        seen.attempt([&] {
            hook.set_mode(step % 3 == 2 ? mode::eval : mode::train);
            for (const planned& tensor : planned_at(step, which)) {
                hook.save_tensor(tensor.name, values_of(step, tensor));
            }
            hook.end_step();
        });
    }
    for (step_number step = hook.step(); step < steps; ++step) {
        hook.set_mode(step % 3 == 2 ? mode::eval : mode::train);
        for (const planned& tensor : planned_at(step, which)) {
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
inline std::set<step_number> whole_steps(const memory_storage& objects, sizes which = sizes::any) {
    std::set<step_number> found;
    for (const std::string& key : objects.list(smdebug::detail::locations::index_folder, "")) {
        if (!smdebug::detail::locations::is_index_file(key)) {
            continue;
        }
        const auto parsed = smdebug::detail::locations::parse_index_key(key);
        REQUIRE(parsed);
        found.insert(parsed->step);
        CHECK(objects.size(smdebug::detail::locations::event_key(parsed->step, "worker_0")));
    }
    if (!found.empty()) {
        const memory_trial run{objects};
        CHECK(run.steps() == std::vector<step_number>(found.begin(), found.end()));
        for (const step_number step : found) {
            CAPTURE(step);
            CHECK(run.mode(step) == (step % 3 == 2 ? mode::eval : mode::train));
            const std::vector<planned> tensors = planned_at(step, which);
            CHECK(run.tensor_names({.step = step}).size() == tensors.size());
            for (const planned& tensor : tensors) {
                const auto value = run.tensor(tensor.name).value(step);
                const auto read = std::as_bytes(value.elements<float>());
                const auto expected = std::as_bytes(values_of(step, tensor));
                REQUIRE(read.size() == expected.size());
                CHECK(std::memcmp(read.data(), expected.data(), read.size()) == 0);
            }
            CHECK(run.tensor("layer/weight").saved_reduction_values(step).size() == 2);
            CHECK(run.tensor("layer/weight").shape(step) == shape_type{2000});
        }
    }
    return found;
}

inline bool has_ended(const memory_storage& objects) {
    return objects.size(smdebug::detail::locations::end_of_job).has_value();
}

// Whether the first call that failed belongs to the mark of the end.
inline bool is_of_the_mark(const std::string& call) {
    return call == "release" || call.find(smdebug::detail::locations::end_of_job) != std::string::npos;
}

// Whether it belongs to the end of a run, and to no step: the collections file is written once more then.
inline bool failed_at_the_end(const faulty_storage& store, std::size_t number) {
    const std::string failed = store.failed();
    const std::vector<std::string> calls = store.calls();
    const auto written_again = [](const std::string& call) {
        return call.starts_with("create collections/") || call.starts_with("write collections/");
    };
    return is_of_the_mark(failed) ||
           (failed.find(smdebug::detail::locations::collections_folder) != std::string::npos &&
            std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(number) + 1, calls.end(), written_again) ==
                calls.end());
}

enum class writing { at_once, behind };

// How a hook sees the storage: as all that it is, or as what S3 is, known at run time only.
enum class access { direct, like_s3 };

struct way {
    writing how;
    access through;
};
constexpr std::array<way, 4> every_way() {
    return {{{writing::at_once, access::direct},
             {writing::at_once, access::like_s3},
             {writing::behind, access::direct},
             {writing::behind, access::like_s3}}};
}

/// Ends a step, and waits until it is written or lost: throws its loss, whether it is written at once or behind.
inline void end_and_flush(hook_base& hook) {
    hook.end_step();
    hook.flush();
}

/// Calls of the storage that begin like this wait until the gate is open.
inline void hold(const faulty_storage& store, const std::string& calls, gate& until) {
    store.before_each([calls, &until](const std::string& call) {
        if (call.starts_with(calls)) {
            until.pass();
        }
    });
}

inline hook_options writes(hook_options options, writing how) {
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

inline fate run_under(fault_plan plan, hook_options options, access how, catching around = catching::each_call,
                      sizes which = sizes::any) {
    fate became;
    const faulty_storage store{{}, plan};
    options.on_drop = [&](const std::string& what) { became.seen.told.push_back(what); };
    const auto live = [&]<class Storage>(const Storage& seen) {
        basic_hook<Storage> hook{seen, options};
        became.begun = true;
        train(hook, became.seen, step_count, around, which);
        became.counters = hook.counters();
    };
    became.seen.attempt([&] { how == access::direct ? live(store) : live(like_s3(store)); });
    became.failed = store.failed();
    became.failed_at_the_end = failed_at_the_end(store, plan.first.value_or(0));
    became.whole = whole_steps(store.objects(), which);
    became.ended = has_ended(store.objects());
    CHECK_FALSE(store.objects().claimed("claim.smd"));  // whatever happened, the next one may come
    return became;
}

// Tries a fault at each call of a run, until the run has none left to fail.
template <class Check>
std::size_t at_every_call(const hook_options& options, access how, bool in_part, Check&& check,
                          catching around = catching::each_call, sizes which = sizes::any) {
    for (std::size_t call = 0;; ++call) {
        const fate became = run_under({.first = call, .in_part = in_part}, options, how, around, which);
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

}  // namespace smdebug_test::faults
