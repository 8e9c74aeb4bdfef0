#include <smdebug/hook/hook.hpp>

#include "hook/object_store.hpp"
#include "support/archetypes.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

namespace smd = smdebug;
using smdebug_test::like_s3;
using smdebug_test::temporary_folder;

namespace {

smd::hook_options saves_all(std::string out_dir = {}) {
    return {.out_dir = std::move(out_dir), .save_config = {.save_interval = 1}, .save_all = true};
}

void train(smd::hook& hook, int steps = 3) {
    for (int step = 0; step < steps; ++step) {
        hook.save_tensor("w", std::vector<float>(20'000, static_cast<float>(hook.step())));
        hook.save_scalar("x", step);
        hook.end_step();
    }
}

}  // namespace

TEST_CASE("hook: writes where out_dir says, into a folder as before") {
    static_assert(std::same_as<smd::hook, smd::basic_hook<smd::any_storage>>);
    const temporary_folder folder;
    smd::hook hook{saves_all("file://" + folder.path() + "/run")};
    CHECK(smd::local_storage{folder.path() + "/run"}.claimed("claim.smd"));
    CHECK(smdebug_test::thrown_code([&] { static_cast<void>(smd::hook{saves_all(folder.path() + "/run")}); }) ==
          smd::error_code::in_use);
    train(hook);
    hook.close();
    const smd::local_trial run{folder.path() + "/run"};
    CHECK(run.steps().size() == 3);
    CHECK(run.tensor("w").value<float>(2)(19'999) == 2);
    CHECK(run.loaded_all_steps());
    CHECK_THROWS_AS(smd::hook{saves_all(folder.path() + "/run")}, smd::run_exists);
}

TEST_CASE("hook: says what an out_dir is not") {
    CHECK_THROWS_AS(smd::hook{saves_all()}, smd::value_error);
    CHECK_THROWS_AS(smd::hook{saves_all("run.tar")}, smd::unsupported);
    CHECK_THROWS_AS(smd::hook{saves_all("s3://")}, smd::value_error);
}

TEST_CASE("hook: an out_dir that is a file is refused in the words of a trial that is opened there") {
    const temporary_folder folder;
    folder.write("file", "x");
    const std::string path = folder.path() + "/file";
    const auto refusal_of = [](auto&& open) { return smdebug_test::what_of<smd::not_found>([&] { open(); }); };
    const std::string refusal = refusal_of([&] { smd::hook{saves_all(path)}; });
    CHECK(refusal == "NotFound: " + path + " is a file, not the folder of a run");
    CHECK(refusal_of([&] { smd::local_trial{path}; }).starts_with(refusal));
}

TEST_CASE("hook: a storage that can only be read is refused when the hook is opened, and dry runs do not mind") {
    smd::memory_storage objects{"label"};
    const smd::any_storage reads_only{smdebug_test::storage_archetype{objects}};
    const smd::unsupported thrown = smdebug_test::caught<smd::unsupported>([&] {
        smd::hook hook{reads_only, saves_all()};
    });
    CHECK(thrown.where() == "archetype");
    CHECK(std::string{thrown.what()}.find("archetype cannot be written, only read: give the hook a storage that "
                                          "has write()") != std::string::npos);
    CHECK(objects.list("", "").empty());
    smd::hook_options dry = saves_all();
    dry.dry_run = true;
    smd::hook hook{reads_only, dry};
    train(hook);
    hook.close();
}

TEST_CASE("hook: takes any place, whatever out_dir says, and goes on with an interrupted run in it") {
    for (const std::size_t pool : {std::size_t{0}, std::size_t{2} << 20U}) {
        const smd::memory_storage objects;
        smd::hook_options options = saves_all("s3://");
        options.background.pool_bytes = pool;
        options.mark_end_of_job = false;
        {
            smd::hook hook{like_s3(objects), options};
            train(hook);
        }
        CHECK_THROWS_AS((smd::hook{like_s3(objects), options}), smd::run_exists);
        // What an interrupted step leaves: its events, whole, without an index.
        smd::memory_storage{objects}.write("events/000000000003/000000000003_worker_0.tfevents", {});
        options.existing = smd::existing_run::resume;
        options.mark_end_of_job = true;
        smd::hook hook{like_s3(objects), options};
        CHECK_FALSE(objects.size("events/000000000003/000000000003_worker_0.tfevents"));
        CHECK(hook.step() == 3);
        train(hook);
        hook.close();
        const smd::memory_trial run{objects};
        CHECK(run.steps() == std::vector<smd::step_number>{0, 1, 2, 3, 4, 5});
        CHECK(run.tensor("w").value<float>(4)(1) == 4);
        CHECK(run.loaded_all_steps());
        CHECK(objects.list("claim", "").empty());
        CHECK_THROWS_AS((smd::hook{like_s3(objects), options}), smd::run_exists);
    }
}

TEST_CASE("hook: TensorBoard's files go where tensorboard_dir says, beside a run in any place") {
    const temporary_folder folder;
    const smd::memory_storage objects;
    smd::hook_options options = saves_all();
    options.tensorboard_dir = "file://" + folder.path() + "/board";
    smd::hook hook{like_s3(objects), options};
    train(hook, 1);
    hook.close();
    CHECK(smd::local_storage{folder.path() + "/board"}.list("", "").size() == 1);
    CHECK(objects.list("tensorboard/", "").empty());
    options.tensorboard_dir = "board.zip";
    CHECK_THROWS_AS((smd::hook{like_s3(smd::memory_storage{}), options}), smd::unsupported);
}

TEST_CASE("hook: takes the place from a configuration file") {
    const temporary_folder folder;
    folder.write("hook.json", R"({"LocalPath": ")" + folder.path() + R"(/run", "HookParameters": {"save_all": true}})");
    smd::hook hook = smd::hook::from_json_file(folder.path() + "/hook.json");
    train(hook, 1);
    hook.close();
    CHECK(smd::local_trial{folder.path() + "/run"}.steps().size() == 1);
}
