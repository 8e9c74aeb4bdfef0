#include <program/run_places.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/child_process.hpp"
#include "support/log_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/program.hpp>
#include <program/runs.hpp>
#include <smdebug/archive.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::map<std::string, std::string> golden_files(const std::string& name, const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{golden(name)}) {
        if (entry.is_regular_file()) {
            std::ifstream file{entry.path(), std::ios::binary};
            files.emplace(folder + entry.path().lexically_relative(golden(name)).generic_string(),
                          std::string{std::istreambuf_iterator<char>{file}, {}});
        }
    }
    return files;
}

texts paths_of(const std::string& path) {
    texts paths;
    for (const cli::detail::run_place& place : cli::detail::places_of(path, {}).runs) {
        paths.push_back(place.path);
    }
    return paths;
}

}  // namespace

TEST_CASE("places_of: a run stands for itself, an archive for all runs in it") {
    const temporary_folder folder;
    auto files = golden_files("torch_mlp", "a/");
    files.merge(golden_files("scalars", "b/"));
    const std::string two = folder.path() + "/two.tgz";
    folder.write("two.tgz", gzip_of(tar_of(files)));
    folder.write("one.zip", zip_of(golden_files("scalars", "deep/")));
    folder.write("text", "x");
    CHECK(paths_of(golden("torch_mlp")) == texts{golden("torch_mlp")});
    CHECK(paths_of("/nowhere") == texts{"/nowhere"});
    CHECK(paths_of(folder.path() + "/text") == texts{folder.path() + "/text"});
    CHECK(paths_of(two) == texts{two + "!/a", two + "!/b"});
    CHECK(paths_of(two + "!") == texts{two + "!/a", two + "!/b"});
    CHECK(paths_of(two + "!/b") == texts{two + "!/b"});
    CHECK(paths_of(folder.path() + "/one.zip") == texts{folder.path() + "/one.zip"});
}

TEST_CASE("for_each_run: every run of an archive; one that is damaged is an error behind what can be read") {
    const temporary_folder folder;
    auto files = golden_files("torch_mlp", "a/");
    files.merge(golden_files("scalars", "b/"));
    std::string archive = tar_of(files);
    archive.resize(archive.size() - 1024);  // without its end
    folder.write("cut.tar", archive);
    for (const bool skip : {false, true}) {
        captured run;
        texts seen;
        cli::detail::for_each_run({folder.path() + "/cut.tar"}, {.skip_damaged = skip}, run.to,
                                  [&](const std::string& path, const auto& opened) {
                                      CHECK_FALSE(opened.steps().empty());
                                      seen.push_back(path);
                                  });
        CHECK(seen == texts{folder.path() + "/cut.tar!/a", folder.path() + "/cut.tar!/b"});
        CHECK(contains(run.err.str(), "it ends without the two empty blocks"));
        CHECK(run.to.trouble() == !skip);
    }
}

TEST_CASE("opened_archives: an archive is opened once for its runs, and again after others were used") {
    const temporary_folder folder;
    std::map<std::string, std::string> files;
    for (const char* run : {"a", "b"}) {
        files.emplace(std::string{run} + "/collections/000000000/worker_0_collections.json", "{}");
        files.emplace(std::string{run} + "/training_job_end.ts", "");
    }
    folder.write("jobs.tar", tar_of(files));
    folder.write("other.tar", tar_of(files));
    const std::string jobs = folder.path() + "/jobs.tar!/";
    cli::detail::opened_archives archives{1};
    const auto first = archives.place_of(jobs + "a", {});
    REQUIRE(first.store);
    CHECK(first.path == jobs + "a");
    CHECK(first.store->size("training_job_end.ts"));
    std::filesystem::remove(folder.path() + "/jobs.tar");
    CHECK(archives.place_of(jobs + "b", {}).store);  // it is open
    CHECK_FALSE(archives.place_of(jobs + "c", {}).store);
    CHECK(archives.place_of(folder.path() + "/other.tar!/a", {}).store);
    CHECK_THROWS_AS(static_cast<void>(archives.place_of(jobs + "b", {})), error);  // it is not open any more
    CHECK(first.store->size("training_job_end.ts"));
}

TEST_CASE("opened_archives: a path that is not a run in an archive is opened as usual") {
    const temporary_folder folder;
    folder.write("one.tar", tar_of(std::map<std::string, std::string>{{"index/x", ""}}));
    cli::detail::opened_archives archives{2};
    for (const std::string& path : {folder.path(), folder.path() + "/one.tar", std::string{"/nowhere"}}) {
        const auto place = archives.place_of(path, {});
        CHECK(place.path == path);
        CHECK_FALSE(place.store);
    }
}

TEST_CASE("opened_archives: threads that want runs of one archive wait for each other") {
    const temporary_folder folder;
    std::map<std::string, std::string> files;
    for (int i = 0; i < 20; ++i) {
        files.emplace("r" + std::to_string(i) + "/training_job_end.ts", "");
        files.emplace("r" + std::to_string(i) + "/collections/000000000/worker_0_collections.json", "{}");
    }
    folder.write("jobs.tar.gz", gzip_of(tar_of(files)));
    cli::detail::opened_archives archives{3};
    std::vector<int> opened(20);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 20; ++i) {
            threads.emplace_back([&, i] {
                const std::string path = folder.path() + "/jobs.tar.gz!/r" + std::to_string(i);
                opened[static_cast<std::size_t>(i)] = archives.place_of(path, {}).store.has_value() ? 1 : 0;
            });
        }
    }
    CHECK(opened == std::vector<int>(20, 1));
}

