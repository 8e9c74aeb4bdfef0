// Storages that fail at any call: what is lost is told and counted, what is there is whole, and the training goes on.
#include <smdebug/hook/hook.hpp>

#include "hook/object_store.hpp"
#include "support/child_process.hpp"
#include "support/faulty_storage.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <future>
#include <set>
#include <span>
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

enum class sizes { any, small };

// Small and large ones; at step 2 many small ones, at step 3 a new one, so that the collections file changes.
std::vector<planned> planned_at(step_number step, sizes which = sizes::any) {
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
std::span<const float> values_of(step_number step, const planned& tensor) {
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

hook_options saves_all() {
    return {
        .save_config = {.save_interval = 1},
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

// What a loop that goes on after a failure has in its try block: each call of the hook, or the whole iteration.
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
std::set<step_number> whole_steps(const memory_storage& objects, sizes which = sizes::any) {
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
            CHECK(run.tensor("layer/weight").reduction_values(step).size() == 2);
            CHECK(run.tensor("layer/weight").shape(step) == shape_type{2000});
        }
    }
    return found;
}

bool has_ended(const memory_storage& objects) {
    return objects.size(smdebug::detail::locations::end_of_job).has_value();
}

// Whether the first call that failed belongs to the mark of the end.
bool is_of_the_mark(const std::string& call) {
    return call == "release" || call.find(smdebug::detail::locations::end_of_job) != std::string::npos;
}

// Whether it belongs to the end of a run, and to no step: the collections file is written once more then.
bool failed_at_the_end(const faulty_storage& store, std::size_t number) {
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

fate run_under(fault_plan plan, hook_options options, access how, catching around = catching::each_call,
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

}  // namespace

TEST_CASE("faults: a run without any is whole, and tells its counts") {
    for (const auto [how, through] : every_way()) {
        const fate became = run_under({}, writes(saves_all(), how), through);
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
    for (const auto [how, through] : every_way()) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(static_cast<int>(through));
        std::size_t steps_lost = 0;
        const bool behind = how == writing::behind;
        const std::size_t calls = at_every_call(writes(saves_all(), how), through, false, [&](const fate& became) {
            CHECK(became.seen.thrown == 1);
            CHECK(became.seen.told.empty());
            CHECK(became.seen.last.find(became.failed) != std::string::npos);
            if (!became.begun) {
                CHECK(became.whole.empty());
                return;
            }
            CHECK(became.whole.size() + became.counters.lost_steps == step_count);
            CHECK(became.counters.last_loss.find(became.failed) != std::string::npos);
            CHECK(became.ended == !is_of_the_mark(became.failed));
            const bool is_collections = became.failed.find("collections") != std::string::npos;
            CHECK(became.counters.lost_steps == (became.failed_at_the_end || (behind && is_collections) ? 0 : 1));
            steps_lost += became.counters.lost_steps;
            CHECK(became.counters.steps == became.whole.size());
        });
        MESSAGE(calls, " calls, a step was lost in ", steps_lost);
        CHECK(steps_lost > (through == access::direct ? 30 : 12));
    }
}

TEST_CASE(
    "faults: a loop that catches around its iterations loses those that failed, and the others keep their numbers") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        at_every_call(
            writes(saves_all(), how), access::direct, false,
            [&](const fate& became) {
                CHECK(became.seen.thrown == 1);
                CHECK(became.seen.last.find(became.failed) != std::string::npos);
                if (became.begun) {
                    CHECK(became.whole.size() + became.counters.lost_steps == step_count);
                    CHECK(became.counters.lost_steps <= 1);
                    CHECK(became.counters.steps == became.whole.size());
                }
            },
            catching::iteration);
    }
}

TEST_CASE("faults: a step that is lost says so, takes nothing more, and is thrown when it ends") {
    const faulty_storage store;
    faulty_hook hook{store, saves_all()};
    const std::vector<float> large(60'000);
    hook.save_scalar("x", 0);
    hook.end_step();
    CHECK_FALSE(hook.step_is_lost());
    store.plan({.first = 0, .only = "append events/"});
    CHECK_FALSE(hook.save_tensor("large", large));
    CHECK(hook.step_is_lost());
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().last_loss.find("step 1 is lost") != std::string::npos);
    CHECK_FALSE(hook.should_save("b"));
    CHECK_FALSE(hook.save_tensor("b", large));
    CHECK_THROWS_AS(hook.end_step(), unavailable);
    CHECK(hook.step() == 2);
    CHECK_FALSE(hook.step_is_lost());
    CHECK(hook.should_save("b"));
    CHECK(hook.save_tensor("b", large));
    hook.end_step();
    store.plan({.first = 0, .only = "append events/"});
    hook.save_tensor("large", large);
    CHECK_THROWS_AS(hook.close(), unavailable);  // what was not ended is told, too
    CHECK(hook.counters().lost_steps == 2);
    CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{0, 2});
}

