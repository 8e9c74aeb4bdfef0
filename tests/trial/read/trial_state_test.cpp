#include <smdebug/trial/read/trial_state.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "trial/one_step.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

template <storage Storage>
trial_state state_of(const Storage& store, trial_options options = {}) {
    return {any_storage{store}, std::move(options), any_decoder{event_decoder<>{}}, any_kernel{scalar_kernel{}}};
}

lookup<byte_buffer> read_first(const trial_state& state, step_number step) {
    const auto from = state.current();
    return state.read_event(*from, from->find_step(step)->files()[0], layout::entry{.record = {0, 10}, .what = {}});
}

}  // namespace

TEST_CASE("trial_state: a refresh publishes a new catalog, readers keep theirs") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_state state = state_of(store);
    const auto before = state.current();
    CHECK(state.refreshed() == before);
    build.step(one(1));
    const auto after = state.fresh();
    CHECK(after != before);
    CHECK(before->steps.size() == 1);
    CHECK(after->steps.size() == 2);
    const auto setting = state.begin_refresh_setting(false);
    build.step(one(2));
    CHECK(state.fresh() == after);
    CHECK(state.refreshed()->steps.size() == 3);
    state.end_refresh_setting(setting);
    state.end_refresh_setting(setting);  // ending it twice is harmless
    CHECK(state.dynamic_refresh());
}

TEST_CASE("trial_state: a missing event file is looked for as often as the options say, unless it will not come") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0)).step(one(1));
    store.remove(smdebug::detail::locations::event_key(0, "worker_0"));
    store.remove(smdebug::detail::locations::event_key(1, "worker_0"));
    const trial_state patient = state_of(store, {.poll_interval = 1h, .missing_event_file_retry_limit = 1'000'000});
    const trial_state hasty = state_of(store, {.poll_interval = 1ms, .missing_event_file_retry_limit = 2});
    CHECK(failure_of(read_first(hasty, 1)).why == lookup_failure_kind::event_file_missing);
    CHECK(failure_of(read_first(hasty, 1)).where == smdebug::detail::locations::event_key(1, "worker_0"));

    // The worker has continued with step 2: it will not write what is missing at step 0, so the call does not wait.
    build.step(one(2));
    CHECK(failure_of(read_first(patient, 0)).why == lookup_failure_kind::event_file_missing);
    build.end();
    CHECK(failure_of(read_first(patient, 1)).why == lookup_failure_kind::event_file_missing);
    CHECK(patient.refreshed()->loaded_all_steps);
    CHECK((value_of(read_first(patient, 2))).size() == 10);
}

TEST_CASE("trial_state: an event file that was missing is found as soon as it exists, even after the job's end") {
    for (const bool ended : {false, true}) {
        CAPTURE(ended);
        memory_storage store;
        run_builder build{store};
        build.collections().step(one(0)).step(one(1));
        const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
        const byte_buffer bytes = store.read(key);
        store.remove(key);
        if (ended) {
            build.end();
        }
        const trial_state state = state_of(store);
        CHECK(failure_of(read_first(state, 0)).why == lookup_failure_kind::event_file_missing);
        CHECK(failure_of(read_first(state, 0)).where == key);
        CHECK(state.missing_event_files() == 1);
        store.write(key, bytes.view());
        CHECK((value_of(read_first(state, 0))).size() == 10);
        CHECK(state.missing_event_files() == 0);
        CHECK((value_of(read_first(state, 0))).size() == 10);
        store.remove(key);
        CHECK(failure_of(read_first(state, 0)).why == lookup_failure_kind::event_file_missing);
    }
}

