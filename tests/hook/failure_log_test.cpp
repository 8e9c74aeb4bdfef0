#include <smdebug/hook/failure_log.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/watch/watch.hpp>

namespace smd = smdebug;
using smdebug_test::hooks::memory_hook;

namespace {

std::exception_ptr full_disk() { return std::make_exception_ptr(smd::unavailable("the disk is full", {})); }

}  // namespace

TEST_CASE("failure_log: what fails is thrown as it is, after what has to be given up was") {
    const smd::hook_options options;
    smd::detail::failure_log losses{options};
    bool given_up = false;
    losses.attempt([] {},
                   [&] {
                       given_up = true;
                       return "nothing";
                   });
    CHECK_FALSE(given_up);
    CHECK_THROWS_AS(losses.attempt([] { std::rethrow_exception(full_disk()); },
                                   [&] {
                                       given_up = true;
                                       return "step 7 is lost";
                                   }),
                    smd::unavailable);
    CHECK(given_up);
    CHECK(losses.counters().last_loss == "step 7 is lost: Unavailable: the disk is full");
}

TEST_CASE("failure_log: whatever is thrown, the loss is discarded and reported") {
    smd::hook_options options;
    smd::detail::failure_log losses{options};
    int given_up = 0;
    const auto fails = [&] {
        losses.attempt([] { throw 7; },
                       [&] {
                           ++given_up;
                           return "step 7 is lost";
                       });
    };
    CHECK_THROWS_AS(fails(), int);
    options.on_failure = smd::failure_policy::drop;
    CHECK_NOTHROW(fails());
    CHECK(given_up == 2);
    CHECK(losses.counters().last_loss == "step 7 is lost: something was thrown that is not a std::exception");
}

TEST_CASE("failure_log: with the policy drop the loss is reported, and training continues") {
    std::vector<std::string> told;
    smd::hook_options options;
    options.on_failure = smd::failure_policy::drop;
    options.on_drop = [&](const std::string& what) { told.push_back(what); };
    smd::detail::failure_log losses{options};
    losses.attempt([] { std::rethrow_exception(full_disk()); }, [] { return "step 7 is lost"; });
    losses.note_dropped("no room");
    CHECK(told == std::vector<std::string>{"step 7 is lost: Unavailable: the disk is full", "no room"});
    CHECK(losses.counters().dropped_tensors == 1);
}

TEST_CASE("failure_log: an on_drop that throws, or causes another loss, costs nothing more") {
    int calls = 0;
    smd::hook_options options;
    options.on_failure = smd::failure_policy::drop;
    smd::detail::failure_log* book = nullptr;
    options.on_drop = [&](const std::string&) {
        ++calls;
        book->note_dropped("again");
        throw 1;
    };
    smd::detail::failure_log losses{options};
    book = &losses;
    CHECK_NOTHROW(losses.note_dropped("no room"));
    CHECK_NOTHROW(losses.attempt([] { std::rethrow_exception(full_disk()); }, [] { return "step 1 is lost"; }));
    CHECK(calls == 2);
    CHECK(losses.counters().dropped_tensors == 3);
}

TEST_CASE("failure_log: of files lost in the background each is counted, the first is thrown") {
    const smd::hook_options options;
    smd::detail::failure_log losses{options};
    losses.counters().steps = 5;
    const std::array lost{
        smd::detail::lost_write{"events/000000000001/000000000001_worker_0.tfevents", full_disk(), true},
        smd::detail::lost_write{"index/000000000/000000000002_worker_0.json",
                                std::make_exception_ptr(smd::access_denied("no right", {})), true},
        smd::detail::lost_write{"collections/000000000/worker_0_collections.json", full_disk()},
        smd::detail::lost_write{"tensorboard/TRAIN/000000000001_worker_0.tfevents", full_disk()},
    };
    CHECK_THROWS_AS(losses.note(lost), smd::unavailable);
    CHECK(losses.counters().steps == 3);
    CHECK(losses.counters().lost_steps == 2);
    CHECK_NOTHROW(losses.note({}));
}