TEST_CASE("faults: whichever call fails, drop throws nothing, tells of it once, and the training goes on") {
    for (const auto [how, through] : every_way()) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(static_cast<int>(through));
        hook_options options = writes(saves_all(), how);
        options.on_failure = failure_policy::drop;
        at_every_call(options, through, false, [&](const fate& became) {
            if (!became.begun) {
                CHECK(became.seen.thrown == 1);  // a hook that cannot be made is the caller's to know
                return;
            }
            CHECK(became.seen.thrown == 0);
            REQUIRE(became.seen.told.size() == 1);
            CHECK(became.seen.told.front().find(became.failed) != std::string::npos);
            CHECK(became.counters.last_loss == became.seen.told.front());
            CHECK(became.whole.size() + became.counters.lost_steps == step_count);
            CHECK(became.ended == !is_of_the_mark(became.failed));
        });
    }
}

TEST_CASE("faults: a call that failed and was done all the same leaves whole steps, too") {
    for (const auto [how, through] : every_way()) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(static_cast<int>(through));
        at_every_call(writes(saves_all(), how), through, true, [&](const fate& became) {
            CHECK(became.seen.thrown == 1);
            if (became.begun) {
                // An index file whose appearing was not told: that step is there, and counts as lost.
                const bool unseen =
                    became.failed.starts_with("commit index/") || became.failed.starts_with("write index/");
                CHECK(became.whole.size() + became.counters.lost_steps == step_count + (unseen ? 1 : 0));
                CHECK((became.ended || is_of_the_mark(became.failed)));
            }
        });
    }
}

TEST_CASE("faults: while a storage is gone every step is lost and counted, and those after it are whole") {
    for (const auto [how, through] : every_way()) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(static_cast<int>(through));
        for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
            CAPTURE(static_cast<int>(policy));
            hook_options options = writes(saves_all(), how);
            options.on_failure = policy;
            for (const std::size_t length : {std::size_t{2}, std::size_t{3}, std::size_t{11}, std::size_t{1} << 30U}) {
                for (std::size_t first = 0;; first += 1 + first / 7) {
                    const fate became = run_under({.first = first, .count = length}, options, through);
                    if (became.failed.empty()) {
                        break;
                    }
                    CAPTURE(length);
                    CAPTURE(first);
                    if (became.begun) {
                        CHECK(became.whole.size() + became.counters.lost_steps == step_count);
                        CHECK((became.seen.thrown > 0) == (policy == failure_policy::raise));
                        CHECK((became.seen.told.size() >= became.counters.lost_steps) ==
                              (policy == failure_policy::drop || became.counters.lost_steps == 0));
                        CHECK_FALSE(became.counters.last_loss.empty());
                    }
                    // From then on nothing can be written at all.
                    CHECK_FALSE((became.ended && length > 1000));
                }
            }
        }
    }
}

TEST_CASE("faults: TensorBoard's files may fail, and cost no step") {
    for (const auto [how, through] : every_way()) {
        hook_options options = writes(saves_all(), how);
        options.export_tensorboard = true;
        options.tensorboard_interval = 0ms;
        std::size_t of_tensorboard = 0;
        const auto check = [&](const fate& became) {
            CHECK(became.seen.thrown == 1);
            if (became.begun) {
                CHECK(became.whole.size() + became.counters.lost_steps == step_count);
            }
            if (became.failed.find("tensorboard/") != std::string::npos) {
                ++of_tensorboard;
                CHECK(became.counters.lost_steps == 0);
                CHECK(became.counters.steps == step_count);
                CHECK(became.ended);
            }
        };
        at_every_call(options, through, false, check, catching::each_call, sizes::small);  // histograms are dear
        CHECK(of_tensorboard > (through == access::direct ? 20 : 6));
    }
}