TEST_CASE("--runs-from-folders: each folder with logs is a run, and train and validation are parts of one") {
    const temporary_folder place;
    const std::string logs = place.path() + "/logs";
    for (const char* folder : {"a/train", "a/validation", "b", "b/loss_x"}) {
        std::filesystem::create_directories(logs + "/" + folder);
        std::ofstream{logs + "/" + folder + "/events.out.tfevents.1"}
            << log_head() + log_record(3, {scalar_value("loss", 0.5F)});
    }
    CHECK(cli::detail::runs_from_folders({logs + "/", golden("torch_mlp"), place.path() + "/none"}, {}) ==
          std::vector<std::string>{logs + "/a", logs + "/b", logs + "/b/loss_x", golden("torch_mlp"),
                                   place.path() + "/none"});
    captured apart;
    CHECK(cli::run_program({"ls", logs, "--runs-from-folders", "--format", "csv"}, apart.out, apart.err) ==
          cli::exit_ok);
    captured one;
    CHECK(cli::run_program({"ls", logs, "--format", "csv"}, one.out, one.err) == cli::exit_ok);
    const auto runs_in = [&](const captured& listed, const std::string& run) {
        return contains("\n" + listed.out.str(), "\n" + run + ",");
    };
    CHECK(runs_in(apart, logs + "/a"));
    CHECK(runs_in(apart, logs + "/b"));
    CHECK(runs_in(apart, logs + "/b/loss_x"));
    CHECK_FALSE(runs_in(apart, logs));
    CHECK(runs_in(one, logs));
    CHECK_FALSE(runs_in(one, logs + "/b"));
    const ended workers = run_to_end({"ls", logs + "/b"});
    CHECK(workers.status == cli::exit_ok);
    CHECK(contains(workers.out, "loss_x"));
    CHECK_FALSE(contains(workers.out, "the job says"));
    const ended alone = run_to_end({"ls", logs + "/b", "--runs-from-folders"});
    CHECK(alone.status == cli::exit_ok);
    CHECK(contains(squeezed(alone.out), "workers worker_0\n"));
}

TEST_CASE("--runs-from-folders: a folder that may not be listed is named, and the others are judged") {
    const temporary_folder place;
    const std::string logs = place.path() + "/logs";
    for (const char* folder : {"a", "b"}) {
        std::filesystem::create_directories(logs + "/" + folder);
        std::ofstream{logs + "/" + folder + "/events.out.tfevents.1"}
            << log_head() + log_record(3, {scalar_value("loss", 0.5F)});
    }
    std::filesystem::permissions(place.path(), std::filesystem::perms{0755});
    std::filesystem::permissions(logs + "/b", std::filesystem::perms::none);
    const int status = status_of_child([&] {
        become_nobody();
        for (const bool apart : {false, true}) {
            for (std::vector<std::string> command :
                 {std::vector<std::string>{"check", logs, "--rule", "exploding_tensor"},
                  {"ls", logs},
                  {"scan", logs, "--all"}}) {
                if (apart) {
                    command.emplace_back("--runs-from-folders");
                }
                captured got;
                const bool judged = command.front() != "ls";
                if (cli::run_program(command, got.out, got.err) != cli::exit_error ||
                    !contains(got.err.str(), "AccessDenied: ") || !contains(got.err.str(), logs + "/b") ||
                    !contains(got.out.str(), judged ? "exploding_tensor" : "loss") ||
                    (judged && contains(got.out.str(), "NoIssuesFound") != apart)) {
                    return 1;
                }
            }
        }
        return 0;
    });
    std::filesystem::permissions(logs + "/b", std::filesystem::perms{0755});
    CHECK(status == 0);
}

TEST_CASE("logs with checkpoints beside them: every command that opens runs reads either") {
    const temporary_folder place;
    const std::string out = place.path() + "/out";
    std::filesystem::create_directories(out + "/checkpoint-7");
    std::ofstream{out + "/events.out.tfevents.1"} << log_head() + log_record(3, {scalar_value("loss", 0.5F)});
    const std::string head = R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
    std::ofstream{out + "/checkpoint-7/model.safetensors", std::ios::binary}
        << proto::raw(static_cast<std::uint64_t>(head.size())) + head + proto::raw(2.0F);
    const std::string table = place.path() + "/all.csv";
    const ended as_logs = run_to_end({"stats", out});
    CHECK(as_logs.status == cli::exit_error);
    CHECK(contains(as_logs.err, "checkpoint-7/model.safetensors: this checkpoint is left out"));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"stats", out}, {"export", out, "--to", "csv", "-o", table}, {"diff", out, out}}) {
        std::vector<std::string> words = command;
        words.insert(words.end(), {"--as", "checkpoints", "--step-regex", "checkpoint-([0-9]+)"});
        const ended run = run_to_end(words);
        CHECK(run.status == cli::exit_ok);
        CHECK_FALSE(contains(run.err, "left out"));
    }
}
