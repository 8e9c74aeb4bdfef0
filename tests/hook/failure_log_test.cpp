#include <smdebug/hook/failure_log.hpp>

#include <doctest/doctest.h>

#include <smdebug/core/error.hpp>

#include <array>
#include <exception>
#include <string>
#include <vector>

namespace smd = smdebug;

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
        smd::detail::lost_write{"events/000000000001/000000000001_worker_0.tfevents", full_disk()},
        smd::detail::lost_write{"index/000000000/000000000002_worker_0.json",
                                std::make_exception_ptr(smd::access_denied("no right", {}))},
        smd::detail::lost_write{"collections/000000000/worker_0_collections.json", full_disk()},
        smd::detail::lost_write{"tensorboard/TRAIN/000000000001_worker_0.tfevents", full_disk()},
    };
    CHECK_THROWS_AS(losses.note(lost), smd::unavailable);
    CHECK(losses.counters().steps == 3);
    CHECK(losses.counters().lost_steps == 2);
    CHECK_NOTHROW(losses.note({}));
}