TEST_CASE("faults: resuming that fails at any call leaves a run that opens, and can be tried again") {
    for (std::size_t call = 0;; ++call) {
        CAPTURE(call);
        const faulty_storage store;
        {
            hook_options options = saves_all();
            options.mark_end_of_job = false;
            faulty_hook killed{store, options};
            tally seen;
            train(killed, seen, 4);
            // What a writer leaves that was killed.
            memory_storage objects = store.objects();
            for (const char* rest : {"events/000000000004/000000000004_worker_0.tfevents",
                                     "events/000000000005/000000000005_worker_0.tfevents.tmp.17.0",
                                     "index/000000000/000000000004_worker_0.json.tmp.17.0",
                                     "collections/000000000/worker_0_collections.json.tmp.17.3"}) {
                objects.write(rest, as_bytes("half"));
            }
        }
        store.plan({.first = call});
        hook_options options = saves_all();
        options.existing = existing_run::resume;
        options.init_step = 2;
        tally seen;
        bool begun = false;
        seen.attempt([&] {
            const faulty_hook hook{store, options};
            begun = true;
            CHECK(hook.step() == 2);
            store.plan({});
        });
        if (!begun) {
            CHECK(seen.thrown == 1);
            const auto left = whole_steps(store.objects());
            CHECK(
                (left.size() >= 2 && left.size() <= 4 && *left.rbegin() + 1 == static_cast<step_number>(left.size())));
            store.plan({});
        }
        {
            memory_storage objects = store.objects();
            static_cast<void>(
                objects.remove(std::string{smdebug::detail::locations::end_of_job}));  // of the hook above
        }
        faulty_hook hook{store, options};
        CHECK(whole_steps(store.objects()) == std::set<step_number>{0, 1});
        for (const std::string& key : store.objects().list("", "")) {
            CAPTURE(key);
            CHECK(key.find(".tmp") == std::string::npos);
            CHECK(key.find("00004") == std::string::npos);
        }
        CHECK(hook.mode_step() == 2);
        hook.set_mode(mode::train);
        CHECK(hook.mode_step() == 2);
        hook.set_mode(mode::eval);
        CHECK(hook.mode_step() == 0);
        train(hook, seen);
        CHECK(whole_steps(store.objects()).size() == step_count);
        if (begun) {
            CHECK(call > 8);
            break;
        }
    }
}

TEST_CASE("faults: the last of several workers marks the end, unless it cannot find out that it is the last one") {
    for (std::size_t call = 0;; ++call) {
        CAPTURE(call);
        const faulty_storage store;
        hook_options options = saves_all();
        options.include_workers = include_workers::all;
        options.num_workers = 2;
        tally seen;
        options.worker = "worker_1";
        faulty_hook other{store, options};
        options.worker = "worker_0";
        faulty_hook last{store, options};
        other.save_tensor("w", std::vector<float>{1});
        other.close();
        CHECK_FALSE(has_ended(store.objects()));
        last.save_tensor("w", std::vector<float>{1});
        last.end_step();
        store.plan({.first = call});
        seen.attempt([&] { last.close(); });
        CHECK(seen.thrown == (store.failed().empty() ? 0 : 1));
        // An older collections file will do.
        CHECK(has_ended(store.objects()) ==
              (store.failed().empty() || store.failed().find(" collections/000000000/worker_0_") != std::string::npos));
        CHECK(last.counters().lost_steps == 0);
        if (store.failed().empty()) {
            break;
        }
    }
}

