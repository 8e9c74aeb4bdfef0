// How often a trial sends requests to a remote storage: each takes tens of milliseconds there, and a listing one
// for every thousand keys.
#include <smdebug/trial/basic_trial.hpp>

#include "support/remote_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/step_stream.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

constexpr step_number steps = 300;
const texts workers{"worker_0", "worker_1"};

void write_step(memory_storage& store, step_number number) {
    for (const std::string& worker : workers) {
        run_builder{store}.step({.step = number, .tensors = {tensor_of<float>("a", {1})}, .worker = worker});
    }
}

memory_storage a_run(bool ended) {
    memory_storage store;
    run_builder build{store};
    build.collections(workers);
    for (step_number number = 0; number < steps; ++number) {
        write_step(store, number);
    }
    if (ended) {
        build.end();
    }
    return store;
}

}  // namespace

TEST_CASE("requests: opening a run that has ended is one listing, one read of each index file, and a handful") {
    const remote_storage store{a_run(true)};
    const trial run{any_storage{store}};
    CHECK(run.steps().size() == steps);
    CHECK(run.loaded_all_steps());
    const asked_for asked = store.asked();
    CHECK(asked.count("read index/") == 2 * steps);
    CHECK(asked.count("list index/") == 1);
    CHECK(asked.count("list events/") == 0);
    CHECK(asked.requests.size() - asked.count("read index/") - asked.count("list index/") <= 8);
    // In flight together.
    CHECK(asked.calls == texts{"each " + std::to_string(2 * steps)});
    // Nothing more after that.
    run.refresh();
    CHECK(run.steps().size() == steps);
    CHECK(store.asked().requests.empty());
}

TEST_CASE("requests: opening a run that is being written takes a second listing, to see that nothing is hidden") {
    const remote_storage store{a_run(false)};
    const trial run{any_storage{store}};
    const asked_for asked = store.asked();
    CHECK(asked.count("read index/") == 2 * steps);
    CHECK(asked.count("list index/") == 2);
    CHECK(asked.requests.size() - asked.count("read index/") - asked.count("list index/") <= 8);
    CHECK(asked.calls == texts{"each " + std::to_string(2 * steps)});
}

TEST_CASE("requests: a look at a job that has written nothing new takes two requests, and lists no known step") {
    memory_storage inner = a_run(false);
    const remote_storage store{inner};
    const trial run{any_storage{store}};
    store.asked();
    run.refresh();
    store.asked();
    const std::string open_key = smdebug::detail::locations::index_key(steps, {});
    const texts expected{"size " + std::string{smdebug::detail::locations::end_of_job},
                         "list index/ after " + open_key.substr(0, open_key.rfind('_'))};
    for (int look = 0; look < 3; ++look) {
        run.refresh();
        CHECK(store.asked().requests == expected);
    }
    // One new step: its two files, and a second listing of what is new.
    write_step(inner, steps);
    run.refresh();
    const asked_for asked = store.asked();
    CHECK(asked.count("read index/") == 2);
    CHECK(asked.count("list index/") == 2);
    CHECK(asked.requests.size() == 5);
    CHECK(asked.calls == texts{"each 2"});
    CHECK(run.steps().size() == steps + 1);
}

TEST_CASE("requests: the time of the last step is queried once, however often a job is looked at") {
    const remote_storage store{a_run(false)};
    const trial run{any_storage{store}};
    CHECK(run.job_state() == job_state::running);
    CHECK(store.asked().count("modified ") == workers.size());
    for (int look = 0; look < 3; ++look) {
        CHECK(run.job_state() == job_state::running);
        CHECK(store.asked().requests.size() == 2);
    }
}

TEST_CASE("requests: a file outside the run that an index file names is never requested") {
    memory_storage inner;
    run_builder build{inner};
    const written_step first{.step = 0, .tensors = {tensor_of<float>("a", {1})}};
    const written_step second{.step = 1, .tensors = {tensor_of<float>("a", {1})}};
    build.collections().step(first).put(smdebug::detail::locations::index_key(1, "worker_0"),
                                        index_text(second, {{0, 100}}, "../../otherbucket/secret"));
    inner.write("../../otherbucket/secret", as_bytes(std::string(200, 's')));
    // Nor are keys outside the run that a listing shows.
    inner.write("index/../000000000002_worker_0.json", as_bytes(index_text(second, {{0, 100}}, "events/x")));
    inner.write("collections/../worker_7_collections.json", as_bytes("{}"));
    build.end();
    const remote_storage store{inner};
    const trial run{any_storage{store}};
    CHECK(run.steps() == std::vector<step_number>{0, 1});
    run.read_ahead(1);
    const auto found = run.tensor("a").find_value(1);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().why == lookup_failure_kind::damaged);
    std::size_t seen = 0;
    for_each_tensor(run, {}, reduction::mean, [&](const reduced_tensor& one) {
        ++seen;
        CHECK((one.failure != nullptr) == (one.step == 1));
        if (one.failure != nullptr) {
            CHECK(one.failure->note.find("\"../../otherbucket/secret\"") != std::string::npos);
        }
    });
    CHECK(seen == 2);
    for (const std::string& request : store.asked().requests) {
        CAPTURE(request);
        CHECK(request.find("..") == std::string::npos);
    }
}