namespace {

using texts = std::vector<std::string>;

const std::vector<float> values{1, 2};

// The notes that a hook with these options gives on a training.
template <class Training>
texts told(smd::hook_options options, const Training& train) {
    texts notes;
    options.on_note = [&](const std::string& note) { notes.push_back(note); };
    memory_hook hook{smd::memory_storage{}, options};
    train(hook);
    CHECK(notes.empty());
    hook.close();
    hook.close();
    return notes;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("closing_notes: tensors that no saved collection holds get one note, with what to write") {
    const texts notes = told({}, [](memory_hook& hook) {
        for (int step = 0; step < 3; ++step) {
            CHECK_FALSE(hook.save_tensor("x", values));
            CHECK_FALSE(hook.should_save("y\n"));
            CHECK(hook.should_save("train_loss") == (step == 0));
            hook.save_tensor("train_loss", std::vector<float>{1});
            hook.end_step();
        }
        CHECK(hook.counters().unsaved_tensors == 2);
        CHECK(hook.unsaved_tensors() == texts{"x", "y\n"});
    });
    CHECK(notes ==
          texts{"2 tensors were offered and never saved, the first \"x\": no collection that is saved holds them. Name "
                "one, save_tensor(\"x\", values, {shape}, {\"default\"}), or set include_regex, include_collections or "
                "save_all"});
    // And what it says to write does it.
    for (const smd::hook_options& options :
         {smd::hook_options{}, smd::hook_options{.include_regex = {"x"}}, smd::hook_options{.save_all = true}}) {
        CHECK(told(options, [&](memory_hook& hook) {
                  if (options.save_all || !options.include_regex.empty()) {
                      CHECK(hook.save_tensor("x", values));
                  } else {
                      CHECK(hook.save_tensor("x", values, {2}, {"default"}));
                  }
                  CHECK(hook.counters().unsaved_tensors == 0);
              }).empty());
    }
}

TEST_CASE("closing_notes: tensors saved in another way, or read by rules, get no note") {
    CHECK(told({}, [](memory_hook& hook) {
              CHECK_FALSE(hook.save_tensor("x", values));
              hook.end_step();
              hook.save_everything_next_step();
              CHECK(hook.save_tensor("x", values));
              hook.save_scalar("lr", 1);
          }).empty());
    const smd::hook_options off{.save_config = {.save_interval = 1}};
    CHECK(told(off, [](memory_hook& hook) {
              auto watching = smd::watch(
                  hook, {.save_config = {.save_interval = 1}, .include_regex = {"^x"}},
                  [](const smd::watched_finding&) {}, smd::rules::exploding_tensor{});
              CHECK(hook.save_tensor("x", values));
              hook.end_step();
              CHECK(hook.unsaved_tensors().empty());
          }).empty());
}

TEST_CASE("closing_notes: a collection without names and regexes gets a note if no tensor was put into it") {
    const smd::hook_options options{.include_collections = {"mine", "weights"}};
    CHECK(told(options, [](memory_hook& hook) { hook.save_tensor("x", values, {2}, {"mine"}); }).empty());
    const texts notes = told(options, [](memory_hook& hook) { hook.save_tensor("b.weight", values); });
    REQUIRE(notes.size() == 1);
    CHECK(has(notes.front(), "no tensor was put into \"mine\""));
}

TEST_CASE("closing_notes: the note on unsaved tensors names a collection whose regex matches nothing") {
    const smd::hook_options options{.collections = {{.name = "mine", .include_regex = {"^atc"}}},
                                    .include_collections = {"mine"}};
    const texts notes = told(options, [](memory_hook& hook) { CHECK_FALSE(hook.save_tensor("act/0", values)); });
    REQUIRE(notes.size() == 1);
    CHECK(has(notes.front(), "1 tensor was offered and never saved, \"act/0\""));
    CHECK(has(notes.front(), "; the include_regex of \"mine\", \"^atc\", matches no tensor"));
    CHECK(told(options, [](memory_hook& hook) { hook.save_scalar("lr", 1); }).empty());
}

TEST_CASE("closing_notes: a loop that never ends its step gets a note, one that saves a single step does not") {
    const auto train = [](bool ends, int steps) {
        return told({.save_config = {.save_interval = 1}}, [&](memory_hook& hook) {
            for (int step = 0; step < steps; ++step) {
                hook.save_tensor("loss", values);
                hook.save_scalar("lr", 1);
                if (ends) {
                    hook.end_step();
                }
            }
        });
    };
    CHECK(train(false, 50) == texts{"\"loss\" was saved 50 times in step 0, the only one, which keeps the last: call "
                                    "end_step() at the end of each iteration"});
    CHECK(train(false, 1).empty());
    CHECK(train(true, 1).empty());
    CHECK(train(true, 3).empty());
}

TEST_CASE("closing_notes: a training without a due step gets a note, unless it is configured so") {
    const auto train = [](memory_hook& hook) {
        for (int step = 0; step < 7; ++step) {
            CHECK_FALSE(hook.save_tensor("loss", values));
            hook.end_step();
        }
    };
    const texts notes = told({.save_config = {.start_step = 100}}, train);
    REQUIRE(notes.size() == 1);
    CHECK(has(notes.front(),
              "nothing was saved: tensors were offered at 7 steps at which no collection was due, see "
              "save_config (its save_interval is 500)"));
    CHECK(told({.save_config = {.end_step = 0}}, train).empty());
    CHECK(told({.include_workers = smd::include_workers::one, .worker = "worker_1", .num_workers = 2}, train).empty());
    CHECK(told({.save_config = {.start_step = 100}}, [](memory_hook& hook) { hook.end_step(); }).empty());
}

TEST_CASE("closing_notes: a log that throws costs nothing") {
    smd::hook_options options;
    options.on_note = [](const std::string&) { throw std::runtime_error("no log"); };
    memory_hook hook{smd::memory_storage{}, options};
    hook.save_tensor("x", values);
    hook.close();
    CHECK(hook.unsaved_tensors() == texts{"x"});
}