TEST_CASE("faults: without claims, the last worker that fails to find out leaves a run that has not ended") {
    std::size_t marked_at = 0;
    for (std::size_t call = 0;; ++call) {
        CAPTURE(call);
        const faulty_storage store;
        hook_options options = saves_all();
        options.include_workers = include_workers::all;
        options.num_workers = 2;
        tally seen;
        options.worker = "worker_1";
        hook other{like_s3(store), options};
        options.worker = "worker_0";
        hook last{like_s3(store), options};
        other.save_tensor("w", std::vector<float>{1});
        other.close();
        CHECK_FALSE(has_ended(store.objects()));
        last.save_tensor("w", std::vector<float>{1});
        last.end_step();
        store.plan({.first = call});
        seen.attempt([&] { last.close(); });
        CHECK(seen.thrown == (store.failed().empty() ? 0 : 1));
        CHECK(has_ended(store.objects()) ==
              (store.failed().empty() || store.failed().find(" collections/000000000/worker_0_") != std::string::npos));
        CHECK(last.counters().lost_steps == 0);
        if (store.failed().empty()) {
            break;
        }
        marked_at = call;
        // Started again, it ends the job.
        store.plan({});
        if (!has_ended(store.objects())) {
            options.existing = existing_run::resume;
            options.init_step = last.step();
            hook{like_s3(store), options}.close();
            CHECK(has_ended(store.objects()));
        }
    }
    CHECK(marked_at >= 4);  // remove, two listings, write
}

TEST_CASE("faults: a step that is written again is the old one, the new one, or lost, and never half of each") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        for (std::size_t call = 0;; ++call) {
            CAPTURE(call);
            const faulty_storage store;
            hook_options options = writes(saves_all(), how);
            options.init_step = 3;
            faulty_hook hook{store, options};
            tally seen;
            const auto save = [&](float value, std::size_t count) {
                seen.attempt([&] { hook.save_tensor("w", std::vector<float>(count, value)); });
                seen.attempt([&] { hook.save_tensor("v", std::vector<float>(count, value)); });
                seen.attempt([&] { hook.end_step(); });
            };
            save(3, 10);
            save(4, 2000);
            save(5, 30);
            hook.flush();
            hook.set_step(4);  // a training that went back to a checkpoint
            store.plan({.first = call});
            save(40, 70);
            save(50, 3000);
            seen.attempt([&] { hook.flush(); });
            const bool failed = !store.failed().empty();
            CHECK(seen.thrown == (failed ? 1 : 0));
            const memory_trial run{store.objects()};
            for (const step_number step : run.steps()) {
                CAPTURE(step);
                const auto w = run.tensor("w").value(step);
                const auto v = run.tensor("v").value(step);
                CHECK(std::ranges::equal(w.elements<float>(), v.elements<float>()));
                const float value = w.elements<float>()[0];
                const auto old_one = static_cast<float>(step);
                CHECK((value == old_one || (step > 3 && value == 10 * old_one)));
            }
            CHECK(run.steps().size() >= 2);
            store.plan({});
            if (!failed) {
                CHECK(run.tensor("w").value<float>(4)(0) == 40);
                CHECK(run.tensor("w").value<float>(5)(0) == 50);
                break;
            }
        }
    }
}

// --- arguments -----------------------------------------------------------------------------------------------------

TEST_CASE("faults: a wrong argument costs nothing but itself, whatever the policy") {
    for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
        memory_storage store;
        hook_options options = saves_all();
        options.on_failure = policy;
        basic_hook<memory_storage> hook{store, options};
        const std::vector<float> values{1, 2, 3};
        hook.save_tensor("before", values);
        CHECK_THROWS_AS(hook.save_tensor("w", values, {2, 2}), value_error);
        CHECK_THROWS_AS(hook.save_tensor("", values), value_error);
        CHECK_THROWS_AS(hook.save_tensor("\xff", values), value_error);
        CHECK_THROWS_AS(hook.save_scalar("\xc3", 1), value_error);
        CHECK_THROWS_AS(hook.save_tensor("w", tensor_view{}), value_error);
        CHECK_THROWS_AS(hook.set_step(-1), value_error);
        CHECK_THROWS_AS(hook.set_step(0, -1), value_error);
        CHECK_THROWS_AS(hook.set_step(7), value_error);  // the step has begun
        // 2 GiB of which no byte is looked at: there are none.
        const std::array shape{std::size_t{1} << 31U};
        const tensor_view huge{.type = dtype::uint8,
                               .shape = shape,
                               .bytes = {reinterpret_cast<const std::byte*>(values.data()), shape[0]},
                               .strings = {}};
        CHECK_THROWS_AS(hook.save_tensor("huge", huge), unsupported);
        hook.save_tensor("after", values);
        hook.end_step();
        hook.close();
        const memory_trial run{store};
        CHECK(run.tensor_names() == std::vector<std::string>{"after", "before"});
        CHECK(run.tensor("after").value<float>(0)(2) == 3);
        CHECK(hook.counters().lost_steps == 0);
        CHECK(hook.counters().steps == 1);
        CHECK(run.loaded_all_steps());
    }
}

