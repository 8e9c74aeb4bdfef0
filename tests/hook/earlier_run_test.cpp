#include <smdebug/hook/earlier_run.hpp>

#include "hook/object_store.hpp"
#include "support/scripted_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

void put_step(memory_storage& store, step_number step, const std::string& worker, mode which = mode::global,
              step_number mode_step = 0) {
    smdebug::detail::index_writer index;
    index.add_tensor("w", {0, 10});
    const std::string events = smdebug::detail::locations::event_key(step, worker);
    store.write(events, as_bytes("events"));
    store.write(smdebug::detail::locations::index_key(step, worker),
                as_bytes(index.text({.mode = which, .mode_step = mode_step, .event_file_name = events})));
}

std::set<std::string> keys_of(const memory_storage& store) {
    const auto list = store.list("", "");
    return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("earlier_run: an empty place is neither refused nor changed") {
    memory_storage store;
    earlier_run none{any_storage{store}, "worker_0"};
    CHECK_NOTHROW(none.refuse());
    const continuation next = none.resume({});
    CHECK(next.step == 0);
    CHECK(next.mode_steps.empty());
    CHECK(none.resume(7).step == 7);
    CHECK(store.list("", "").empty());
}

TEST_CASE("earlier_run: what a listing shows outside of the run is neither its own nor removed") {
    memory_storage store;
    for (const char* key :
         {"index/../../other/index/000000000/000000000005_worker_0.json", "index/../000000000005_worker_0.tmp.1.0",
          "events/../../other/000000000005_worker_0.tfevents"}) {
        store.write(key, as_bytes("of others"));
    }
    const auto before = keys_of(store);
    earlier_run run{any_storage{store}, "worker_0"};
    CHECK_NOTHROW(run.refuse());
    CHECK(run.resume({}).step == 0);
    CHECK(keys_of(store) == before);
}

TEST_CASE("earlier_run: a worker's own steps are refused, those of others are not") {
    memory_storage store;
    put_step(store, 3, "worker_1");
    CHECK_NOTHROW(earlier_run(any_storage{store}, "worker_0").refuse());
    put_step(store, 12, "worker_0");
    const run_exists thrown =
        smdebug_test::caught<run_exists>([&] { earlier_run(any_storage{store}, "worker_0").refuse(); });
    CHECK(thrown.step() == 12);
    CHECK(thrown.worker() == "worker_0");
    CHECK(std::string{thrown.what()}.find("existing_run::resume") != std::string::npos);
}

TEST_CASE("earlier_run: a job that has ended is refused, to resume, too") {
    memory_storage store;
    store.write(smdebug::detail::locations::end_of_job, {});
    earlier_run ended{any_storage{store}, "worker_0"};
    CHECK_THROWS_AS(ended.refuse(), run_exists);
    CHECK_THROWS_AS(static_cast<void>(ended.resume({})), run_exists);
    CHECK(keys_of(store).size() == 1);
}

TEST_CASE("earlier_run: goes on behind the last step that is whole, and takes away what lies beyond") {
    memory_storage store;
    put_step(store, 0, "worker_0", mode::train, 0);
    put_step(store, 5, "worker_0", mode::eval, 0);
    put_step(store, 10, "worker_0", mode::train, 4);
    const std::set<std::string> whole = keys_of(store);
    // Events without an index, and files that had not got their names yet: beside an extension, or in its place.
    for (const char* rest :
         {"events/000000000011/000000000011_worker_0.tfevents",
          "events/000000000012/000000000012_worker_0.tfevents.tmp.5.0",
          "events/000000000012/000000000012_worker_0.tmp.5.1", "index/000000000/000000000011_worker_0.json.tmp.5.0",
          "index/000000000/000000000011_worker_0.tmp.5.10", "events/000000000005/000000000005_worker_0.tmp.5.0",
          "collections/000000000/worker_0_collections.json.tmp.5.0",
          "collections/000000000/worker_0_collections.tmp.5.0"}) {
        store.write(rest, as_bytes("half"));
    }
    const continuation next = earlier_run(any_storage{store}, "worker_0").resume({});
    CHECK(next.step == 11);
    CHECK(next.mode_steps == std::map<mode, step_number>{{mode::train, 5}, {mode::eval, 1}});
    CHECK(keys_of(store) == whole);
}

TEST_CASE("earlier_run: goes on behind the last index file that is not damaged; what a repair might mend stays") {
    memory_storage one;
    put_step(one, 0, "worker_0", mode::train, 0);
    std::string cut{as_text(one.read(smdebug::detail::locations::index_key(0, "worker_0")).view())};
    cut.resize(cut.size() - 2);  // after the mode's step number
    for (const std::string_view left : {std::string_view{}, std::string_view{"{\"meta\": {\"mode\""},
                                        std::string_view{"\0\0\0", 3}, std::string_view{cut}}) {
        memory_storage store;
        for (const step_number step : {0, 1, 2, 3, 4}) {
            put_step(store, step, "worker_0", mode::train, step);
        }
        for (const step_number damaged : {1, 3, 4}) {
            store.write(smdebug::detail::locations::index_key(damaged, "worker_0"), as_bytes(left));
        }
        const std::set<std::string> before = keys_of(store);
        const continuation told = earlier_run(any_storage{store}, "worker_0").resume(5);
        CHECK(told.step == 5);
        CHECK(keys_of(store) == before);

        const continuation next = earlier_run(any_storage{store}, "worker_0").resume({});
        CHECK(next.step == 3);
        CHECK(next.mode_steps == std::map<mode, step_number>{{mode::train, 3}});
        std::set<std::string> whole = before;
        for (const step_number damaged : {3, 4}) {
            whole.erase(smdebug::detail::locations::index_key(damaged, "worker_0"));
            whole.erase(smdebug::detail::locations::event_key(damaged, "worker_0"));
        }
        CHECK(keys_of(store) == whole);
    }
}

TEST_CASE("earlier_run: an unreadable index file is an error that says what to do, and is kept") {
    struct unreadable_storage : memory_storage {
        using memory_storage::memory_storage;
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            throw unavailable("cannot read " + std::string{key} + ": Input/output error", {.where = std::string{key}});
        }
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range /*all*/) const { return read(key); }
        void read_each(std::span<const std::string> keys, object_sink /*none*/) const {
            static_cast<void>(read(keys.front()));
        }
    };
    unreadable_storage store;
    put_step(store, 0, "worker_0", mode::train, 0);
    const std::set<std::string> before = keys_of(store);
    for (const std::optional<step_number> first : {std::optional<step_number>{}, std::optional<step_number>{2}}) {
        const unavailable thrown = smdebug_test::caught<unavailable>(
            [&] { return earlier_run(any_storage{store}, "worker_0").resume(first); });
        CHECK(thrown.where() == smdebug::detail::locations::index_key(0, "worker_0"));
        CHECK(std::string{thrown.what()}.find("Input/output error; make it readable") != std::string::npos);
        CHECK(keys_of(store) == before);
    }
}

