#include <smdebug/hook/run_writer.hpp>

#include "hook/object_store.hpp"
#include "support/faulty_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

const std::array<float, 2> values{1, 2};
const std::array<std::size_t, 1> shape{2};
const tensor_view tensor{
    .type = dtype::float32, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}};

template <class Writer>
std::uint64_t write_step(Writer& run, collection_set& collections, step_number step, std::string_view name = "w") {
    static_cast<void>(collections.of(name));
    CHECK(run.entry().add_tensor(name, tensor, {.wall_time = 1, .step = step, .mode_step = step}) == added::written);
    return run.finish_step(collections);
}

std::vector<std::string> committed(const faulty_storage& store) {
    std::vector<std::string> keys;
    for (const std::string& call : store.calls()) {
        if (call.starts_with("commit ")) {
            keys.push_back(call.substr(call.rfind('/') + 1));
        }
    }
    return keys;
}

}  // namespace

TEST_CASE("run_writer: files appear in the order that keeps a run whole at any moment") {
    for (const std::size_t pool : {0U, 1U}) {
        const faulty_storage store;
        hook_options options{.save_all = true, .worker = "worker_0"};
        options.background.pool_bytes = pool;
        collection_set collections{options};
        run_writer run{any_storage{store}, options};
        CHECK(run.writes());
        CHECK(run.start().step == 0);
        CHECK(run.finish_step(collections) == 0);  // a step of nothing
        CHECK(write_step(run, collections, 1) > 100);
        CHECK(write_step(run, collections, 2) > 100);
        CHECK(write_step(run, collections, 3, "another") > 100);
        run.close(collections);
        CHECK(committed(store) ==
              std::vector<std::string>{
                  "worker_0_collections.json", "000000000001_worker_0.tfevents", "000000000001_worker_0.json",
                  "000000000002_worker_0.tfevents", "000000000002_worker_0.json",
                  // Again only when there is something new in it, and at the end.
                  "worker_0_collections.json", "000000000003_worker_0.tfevents", "000000000003_worker_0.json",
                  "worker_0_collections.json", "commit training_job_end.ts"});
        CHECK(run.lost().empty());
    }
}

TEST_CASE("run_writer: the claim is let go of before the end is marked, and the end can be left unmarked") {
    for (const bool marks : {true, false}) {
        const faulty_storage store;
        hook_options options{.worker = "worker_0"};
        options.mark_end_of_job = marks;
        const collection_set collections{options};
        {
            run_writer run{any_storage{store}, options};
            CHECK(store.objects().claimed("claim.smd"));
            run.close(collections);
            CHECK_FALSE(store.objects().claimed("claim.smd"));
        }
        const auto calls = store.calls();
        const auto release = std::ranges::find(calls, "release");
        const auto mark = std::ranges::find(calls, "commit training_job_end.ts");
        CHECK(release < calls.end());
        CHECK((mark != calls.end()) == marks);
        CHECK(release < mark);
    }
}

TEST_CASE(
    "run_writer: without claims, a worker's sign comes when nothing keeps it from writing, and goes when it ends") {
    const faulty_storage store;
    const std::string sign = "claim_worker_0.smd";
    hook_options options{
        .save_all = true, .include_workers = include_workers::all, .worker = "worker_0", .num_workers = 2};
    collection_set collections{options};
    {
        run_writer run{like_s3(store), options, opener_of<any_storage>()};
        CHECK(store.calls().back() == "write " + sign);
        write_step(run, collections, 0);
        run.close(collections);
        CHECK_FALSE(store.objects().size(sign));
        CHECK_FALSE(store.objects().size("training_job_end.ts"));  // the other one has not begun
    }
    CHECK_THROWS_AS(run_writer(like_s3(store), options, opener_of<any_storage>()), run_exists);
    CHECK_FALSE(store.objects().size(sign));
    options.existing = existing_run::resume;
    options.init_step = 1;
    options.tensorboard_dir = "board.zip";
    CHECK_THROWS_AS(run_writer(like_s3(store), options, opener_of<any_storage>()), unsupported);
    CHECK_FALSE(store.objects().size(sign));
    options.tensorboard_dir.clear();
    {
        run_writer run{like_s3(store), options, opener_of<any_storage>()};
        run.close_unfinished();
    }
    CHECK(store.objects().size(sign));  // until it has been started again
    {
        run_writer run{like_s3(store), options, opener_of<any_storage>()};
        run.close(collections);
    }
    CHECK_FALSE(store.objects().size(sign));
}