TEST_CASE("faults: a step's number may be large, but not so large that counting could end") {
    memory_storage store;
    basic_hook<memory_storage> hook{store, saves_all()};
    constexpr step_number last = std::numeric_limits<step_number>::max();
    CHECK_THROWS_AS(hook.set_step(last), value_error);
    CHECK_THROWS_AS(hook.set_step(largest_step + 1), value_error);
    CHECK_THROWS_AS(hook.set_step(0, last), value_error);
    hook.set_step(largest_step);
    for (int step = 0; step < 2; ++step) {
        hook.save_scalar("x", step);
        hook.end_step();
    }
    hook.close();
    CHECK(memory_trial{store}.steps() == std::vector<step_number>{largest_step, largest_step + 1});
    hook_options options = saves_all();
    options.init_step = last;
    CHECK_THROWS_AS((basic_hook<memory_storage>{memory_storage{}, options}), value_error);
}

TEST_CASE("faults: a second close does nothing, and nothing can be saved after the first") {
    for (const bool fails : {false, true}) {
        const faulty_storage store;
        faulty_hook hook{store, saves_all()};
        hook.save_scalar("x", 1);
        hook.end_step();
        if (fails) {
            store.plan({.first = 0, .only = "commit training_job_end"});
            CHECK_THROWS_AS(hook.close(), unavailable);
        } else {
            hook.close();
        }
        const std::vector<std::string> keys = store.objects().list("", "");
        const std::size_t calls = store.calls().size();
        CHECK_NOTHROW(hook.close());
        CHECK_NOTHROW(hook.flush());
        CHECK_THROWS_AS(hook.save_tensor("w", std::vector<float>{1}), unsupported);
        CHECK_THROWS_AS(hook.save_scalar("x", 1), unsupported);
        CHECK_THROWS_AS(hook.end_step(), unsupported);
        CHECK(hook.step() == 1);
        CHECK(store.objects().list("", "") == keys);
        CHECK(store.calls().size() == calls);
        CHECK(has_ended(store.objects()) == !fails);
    }
}

TEST_CASE("faults: a training that ends by an exception leaves a run that has not ended, and can be gone on with") {
    for (const writing how : {writing::at_once, writing::behind}) {
        hook_options options = writes(saves_all(), how);
        tally seen;
        memory_storage store;
        try {
            basic_hook<memory_storage> hook{store, options};
            for (step_number step = 0; step < 3; ++step) {
                hook.set_mode(step % 3 == 2 ? mode::eval : mode::train);
                for (const planned& tensor : planned_at(step)) {
                    hook.save_tensor(tensor.name, values_of(step, tensor));
                }
                if (step == 2) {
                    throw std::runtime_error("out of memory");
                }
                hook.end_step();
            }
        } catch (const std::runtime_error& thrown) {
            CHECK(thrown.what() == std::string{"out of memory"});
        }
        CHECK(whole_steps(store) == std::set<step_number>{0, 1});
        CHECK_FALSE(has_ended(store));
        CHECK_FALSE(store.claimed("claim.smd"));
        options.existing = existing_run::resume;
        basic_hook<memory_storage> hook{store, options};
        CHECK(hook.step() == 2);
        train(hook, seen);
        CHECK(seen.thrown == 0);
        CHECK(whole_steps(store).size() == step_count);
        CHECK(has_ended(store));
    }
}

TEST_CASE("faults: a hook that is made while an exception is on its way ends its run all the same") {
    memory_storage store;
    struct cleaner {
        memory_storage* into;
        ~cleaner() {
            basic_hook<memory_storage> hook{*into, saves_all()};
            hook.save_scalar("x", 1);
        }
    };
    try {
        const cleaner cleans{&store};
        throw std::runtime_error("elsewhere");
    } catch (const std::runtime_error&) {
    }
    CHECK(has_ended(store));
    CHECK(memory_trial{store}.steps().size() == 1);
}

