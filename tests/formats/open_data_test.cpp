#include <smdebug/formats/open_data.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>

#include "support/archetypes.hpp"
#include "support/child_process.hpp"
#include "support/log_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

[[nodiscard]] data_format format_with(const std::vector<std::string>& keys) {
    memory_storage files;
    for (const std::string& key : keys) {
        files.write(key, {});
    }
    return format_of(any_storage{files});
}

}  // namespace

TEST_CASE("open_data: a file or folder that may not be read is named, and the others are read") {
    const temporary_folder place;
    std::filesystem::permissions(place.path(), std::filesystem::perms{0755});
    for (const char* const folder : {"a", "denied", "listed"}) {
        place.write("logs/" + std::string{folder} + "/events.out.tfevents.1", log_record(3, {scalar_value("loss", 1)}));
    }
    const std::string events = place.path() + "/run/events/000000000002/000000000002_worker_0.tfevents";
    std::filesystem::create_directories(place.path() + "/run");
    std::filesystem::copy(std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp/events", place.path() + "/run/events",
                          std::filesystem::copy_options::recursive);
    using std::filesystem::perms;
    std::filesystem::permissions(place.path() + "/logs/denied/events.out.tfevents.1", perms::none);
    std::filesystem::permissions(place.path() + "/logs/listed", perms{0744});
    std::filesystem::permissions(events, perms::none);
    const int status = status_of_child([&] {
        become_nobody();
        const auto opened = [&](const char* folder) {
            return trial{open_data(any_storage{local_storage{place.path() + folder}}),
                         {.incomplete_step_wait_window = 2, .missing_event_file_retry_limit = 0}};
        };
        const auto is_denied = [](const problem& one) { return one.what.starts_with("AccessDenied: cannot "); };
        const trial logs = opened("/logs");
        const std::vector<problem> some = logs.problems();
        if (logs.tensor("loss").steps() != std::vector<step_number>{3} || some.size() != 2 || !is_denied(some[0]) ||
            !is_denied(some[1]) || some[0].where != "denied/events.out.tfevents.1" ||
            some[1].where != "listed/events.out.tfevents.1") {
            return 1;
        }
        const trial run = opened("/run");
        const std::vector<problem> one = run.problems();
        const bool is_named = one.size() == 1 && is_denied(one[0]) && events.ends_with(one[0].where);
        return is_named && run.steps({.show_incomplete_steps = true}) == std::vector<step_number>{0, 3, 5} ? 0 : 2;
    });
    std::filesystem::permissions(place.path() + "/logs/listed", perms{0755});
    CHECK(status == 0);
}

TEST_CASE("format_of: by what is there") {
    const std::string events = "events/000000000000/000000000000_worker_0.tfevents";
    const std::string collections = "collections/000000000/worker_0_collections.json";
    CHECK(format_with({}) == data_format::smdebug);
    CHECK(format_with({"readme.txt"}) == data_format::smdebug);
    CHECK(format_with({"index/000000000/000000000000_worker_0.json", events, collections}) == data_format::smdebug);
    CHECK(format_with({collections}) == data_format::smdebug);
    CHECK(format_with({collections, events}) == data_format::smdebug);  // a job that has just begun
    CHECK(format_with({collections, events, "training_job_end.ts"}) == data_format::event_files);
    CHECK(format_with({collections, events, "events/000000000000/000000000000_worker_1.tfevents"}) ==
          data_format::smdebug);
    CHECK(format_with({collections, events, "events/000000000005/000000000005_worker_0.tfevents"}) ==
          data_format::event_files);  // a step that has passed has an index
    CHECK(format_with({events}) == data_format::event_files);
    CHECK(format_with({"events/notes.txt"}) == data_format::smdebug);
    CHECK(format_with({"train/events.out.tfevents.1.host"}) == data_format::tensorboard);
    CHECK(format_with({"events/events.out.tfevents.1.host"}) == data_format::tensorboard);
}

TEST_CASE("format_of: a run that is written between two of its looks has an index") {
    /// Has nothing until the look before, then a run of two steps.
    struct written_meanwhile : memory_storage {
        using memory_storage::memory_storage;
        int looks_before = 0;
        std::shared_ptr<int> looks = std::make_shared<int>(0);
        [[nodiscard]] std::optional<std::vector<object_entry>> entries(std::string_view prefix, std::string_view after,
                                                                       std::size_t most) const override {
            return ++*looks > looks_before ? memory_storage::entries(prefix, after, most)
                                           : std::optional{std::vector<object_entry>{}};
        }
    };
    for (int looks_before = 0; looks_before < 5; ++looks_before) {
        CAPTURE(looks_before);
        written_meanwhile store;
        store.looks_before = looks_before;
        for (const char* const key :
             {"collections/000000000/worker_0_collections.json", "events/000000000000/000000000000_worker_0.tfevents",
              "index/000000000/000000000000_worker_0.json", "events/000000000001/000000000001_worker_0.tfevents",
              "index/000000000/000000000001_worker_0.json", "training_job_end.ts"}) {
            store.write(key, {});
        }
        CHECK(format_of(any_storage{store}) == data_format::smdebug);
    }
}