TEST_CASE("earlier_run: what is removed of a durable run is on disk before its events go") {
    memory_storage objects;
    for (const step_number step : {0, 1, 1000}) {
        put_step(objects, step, "worker_0", mode::train, step);
    }
    struct noting_storage : memory_storage {
        using memory_storage::memory_storage;
        bool remove(std::string_view key, durability how = durability::cached) {
            done->push_back(how == durability::on_disk ? "sync " + std::string{key.substr(0, key.rfind('/'))}
                                                       : "remove " + std::string{key.substr(0, key.find('/'))});
            return memory_storage::remove(key);
        }
        std::shared_ptr<std::vector<std::string>> done = std::make_shared<std::vector<std::string>>();
    };
    noting_storage store;
    for (const std::string& key : objects.list("", "")) {
        store.write(key, objects.read(key).view());
    }
    any_storage erased{store};
    static_cast<void>(earlier_run(erased, "worker_0", durability::on_disk).resume(1));
    CHECK(*store.done == std::vector<std::string>{"remove index", "remove index", "sync index/000000000",
                                                  "sync index/000000001", "remove events", "remove events"});
}

TEST_CASE("earlier_run: continues at a given step, before or after the last one") {
    memory_storage store;
    for (step_number step = 0; step < 4; ++step) {
        put_step(store, step, "worker_0", mode::global, step);
    }
    const std::set<std::string> all = keys_of(store);
    CHECK(earlier_run(any_storage{store}, "worker_0").resume(100).step == 100);
    CHECK(keys_of(store) == all);
    const continuation next = earlier_run(any_storage{store}, "worker_0").resume(1);
    CHECK(next.step == 1);
    CHECK(next.mode_steps == std::map<mode, step_number>{{mode::global, 1}});
    CHECK(keys_of(store) == std::set<std::string>{smdebug::detail::locations::index_key(0, "worker_0"),
                                                  smdebug::detail::locations::event_key(0, "worker_0")});
    CHECK(earlier_run(any_storage{store}, "worker_0").resume(0).step == 0);
    CHECK(keys_of(store).empty());
}