TEST_CASE("trial_state: if a run has ended a missing event file is requested once per read, without an exception") {
    memory_storage objects;
    run_builder{objects}.collections().step(one(0)).end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    objects.remove(key);
    const counting_storage<> store{objects};
    const trial_state state = state_of(store);
    const auto from = state.current();
    const auto read = [&] {
        return state.read_event(*from, from->find_step(0)->files()[0], layout::entry{.record = {0, 10}, .what = {}});
    };
    static_cast<void>(store.calls());
    CHECK_FALSE(read());
    CHECK(store.calls() == std::vector<std::string>{"part " + key});
    CHECK_FALSE(read());
    CHECK_FALSE(read());
    CHECK(store.calls() == std::vector<std::string>{"size " + key, "size " + key});
}

namespace {

/// A storage where each look costs time or money.
struct costly_storage : counting_storage<> {
    using counting_storage<>::counting_storage;
    std::chrono::milliseconds interval = 1h;
    [[nodiscard]] storage_abilities abilities() const { return {.look_interval = interval}; }
};

}  // namespace

TEST_CASE("trial_state: if looking is costly a missing file is requested once per interval") {
    memory_storage objects;
    run_builder{objects}.collections().step(one(0)).end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer bytes = objects.read(key);
    objects.remove(key);
    for (const auto interval : {std::chrono::milliseconds{1h}, std::chrono::milliseconds{1}}) {
        costly_storage store{objects};
        store.interval = interval;
        const trial_state state = state_of(store);
        const auto from = state.current();
        const auto read = [&] {
            return state.read_event(*from, from->find_step(0)->files()[0],
                                    layout::entry{.record = {0, 10}, .what = {}});
        };
        static_cast<void>(store.calls());
        CHECK(failure_of(read()).why == lookup_failure_kind::event_file_missing);
        if (interval == 1h) {
            CHECK(failure_of(read()).where == key);
            CHECK(store.calls().size() == 1);
        } else {
            store.write(key, bytes.view());
            std::this_thread::sleep_for(2ms);
            CHECK((value_of(read())).size() == 10);
            store.remove(key);
        }
    }
}

TEST_CASE("trial_state: an index file that names no event file, or one outside the run, is only damage") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const std::vector<std::string> names{"", "../../otherbucket/secret", "/secret", "events/../../secret", ".."};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto step = static_cast<step_number>(i) + 1;
        build.put(smdebug::detail::locations::index_key(step, "worker_0"), index_text(one(step), {{0, 10}}, names[i]));
        if (!names[i].empty()) {
            store.write(names[i], as_bytes("not of this run, but long enough"));
        }
    }
    build.end();
    const trial_state state = state_of(store);
    for (std::size_t i = 0; i < names.size(); ++i) {
        CAPTURE(names[i]);
        const auto failed = read_first(state, static_cast<step_number>(i) + 1);
        CHECK(failed.error().why == lookup_failure_kind::damaged);
        CHECK(failed.error().where ==
              smdebug::detail::locations::index_key(static_cast<step_number>(i) + 1, "worker_0"));
        CHECK(failed.error().note.find(names[i]) != std::string::npos);
    }
    CHECK(read_first(state, 0).has_value());
}

TEST_CASE("trial_state: takes policies that can do nothing but what their concepts say") {
    memory_storage store;
    run_builder{store}.collections().step(one(0)).end();
    const trial_state state{
        any_storage{storage_archetype{store}}, {}, any_decoder{decoder_archetype{1}}, any_kernel{kernel_archetype{1}}};
    CHECK(state.current()->steps.size() == 1);
    CHECK(state.current()->loaded_all_steps);
}

TEST_CASE("trial_state: a storage's read error is returned as a value that holds it") {
    struct refusing : memory_storage {
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
            if (where == whole_object) {
                return memory_storage::read(key);
            }
            throw access_denied("no right to read " + std::string{key}, {.where = std::string{key}});
        }
    };
    refusing store;
    run_builder{store}.collections().step(one(0)).end();
    const trial_state state = state_of(store);
    const auto from = state.current();
    const auto found = state.read_event(*from, *from->files_in({})[0], layout::entry{.record = {0, 10}, .what = {}});
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().why == lookup_failure_kind::unreadable);
    CHECK_THROWS_AS(throw_failure(found.error(), "a", 0, mode::global), access_denied);
}