TEST_CASE("open_data: an .npz is held to its limits") {
    const any_storage folder{local_storage{std::string{SMDEBUG_TEST_DATA} + "/checkpoints/numbered"}};
    CHECK(trial{open_data(folder)}.steps() == std::vector<step_number>{500, 1000});
    const any_storage tight = open_data(folder, {.unpacking = {.most_members = 1}});
    const std::vector<problem> problems = trial{tight}.problems();
    REQUIRE(problems.size() == 2);
    CHECK(problems[1].where == "step_500.npz, step 500");
    CHECK(problems[1].what.find("step_500.npz has 3 members, more than") != std::string::npos);
    CHECK(problems[1].kind == problem_kind::unsupported);
}

TEST_CASE("open_data: a link to nothing where a file of the data should be is a problem until it leads to something") {
    const std::string events = "events/000000000000/000000000000_worker_0.tfevents";
    for (const std::string& key :
         {std::string{"a/events.out.tfevents.1"}, events, std::string{"a/model.safetensors"}}) {
        CAPTURE(key);
        const temporary_folder folder;
        folder.write(key, "");
        folder.remove(key);
        std::filesystem::create_symlink(folder.path() + "/gone", folder.path() + "/" + key);
        const any_storage files{local_storage{folder.path()}};
        const any_storage store = open_data(files, {.as = key == events ? data_format::event_files : format_of(files)});
        const trial run{store};
        REQUIRE(run.problems().size() == 1);
        CHECK(run.problems()[0].where.starts_with(key));
        CHECK(run.problems()[0].kind == problem_kind::damaged);
        CHECK(run.problems()[0].what.find("a link to a file that is") != std::string::npos);
        CHECK(verify_run(store).size() == 1);
        if (key == events) {  // the others have ended
            folder.write("gone", log_head());
            run.refresh();
            CHECK(run.problems().empty());
        }
    }
}

TEST_CASE("open_data: resource forks of macOS are none of the data") {
    const temporary_folder folder;
    folder.write("a/._model.safetensors", "x");
    folder.write("a/._events.out.tfevents.1", "x");
    folder.write("events/000000000000/._000000000000_worker_0.tfevents", "x");
    CHECK(format_of(any_storage{local_storage{folder.path()}}) == data_format::smdebug);
}

TEST_CASE("open_data: checkpoints beside logs are named as left out, unless it was said what to read") {
    memory_storage files{"out"};
    files.write("runs/a/events.out.tfevents.1", as_bytes(log_record(4, {scalar_value("loss", 2)})));
    const any_storage store{files};
    CHECK(trial{open_data(store)}.problems().empty());
    files.write("checkpoint-1/model.safetensors", {});
    files.write("checkpoint-1/scaler.joblib", {});
    files.write("checkpoint-2/model.safetensors", {});
    const trial run{open_data(store)};
    CHECK(run.steps() == std::vector<step_number>{4});
    REQUIRE(run.problems().size() == 2);
    CHECK(run.problems()[1].kind == problem_kind::left_out);
    CHECK(text_of(run.problems()[1]) ==
          "checkpoint-1/scaler.joblib: this pickled checkpoint is left out, as the folder has TensorBoard logs, too, "
          "and those "
          "are read: pickles are programs, which are not run; save them as safetensors, or say that nothing else is "
          "meant "
          "(--as tensorboard, data_format::tensorboard)");
    CHECK(run.problems()[0].kind == problem_kind::left_out);
    CHECK(text_of(run.problems()[0]) ==
          "checkpoint-1/model.safetensors: this and 1 more file of checkpoints are left out, as the folder has "
          "TensorBoard logs, too, and those are read: open it again as checkpoints (--as checkpoints, "
          "data_format::checkpoints)");
    CHECK(trial{open_data(store, {.as = data_format::tensorboard})}.problems().empty());
}