TEST_CASE("faults: the end is not marked where there is no collections file, as nobody could open the run") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
            const faulty_storage store{{}, {.first = 0, .count = 1000, .only = "collections/"}};
            hook_options options = writes(saves_all(), how);
            options.on_failure = policy;
            faulty_hook hook{store, options};
            tally seen;
            train(hook, seen);
            CHECK((seen.thrown > 0) == (policy == failure_policy::raise));
            CHECK_FALSE(has_ended(store.objects()));
            CHECK_FALSE(store.objects().claimed("claim.smd"));
        }
    }
}

TEST_CASE("faults: a destructor keeps errors to itself") {
    for (const writing how : {writing::at_once, writing::behind}) {
        const faulty_storage store;
        {
            faulty_hook hook{store, writes(saves_all(), how)};
            hook.save_scalar("x", 1);
            hook.end_step();
            try {
                hook.flush();
            } catch (const unavailable&) {
            }
            hook.save_scalar("x", 1);
            store.plan({.first = 0, .count = 1000});
        }
        CHECK_FALSE(has_ended(store.objects()));
        CHECK(store.objects().list("index/", "").size() == 1);
    }
}

// --- a full pool ---------------------------------------------------------------------------------------------------

namespace {

// Keeps whoever writes waiting until it is opened.
class gate {
public:
    void pass() const { open_.wait(false); }
    void open() {
        open_ = true;
        open_.notify_all();
    }

private:
    std::atomic<bool> open_{false};
};

}  // namespace

TEST_CASE("faults: a full pool drops tensors, counts and tells them, and what is in the index is whole") {
    const faulty_storage store;
    gate writable;
    store.before_each([&](const std::string& call) {
        if (call.starts_with("append events/")) {
            writable.pass();
        }
    });
    std::vector<std::string> told;
    hook_options options = saves_all();
    options.collections.clear();
    options.include_collections.clear();
    options.background = {.pool_bytes = 2U << 20U, .when_full = full_pool::drop};
    options.on_drop = [&](const std::string& what) { told.push_back(what); };
    faulty_hook hook{store, options};
    // Of 0.5 MiB each; three and their names fit into 2 MiB, and some small ones beside them.
    for (int i = 0; i < 10; ++i) {
        hook.save_tensor("large_" + std::to_string(i), std::vector<float>(1U << 17U, static_cast<float>(i)));
    }
    hook.save_tensor("small", std::vector<float>{1, 2, 3});
    hook.end_step();
    CHECK(hook.counters().dropped_tensors == 7);
    CHECK(told.size() == 7);
    CHECK(std::ranges::all_of(told, [](const std::string& what) {
        return what.find("large_") != std::string::npos && what.find("step 0") != std::string::npos;
    }));
    for (int i = 0; i < 3; ++i) {  // the pool is still full
        hook.save_tensor("large_" + std::to_string(i), std::vector<float>(1U << 18U));
    }
    CHECK(hook.counters().dropped_tensors == 10);
    hook.end_step();  // there is nothing in it: no step
    writable.open();
    hook.flush();
    CHECK(hook.save_tensor("large_0", std::vector<float>(1U << 18U, 5.0F)));  // there is room again
    hook.close();
    CHECK(hook.counters().dropped_tensors == 10);
    CHECK(hook.counters().lost_steps == 0);
    CHECK(hook.counters().steps == 2);
    CHECK(hook.counters().tensors == 5);

    const memory_trial run{store.objects()};
    CHECK(run.steps() == std::vector<step_number>{0, 2});
    CHECK(run.tensor_names({.step = 0}) == std::vector<std::string>{"large_0", "large_1", "large_2", "small"});
    for (int i = 0; i < 3; ++i) {
        const auto value = run.tensor("large_" + std::to_string(i)).value(0);
        CHECK(value.size() == 1U << 17U);
        CHECK(std::ranges::all_of(value.elements<float>(), [&](float each) { return each == static_cast<float>(i); }));
    }
    CHECK(run.tensor("small").value<float>(0)(2) == 3);
    CHECK(run.tensor("large_0").value<float>(2)(1) == 5);
}

