// Storages that fail at any call: losses are reported and counted, files are whole, and the training continues.
#include <smdebug/hook/hook.hpp>

#include "hook/faults_fixture.hpp"
#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::faults;
using namespace std::chrono_literals;

TEST_CASE("faults: a run without faults is whole, and reports its counts") {
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
    CHECK_THROWS_AS(hook.close(), unavailable);  // an unfinished step is reported, too
    CHECK(hook.counters().lost_steps == 2);
    CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{0, 2});
}

TEST_CASE("faults: whichever call fails, drop throws nothing, reports it once, and the training continues") {
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
                // An index file that appeared in spite of an error: its step exists, and counts as lost.
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

TEST_CASE("faults: a step that is abandoned after its files were lost in the background is counted once") {
    for (const bool is_known : {false, true}) {  // whether the hook has heard of the loss before
        const faulty_storage store;
        hook_options options = writes(saves_all(), writing::behind);
        options.on_failure = failure_policy::drop;
        faulty_hook hook{store, options};
        store.plan({.first = 0, .only = "create events/"});
        hook.save_tensor("large", std::vector<float>(1'000'000));  // more than the pool: the thread has begun
        if (is_known) {
            hook.flush();
        }
        hook.abandon_step();
        hook.flush();
        CHECK(hook.counters().lost_steps == 1);
        CHECK(hook.counters().steps == 0);
        hook.save_scalar("x", 1);
        hook.end_step();
        hook.close();
        CHECK(hook.counters().lost_steps == 1);
        CHECK(hook.counters().steps == 1);
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{1});
    }
}

TEST_CASE(
    "faults: a step whose predecessor of the same number in its mode cannot be removed is written, and not lost") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_all(), how)};
        hook.set_mode(mode::train);
        hook.set_step(7, 3);
        hook.save_scalar("x", 1);
        hook.end_step();
        hook.set_step(5, 3);  // the training was set back
        hook.save_scalar("x", 2);
        store.plan({.first = 0, .only = "remove " + smdebug::detail::locations::index_key(7, "worker_0")});
        CHECK(contains(what_of<unavailable>([&] { end_and_flush(hook); }), "cannot remove index/"));
        CHECK(store.objects().size(smdebug::detail::locations::index_key(5, "worker_0")));
        CHECK(store.objects().size(smdebug::detail::locations::event_key(7, "worker_0")));  // as its index is there
        CHECK(hook.counters().last_loss.find("is lost") == std::string::npos);
        CHECK(hook.counters().lost_steps == 0);
        CHECK(hook.counters().steps == 2);
        hook.close();
        CHECK(hook.counters().steps == 2);
    }
}

TEST_CASE("faults: the number in its mode of a step that was lost is free again, whenever it was lost") {
    for (const writing how : {writing::at_once, writing::behind}) {
        for (const char* const lost : {"create events/", "commit index/"}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(lost);
            const faulty_storage store;
            faulty_hook hook{store, writes(saves_all(), how)};
            hook.set_mode(mode::train);
            hook.save_scalar("x", 1);
            store.plan({.first = 0, .only = lost});
            CHECK_THROWS_AS(end_and_flush(hook), unavailable);
            hook.set_step(0, 0);
            hook.save_scalar("x", 2);
            CHECK_NOTHROW(end_and_flush(hook));
            hook.close();
            CHECK(hook.counters().lost_steps == 1);
            CHECK(hook.counters().steps == 1);
            CHECK(memory_trial{store.objects()}.tensor("scalar/x").steps({.mode = mode::train}) ==
                  std::vector<step_number>{0});
        }
    }
}

TEST_CASE("faults: a step that was lost is not the one that was written last: that is the one before it") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_all(), how)};
        const auto step = [&] {
            hook.save_scalar("x", 1);
            end_and_flush(hook);
        };
        step();
        store.plan({.first = 0, .only = "commit index/"});
        CHECK_THROWS_AS(step(), unavailable);
        CHECK(hook.step() == 2);
        CHECK_THROWS_AS(hook.set_step(0), value_error);
        CHECK_NOTHROW(hook.set_step(1));
        step();
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{0, 1});
    }
}

TEST_CASE("faults: a step of shapes alone is counted where it is lost, and gives its number in its mode back") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_shapes_of_some(), how)};
        hook.set_mode(mode::train);
        hook.save_tensor("shape", std::vector<float>(10));
        store.plan({.first = 0, .only = "commit index/"});
        CHECK_THROWS_AS(end_and_flush(hook), unavailable);
        CHECK(hook.counters().lost_steps == 1);
        CHECK(hook.counters().steps == 0);
        hook.set_step(1, 0);
        hook.save_tensor("shape", std::vector<float>(10));
        CHECK_NOTHROW(end_and_flush(hook));
        CHECK(hook.counters().lost_steps == 1);
        CHECK(hook.counters().steps == 1);
    }
}