TEST_CASE("open_data: checkpoints and logs beside a run with its index are named, unless it was said what to read") {
    const temporary_folder here;
    std::filesystem::copy(std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp", here.path(),
                          std::filesystem::copy_options::recursive);
    const std::vector<std::string> others{"a.npz", "checkpoint-1/model.safetensors", "checkpoint-2/model.safetensors",
                                          "data/model.joblib", "runs/events.out.tfevents.1"};
    const std::vector<std::string> no_others{"tensorboard/events.out.tfevents.1", "index/notes.npz", "readme.txt"};
    for (const std::string& key : no_others) {
        here.write(key, "x");
    }
    const local_storage folder{here.path()};
    memory_storage copied;  // with entries(), like a remote storage
    for (const std::string& key : folder.list("", "")) {
        copied.write(key, folder.read(key).view());
    }
    CHECK(open_data(any_storage{folder}).problems().empty());
    CHECK(open_data(any_storage{copied}).problems().empty());
    for (const std::string& key : others) {
        here.write(key, "x");
        copied.write(key, as_bytes("x"));
    }
    const auto steps = local_trial{folder}.steps();
    const any_storage only_lists{storage_archetype{copied}};
    for (const any_storage& store : {any_storage{folder}, any_storage{copied}, only_lists}) {
        CAPTURE(store.name());
        const trial run{open_data(store)};
        CHECK(run.steps() == steps);
        const std::vector<problem> problems = run.problems();
        REQUIRE(problems.size() == 3);
        CHECK(text_of(problems[0]) ==
              "a.npz: this and 2 more files of checkpoints are left out, as the folder has a run with its index, too, "
              "and that "
              "is read: open it again as checkpoints (--as checkpoints, data_format::checkpoints)");
        CHECK(problems[1].where == "data/model.joblib");
        CHECK(problems[1].what.find("(--as smdebug, data_format::smdebug)") != std::string::npos);
        CHECK(text_of(problems[2]) ==
              "runs/events.out.tfevents.1: this log is left out, as the folder has a run with its index, too, and that "
              "is "
              "read: open it again as logs (--as tensorboard, data_format::tensorboard)");
        CHECK(trial{open_data(store, {.as = data_format::smdebug})}.problems().empty());
    }
}

TEST_CASE("open_data: checkpoints in a folder that a link beside a run leads to are named") {
    const temporary_folder here;
    const temporary_folder there;
    std::filesystem::copy(std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp", here.path(),
                          std::filesystem::copy_options::recursive);
    there.write("step_5.npz", "x");
    std::filesystem::create_directory_symlink(there.path(), here.path() + "/checkpoints");
    std::filesystem::create_symlink(there.path() + "/gone", here.path() + "/a dangling link");
    const std::vector<problem> problems = open_data(any_storage{local_storage{here.path()}}).problems();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == "checkpoints/step_5.npz");
}

TEST_CASE("open_data: what is there is a run, and what is said counts") {
    memory_storage logs;
    logs.write("events.out.tfevents.1", as_bytes(log_head() + log_record(4, {scalar_value("loss", 2)})));
    const any_storage store{logs};
    CHECK(trial{open_data(store)}.steps() == std::vector<step_number>{4});
    CHECK(trial{open_data(store, {.as = data_format::tensorboard})}.steps() == std::vector<step_number>{4});
    CHECK_THROWS_AS(trial{open_data(store, {.as = data_format::smdebug})}, not_found);

    const std::string golden = std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp";
    const any_storage run{local_storage{golden}};
    CHECK(trial{open_data(run)}.steps() == local_trial{golden}.steps());
    CHECK(trial{open_data(run, {.as = data_format::event_files})}.steps() == local_trial{golden}.steps());
}

TEST_CASE("open_data: a record above the limit is passed over, and named") {
    memory_storage logs;
    const std::string first = log_head() + log_record(4, {scalar_value("loss", 2)});
    logs.write("events.out.tfevents.1", as_bytes(first + log_record(5, {text_value("note", std::string(1000, 'x'))}) +
                                                 log_record(6, {scalar_value("loss", 1)})));
    for (const data_format as : {data_format::tensorboard, data_format::event_files}) {
        if (as == data_format::event_files) {
            logs.write("events/000000000004/000000000004_worker_0.tfevents", logs.read("events.out.tfevents.1").view());
        }
        const trial run{open_data(any_storage{logs}, {.as = as, .most_record_bytes = 500})};
        const bool is_log = as == data_format::tensorboard;  // the name of an event file contains the step
        CHECK(run.steps() == (is_log ? std::vector<step_number>{4, 6} : std::vector<step_number>{4}));
        REQUIRE(run.problems().size() == 1);
        CHECK(run.problems()[0].kind == problem_kind::unsupported);
        CHECK(run.problems()[0].where.ends_with("byte " + std::to_string(first.size())));
    }
}

TEST_CASE("open_data: problems are those of the trial") {
    memory_storage logs;
    std::string bad = log_record(4, {scalar_value("loss", 2)});
    bad.back() = static_cast<char>(bad.back() ^ 1);
    logs.write("events.out.tfevents.1", as_bytes(bad));
    const trial run{open_data(any_storage{logs})};
    CHECK(run.steps().empty());
    CHECK(run.problems() == std::vector<problem>{{problem_kind::damaged, "events.out.tfevents.1, byte 0",
                                                  "the record is damaged: it is left out"}});
}