TEST_CASE("run_writer: a worker that is not to write touches nothing, nor does a dry run") {
    for (const bool dry : {false, true}) {
        const faulty_storage store;
        hook_options options{.save_all = true, .worker = dry ? "worker_0" : "worker_1", .num_workers = 2};
        options.dry_run = dry;
        collection_set collections{options};
        run_writer run{any_storage{store}, options};
        CHECK(run.writes() == dry);
        if (dry) {
            CHECK(write_step(run, collections, 0) > 0);
            run.entry().add_shape("w", shape, {.step = 1});
        }
        CHECK((run.finish_step(collections) > 0) == dry);
        run.abandon_step();
        run.drain();
        run.close(collections);
        CHECK(run.lost().empty());
        CHECK(store.calls().empty());
    }
}

TEST_CASE("run_writer: begins at the given step, or after an interrupted run") {
    memory_storage store;
    {
        hook_options options{.save_all = true, .worker = "worker_0"};
        options.init_step = 5;
        collection_set collections{options};
        run_writer run{any_storage{store}, options};
        CHECK(run.start().step == 5);
        CHECK(run.start().mode_steps ==
              std::map<mode, step_number>{{mode::train, 5}, {mode::eval, 5}, {mode::predict, 5}});
        write_step(run, collections, 5);
    }
    hook_options options{.save_all = true, .worker = "worker_0"};
    CHECK_THROWS_AS(run_writer(any_storage{store}, options), run_exists);
    CHECK_FALSE(store.claimed("claim.smd"));
    options.existing = existing_run::resume;
    CHECK(run_writer(any_storage{store}, options).start().step == 6);
    options.init_step = 3;
    CHECK(run_writer(any_storage{store}, options).start().step == 3);
    CHECK(store.list("index/", "").empty());
}

TEST_CASE("run_writer: a collections file that was lost behind its back is written with the next step") {
    const faulty_storage store;
    hook_options options{.save_all = true, .worker = "worker_0"};
    options.background.pool_bytes = 1;
    collection_set collections{options};
    run_writer run{any_storage{store}, options};
    store.plan({.first = 0});
    write_step(run, collections, 0);
    run.drain();
    CHECK(store.failed().find("collections") != std::string::npos);
    CHECK(run.lost().size() == 1);
    CHECK(run.lost().empty());
    CHECK_FALSE(store.objects().size(smdebug::detail::locations::collections_key("worker_0")));
    write_step(run, collections, 1);
    run.drain();
    CHECK(store.objects().size(smdebug::detail::locations::collections_key("worker_0")));
}

TEST_CASE("run_writer: TensorBoard's files lie in the run, or in a folder that a path can name") {
    hook_options options{.save_all = true, .worker = "worker_0"};
    options.tensorboard_dir = "elsewhere";
    CHECK_THROWS_AS(run_writer(any_storage{faulty_storage{}}, options, opener_of<faulty_storage>()), unsupported);
    const temporary_folder folder;
    const auto show = [&](auto store) {
        collection_set collections{options};
        run_writer run{any_storage{store}, options, opener_of<decltype(store)>()};
        run.show_scalar({.wall_time = 1, .step = 0}, "loss",
                        {.type = dtype::float32, .shape = {}, .bytes = tensor.bytes.first(4), .strings = {}});
        run.show_scalar({.wall_time = 1, .step = 0}, "not one number", tensor);
        run.show_step([] { return 1.0; });
        run.close_tensorboard();
        run.close(collections);
    };
    options.tensorboard_dir = folder.path() + "/board";
    show(local_storage{folder.path() + "/run"});
    CHECK(local_storage{folder.path() + "/board"}.list("", "").size() == 1);
    CHECK(local_storage{folder.path() + "/run"}.list("tensorboard/", "").empty());
    options.tensorboard_dir.clear();
    options.export_tensorboard = true;
    const memory_storage store;
    show(store);
    CHECK(store.list("tensorboard/", "").size() == 1);
}