TEST_CASE("faults: a step of shapes alone behind one that was abandoned does not change what that one is counted for") {
    const faulty_storage store;
    hook_options options = writes(saves_shapes_of_some(), writing::behind);
    options.on_failure = failure_policy::drop;
    faulty_hook hook{store, options};
    store.plan({.first = 0, .only = "create events/"});
    hook.save_tensor("large", std::vector<float>(1'000'000));
    hook.abandon_step();
    hook.save_tensor("shape", std::vector<float>(10));
    hook.end_step();
    hook.flush();
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().steps == 1);
    CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{1});
}

TEST_CASE("faults: what a lost step was to replace is still known, and replaced by the next one") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_all(), how)};
        hook.set_mode(mode::train);
        const auto save = [&](step_number global) {
            hook.set_step(global, 3);
            hook.save_scalar("x", static_cast<float>(global));
            end_and_flush(hook);
        };
        save(7);
        store.plan({.first = 0, .only = "commit index/"});
        CHECK_THROWS_AS(save(5), unavailable);
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{7});
        CHECK_THROWS_AS(save(8), value_error);  // TRAIN 3 is there, as 7
        save(6);
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{6});
        CHECK(hook.counters().lost_steps == 1);
    }
}

TEST_CASE("faults: what two steps in a row were to replace is still known where both are lost before that is seen") {
    const faulty_storage store;
    hook_options options = writes(saves_all(), writing::behind);
    gate may_write;
    hold(store, "create events/000000000005", may_write);
    options.on_failure = failure_policy::drop;
    faulty_hook hook{store, options};
    hook.set_mode(mode::train);
    const auto save = [&](step_number global) {
        hook.set_step(global, 3);
        hook.save_scalar("x", static_cast<float>(global));
        hook.end_step();
    };
    save(7);
    hook.flush();
    store.plan({.first = 0, .count = 2, .only = "commit index/"});
    save(5);
    save(4);
    may_write.open();
    hook.flush();
    CHECK(hook.counters().lost_steps == 2);
    CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{7});
    save(6);
    hook.flush();
    CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{6});
}

TEST_CASE("faults: the number in its mode stays taken where a step that is written again is lost before it replaced") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_all(), how)};
        hook.set_mode(mode::train);
        const auto save = [&](step_number step) {
            hook.set_step(step, step);
            hook.save_scalar("x", 1);
            end_and_flush(hook);
        };
        save(5);
        save(6);
        store.plan({.first = 0, .only = "create events/"});
        CHECK_THROWS_AS(save(5), unavailable);
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{5, 6});
        CHECK_THROWS_AS(hook.set_step(8, 5), value_error);
    }
}

TEST_CASE("faults: a step whose older events of the same number cannot be removed is written, and not lost") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const faulty_storage store;
        faulty_hook hook{store, writes(saves_shapes_of_some(), how)};
        hook.set_mode(mode::train);
        hook.set_step(7, 3);
        hook.save_scalar("x", 1);
        hook.end_step();
        hook.save_scalar("x", 2);
        hook.end_step();
        hook.flush();
        hook.set_step(7, 3);
        hook.save_tensor("shape", std::vector<float>(10));
        store.plan({.first = 0, .only = "remove events/"});
        CHECK(contains(what_of<unavailable>([&] { end_and_flush(hook); }), "cannot remove events/"));
        CHECK(hook.counters().last_loss.find("is lost") == std::string::npos);
        CHECK(hook.counters().lost_steps == 0);
        CHECK(hook.counters().steps == 3);
        CHECK_THROWS_AS(hook.set_step(9, 3), value_error);  // it is known
    }
}

TEST_CASE("faults: a step that is written again is not touched by the late loss of the older one of its number") {
    for (const bool is_ended : {false, true}) {  // before the older one is lost
        CAPTURE(is_ended);
        const faulty_storage store;
        gate may_write;
        hold(store, "create events/000000000005", may_write);
        hook_options options = writes(saves_all(), writing::behind);
        options.background.pool_bytes = 8U << 20U;  // room for all of them
        faulty_hook hook{store, options};
        hook.set_mode(mode::train);
        hook.set_step(5, 5);
        hook.save_scalar("x", 1);
        store.plan({.first = 0, .only = "create events/"});
        hook.end_step();
        hook.save_scalar("x", 2);
        hook.end_step();
        hook.set_step(5, 5);
        hook.save_scalar("x", 3);
        if (is_ended) {
            hook.end_step();
        }
        may_write.open();
        CHECK_THROWS_AS(hook.flush(), unavailable);
        CHECK_FALSE(hook.step_is_lost());
        if (!is_ended) {
            hook.end_step();
        }
        CHECK_THROWS_AS(hook.set_step(8, 5), value_error);
        hook.close();
        CHECK(hook.counters().lost_steps == 1);
        CHECK(hook.counters().steps == 2);
        CHECK(memory_trial{store.objects()}.steps() == std::vector<step_number>{5, 6});
    }
}