TEST_CASE("earlier_run: keeps the files of other workers, however similar their names are") {
    const std::string device = "/job:worker/replica:0/task:1/device:GPU:0";
    const std::vector<std::string> workers{"worker_0", "worker_0.1", "worker_0.json", "worker_01", "xworker_0",
                                           "worker",   "0",          "a.tmp.1.2",     "a",         device};
    for (const std::string& own : workers) {
        CAPTURE(own);
        memory_storage store;
        for (const std::string& worker : workers) {
            put_step(store, 0, worker);
            put_step(store, 1, worker);
            store.write(smdebug::detail::locations::collections_key(worker), as_bytes("{}"));
            store.write(smdebug::detail::locations::event_key(2, worker) + ".tmp.4.0", as_bytes("half"));
            store.write(smdebug::detail::locations::collections_key(worker) + ".tmp.4.0", as_bytes("half"));
        }
        for (const char* other :
             {"index/README.txt", "index/000000000/worker_0.json", "index/000000000/1_.json", "index/-1_worker_0.json",
              "events/notes.tmp.txt", "events/000000000001_worker_0.pt", "claim.smd", "checkpoints/1_worker_0.tfevents",
              "tensorboard/TRAIN/000000000001_worker_0.tfevents"}) {
            store.write(other, as_bytes("somebody's"));
        }
        std::set<std::string> left = keys_of(store);
        for (const std::string& gone :
             {smdebug::detail::locations::index_key(1, own), smdebug::detail::locations::event_key(1, own),
              smdebug::detail::locations::event_key(2, own) + ".tmp.4.0",
              smdebug::detail::locations::collections_key(own) + ".tmp.4.0"}) {
            CHECK(left.erase(gone) == 1);
        }
        CHECK(earlier_run(any_storage{store}, own).resume(1).step == 1);
        CHECK(keys_of(store) == left);
    }
}