TEST_CASE("faults: a full pool that waits keeps the training waiting, and loses nothing") {
    const faulty_storage store;
    gate writable;
    store.before_each([&](const std::string& call) {
        if (call.starts_with("append events/")) {
            writable.pass();
        }
    });
    faulty_hook hook{store, writes(saves_all(), writing::behind)};
    const std::vector<float> large(5U << 18U, 2.5F);  // 5 MiB, more than the pool has
    std::atomic<bool> saved{false};
    {
        const std::jthread training{[&] {
            hook.save_tensor("large", large);
            saved = true;
            hook.end_step();
        }};
        std::this_thread::sleep_for(50ms);
        CHECK_FALSE(saved);
        writable.open();
    }
    CHECK(saved);
    hook.close();
    CHECK(hook.counters().dropped_tensors == 0);
    const memory_trial run{store.objects()};
    const auto read = run.tensor("large").value(0);
    CHECK(std::ranges::equal(read.elements<float>(), large));
}

TEST_CASE("faults: a tensor larger than a pool that drops is always dropped") {
    memory_storage store;
    hook_options options = saves_all();
    options.background = {.pool_bytes = 1, .when_full = full_pool::drop};
    basic_hook<memory_storage> hook{store, options};
    for (int step = 0; step < 3; ++step) {
        hook.save_tensor("large", std::vector<float>(1U << 20U));
        hook.save_tensor("small", std::vector<float>(10));
        hook.end_step();
        hook.flush();
    }
    hook.close();
    CHECK(hook.counters().dropped_tensors == 3);
    const memory_trial run{store};
    CHECK(run.steps().size() == 3);
    CHECK(run.tensor_names() == std::vector<std::string>{"small"});
}

TEST_CASE("faults: whoever is told of a dropped tensor may give up its step, or end it; the next one is whole") {
    for (const bool ends : {false, true}) {
        const memory_storage store;
        basic_hook<memory_storage>* training = nullptr;
        hook_options options = saves_all();
        options.background = {.pool_bytes = 1, .when_full = full_pool::drop};
        options.on_drop = [&](const std::string&) { ends ? training->end_step() : training->abandon_step(); };
        basic_hook<memory_storage> hook{store, options};
        training = &hook;
        CHECK_FALSE(hook.save_tensor("large", std::vector<float>(1U << 20U)));
        CHECK(hook.step() == 1);
        CHECK(hook.save_tensor("small", std::vector<float>{1, 2, 3}));
        CHECK_FALSE(hook.step_is_lost());
        hook.end_step();
        hook.close();
        const memory_trial run{store};
        CHECK(run.steps() == std::vector<step_number>{1});
        CHECK(run.tensor_names() == std::vector<std::string>{"small"});
    }
}

// --- disks ---------------------------------------------------------------------------------------------------------

