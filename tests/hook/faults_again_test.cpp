// Storages that fail when a run is resumed, when one of several workers ends it, and when a step is written again.
#include <smdebug/hook/hook.hpp>

#include "hook/faults_fixture.hpp"
#include "hook/object_store.hpp"
#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::faults;

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
    for (const bool claims : {true, false}) {
        CAPTURE(claims);
        std::size_t call = 0;
        for (bool failed = true; failed; ++call) {
            CAPTURE(call);
            const faulty_storage store;
            const any_storage place = claims ? any_storage{store} : like_s3(store);
            hook_options options = saves_all();
            options.include_workers = include_workers::all;
            options.num_workers = 2;
            tally seen;
            options.worker = "worker_1";
            hook other{place, options};
            options.worker = "worker_0";
            hook last{place, options};
            other.save_tensor("w", std::vector<float>{1});
            other.close();
            CHECK_FALSE(has_ended(store.objects()));
            last.save_tensor("w", std::vector<float>{1});
            last.end_step();
            store.plan({.first = call});
            seen.attempt([&] { last.close(); });
            failed = !store.failed().empty();
            CHECK(seen.thrown == (failed ? 1 : 0));
            // An older collections file will do.
            CHECK(has_ended(store.objects()) ==
                  (!failed || store.failed().find(" collections/000000000/worker_0_") != std::string::npos));
            CHECK(last.counters().lost_steps == 0);
            store.plan({});
            if (!claims && !has_ended(store.objects())) {  // started again, it ends the job
                options.existing = existing_run::resume;
                options.init_step = last.step();
                hook{place, options}.close();
                CHECK(has_ended(store.objects()));
            }
        }
        CHECK(call > 5);  // without claims: remove, two listings, write
    }
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

TEST_CASE("faults: a mode's step that moves to another number can be read at every moment, as the old one or the new") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        for (std::size_t call = 0;; ++call) {
            CAPTURE(call);
            const faulty_storage store;
            faulty_hook hook{store, writes(saves_all(), how)};
            tally seen;
            const auto save = [&](step_number global, step_number in_mode, float value) {
                hook.set_step(global, in_mode);
                seen.attempt([&] { hook.save_tensor("w", std::vector<float>(10, value)); });
                seen.attempt([&] { hook.end_step(); });
            };
            hook.set_mode(mode::train);
            save(5, 5, 5);
            save(7, 6, 7);
            hook.flush();
            store.plan({.first = call, .count = SIZE_MAX});  // as if the process died
            save(6, 6, 6);
            seen.attempt([&] { hook.flush(); });
            const bool failed = !store.failed().empty();
            const memory_trial run{store.objects()};
            const float value = run.tensor("w").value<float>(6, {.mode = mode::train})(0);
            CHECK((value == 7 || value == 6));
            CHECK(run.tensor("w").value<float>(5, {.mode = mode::train})(0) == 5);
            store.plan({});
            if (!failed) {
                CHECK(value == 6);
                CHECK(store.objects().list("events/", "").size() == 2);
                break;
            }
        }
    }
}