TEST_CASE("earlier_run: steps go from the last to the first, so that a run is left at any moment") {
    struct in_order : memory_storage {
        explicit in_order(std::vector<std::string>& to) : removed(&to) {}
        bool remove(std::string_view key, durability how) override {
            removed->emplace_back(key);
            return memory_storage::remove(key, how);
        }
        std::vector<std::string>* removed;
    };
    std::vector<std::string> removed;
    in_order store{removed};
    for (const step_number step : {0, 999, 1000, 20'000}) {
        put_step(store, step, "worker_0");
    }
    static_cast<void>(earlier_run(any_storage{store}, "worker_0").resume(500));
    REQUIRE(removed.size() == 6);
    CHECK(removed[0] == smdebug::detail::locations::index_key(20'000, "worker_0"));
    CHECK(removed[1] == smdebug::detail::locations::index_key(1000, "worker_0"));
    CHECK(removed[2] == smdebug::detail::locations::index_key(999, "worker_0"));
    for (std::size_t i = 3; i < 6; ++i) {  // events only when no index names them any more
        CHECK(removed[i].starts_with("events/"));
    }
}

TEST_CASE("earlier_run: knows how far each mode has come, however long ago, and however its steps were numbered") {
    memory_storage store;
    for (step_number step = 0; step < 3; ++step) {
        put_step(store, step, "worker_0", mode::eval, step);
    }
    for (step_number step = 3; step < 1503; ++step) {
        put_step(store, step, "worker_0", mode::train, step == 700 ? 5000 : step - 3);
    }
    store.write(smdebug::detail::locations::index_key(1503, "worker_0"), as_bytes("damaged"));
    any_storage place = smdebug_test::like_s3(store);
    const continuation next = earlier_run(place, "worker_0").resume({});
    CHECK(next.step == 1503);  // a damaged one is taken away
    CHECK(next.mode_steps == std::map<mode, step_number>{{mode::train, 5001}, {mode::eval, 3}});
    CHECK(next.written.global_of(mode::eval, 0) == 0);
    CHECK(next.written.global_of(mode::train, 5000) == 700);
    CHECK_FALSE(next.written.global_of(mode::train, 697));
}

TEST_CASE("earlier_run: steps that were not saved are the training's, so that its schedule stays where it was") {
    memory_storage store;
    put_step(store, 0, "worker_0", mode::train, 0);
    put_step(store, 500, "worker_0", mode::train, 500);
    for (step_number step = 501; step < 511; ++step) {
        put_step(store, step, "worker_0", mode::eval, step - 501);
    }
    put_step(store, 1010, "worker_0", mode::train, 1000);
    // The training stopped at 1300; without init_step it begins where the run ends.
    CHECK(earlier_run(any_storage{store}, "worker_0").resume({}).mode_steps ==
          std::map<mode, step_number>{{mode::train, 1001}, {mode::eval, 10}});
    CHECK(earlier_run(any_storage{store}, "worker_0").resume(1300).mode_steps ==
          std::map<mode, step_number>{{mode::train, 1290}, {mode::eval, 10}});
    // Back to a checkpoint.
    CHECK(earlier_run(any_storage{store}, "worker_0").resume(700).mode_steps ==
          std::map<mode, step_number>{{mode::train, 690}, {mode::eval, 10}});
    // Where nothing is there.
    const std::map<mode, step_number> all{{mode::train, 700}, {mode::eval, 700}, {mode::predict, 700}};
    CHECK(earlier_run(any_storage{store}, "worker_1").resume(700).mode_steps == all);
}

TEST_CASE("earlier_run: the largest possible step is an error, and the count does not overflow") {
    constexpr step_number last = std::numeric_limits<step_number>::max();
    memory_storage store;
    put_step(store, 0, "worker_0", mode::train, last);
    CHECK_THROWS_WITH_AS(static_cast<void>(earlier_run(any_storage{store}, "worker_0").resume({})),
                         doctest::Contains("no step can follow step 9223372036854775807"), value_error);
    put_step(store, 0, "worker_0", mode::train, last - 10);
    CHECK(earlier_run(any_storage{store}, "worker_0").resume(10).mode_steps[mode::train] == last);
    CHECK_THROWS_AS(static_cast<void>(earlier_run(any_storage{store}, "worker_0").resume(11)), value_error);
}

TEST_CASE("earlier_run: a storage that cannot remove says so, where something is to be removed") {
    smdebug_test::scripted_storage store;
    CHECK(earlier_run(any_storage{store}, "worker_0").resume({}).step == 0);
    store.write(smdebug::detail::locations::event_key(0, "worker_0"), as_bytes("events"));
    const unsupported thrown =
        smdebug_test::caught<unsupported>([&] { return earlier_run(any_storage{store}, "worker_0").resume({}); });
    CHECK(std::string{thrown.what()}.find("an earlier run left") != std::string::npos);
}

TEST_CASE("earlier_run: what S3 can do is enough to refuse, and to go on") {
    memory_storage objects;
    for (step_number step = 0; step < 4; ++step) {
        put_step(objects, step, "worker_0", mode::train, step);
    }
    objects.write(smdebug::detail::locations::event_key(4, "worker_0"), as_bytes("events"));
    any_storage place = smdebug_test::like_s3(objects);
    CHECK_THROWS_AS(earlier_run(place, "worker_0").refuse(), run_exists);
    const continuation next = earlier_run(place, "worker_0").resume(3);
    CHECK(next.step == 3);
    CHECK(next.mode_steps == std::map<mode, step_number>{{mode::train, 3}});
    CHECK(keys_of(objects).size() == 6);
}