TEST_CASE("faults: a disk that is full costs the steps that do not fit, and no others") {
    for (const writing how : {writing::at_once, writing::behind}) {
        for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
            const temporary_folder folder;
            const int status = status_of_child([&] {
                limit_file_size(600'000);
                hook_options options = writes(saves_all(), how);
                options.out_dir = folder.path();
                options.on_failure = policy;
                int told = 0;
                options.on_drop = [&](const std::string& what) {
                    told += what.find("disk is full") != std::string::npos ? 1 : 0;
                };
                hook training{options};
                int thrown = 0;
                const auto attempt = [&](auto&& call) {
                    try {
                        call();
                    } catch (const unavailable& failed) {
                        thrown += std::string{failed.what()}.find("disk is full") != std::string::npos ? 1 : 0;
                    }
                };
                for (step_number step = 0; step < 6; ++step) {  // steps 1, 3, 5 are too large
                    for (int i = 0; i < 3; ++i) {
                        const std::vector<float> values(step % 2 == 0 ? 20'000 : 70'000, static_cast<float>(step));
                        attempt([&] { training.save_tensor("w" + std::to_string(i), values); });
                    }
                    attempt([&] { training.end_step(); });
                    attempt([&] { training.flush(); });
                }
                attempt([&] { training.close(); });
                const bool counted = training.counters().lost_steps == 3;
                const int expected = 3;
                return (policy == failure_policy::raise ? thrown == expected && told == 0
                                                        : thrown == 0 && told == expected) &&
                               counted
                           ? 0
                           : 10 * thrown + told;
            });
            CHECK(status == 0);
            const local_trial run{folder.path()};
            CHECK(run.steps() == std::vector<step_number>{0, 2, 4});
            CHECK(run.loaded_all_steps());
            for (const step_number step : run.steps()) {
                for (const std::string& name : run.tensor_names()) {
                    const auto value = run.tensor(name).value(step);
                    CHECK(value.size() == 20'000);
                    CHECK(std::ranges::all_of(value.elements<float>(),
                                              [&](float each) { return each == static_cast<float>(step); }));
                }
            }
            for (const std::string& key : local_storage{folder.path()}.list("", "")) {
                CHECK(key.find(".tmp") == std::string::npos);
            }
        }
    }
}

TEST_CASE(
    "faults: a run's folder that is removed while training is told, and costs what was in it, and the step at hand") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const temporary_folder folder;
        const std::string path = folder.path() + "/run";
        hook_options options = writes(saves_all(), how);
        options.out_dir = path;
        hook training{options};
        tally seen;
        const auto save = [&](step_number step) {
            seen.attempt([&] { training.save_tensor("w", std::vector<float>(400'000, static_cast<float>(step))); });
            seen.attempt([&] { training.save_tensor("b", std::vector<float>(5, static_cast<float>(step))); });
        };
        for (step_number step = 0; step < 6; ++step) {
            if (step == 2) {  // between two steps
                training.flush();
                fs::remove_all(path);
            }
            save(step);
            CHECK(training.step_is_lost() == (step == 2));
            CHECK(fs::exists(path) == (step != 2));  // nobody made it again
            if (step == 4) {                         // in the middle of one
                while (how == writing::behind && !fs::exists(path + "/events/000000000004")) {
                    std::this_thread::sleep_for(1ms);
                }
                fs::remove_all(path);
            }
            seen.attempt([&] { training.end_step(); });
            seen.attempt([&] { training.flush(); });
        }
        CHECK(seen.thrown == 2);
        CHECK(seen.last.find("removed meanwhile") != std::string::npos);
        CHECK(training.counters().lost_steps == 2);
        CHECK(local_storage{path}.claimed("claim.smd"));  // as ever
        training.close();
        const local_trial run{path};
        CHECK(run.steps() == std::vector<step_number>{5});
        CHECK(run.tensor("w").value<float>(5)(399'999) == 5);
        CHECK(run.loaded_all_steps());
    }
}

TEST_CASE("faults: a run's folder that is removed before the hook closes is not made again to mark its end") {
    for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
        const temporary_folder folder;
        const std::string path = folder.path() + "/run";
        hook_options options = saves_all();
        options.out_dir = path;
        options.on_failure = policy;
        hook training{options};
        training.save_scalar("x", 1);
        training.end_step();
        fs::remove_all(path);
        if (policy == failure_policy::raise) {
            CHECK_THROWS_AS(training.close(), unavailable);
        } else {
            CHECK_NOTHROW(training.close());
            CHECK(training.counters().last_loss.find("removed meanwhile") != std::string::npos);
        }
        CHECK_FALSE(fs::exists(path));
    }
}

TEST_CASE(
    "faults: a run's folder that another run has taken is left to that one, and a claim that is gone is taken again") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run";
    hook_options options = saves_all();
    options.out_dir = path;
    hook training{options};
    const auto step = [&] {
        training.save_scalar("x", 1);
        training.end_step();
    };
    step();
    fs::remove(path + "/claim.smd");  // by hand: the steps are there
    CHECK_THROWS_AS(step(), unavailable);
    step();
    CHECK(local_storage{path}.claimed("claim.smd"));
    fs::rename(path, folder.path() + "/moved");
    {
        hook other{options};
        other.save_scalar("y", 1);
        other.end_step();
        CHECK_THROWS_AS(step(), unavailable);
        CHECK_THROWS_AS(step(), run_exists);
        other.close();
    }
    CHECK_THROWS_AS(step(), run_exists);
    CHECK_THROWS_AS(training.close(), unavailable);
    CHECK(training.counters().lost_steps == 4);
    CHECK(local_trial{path}.tensor_names() == std::vector<std::string>{"scalar/y"});
    CHECK(local_trial{folder.path() + "/moved"}.steps() == std::vector<step_number>{0, 2});
}
