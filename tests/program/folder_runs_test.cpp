#include <program/folder_runs.hpp>

#include "program/captured.hpp"
#include "support/child_process.hpp"
#include "support/log_builder.hpp"

#include <program/program.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

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
    captured workers;
    CHECK(cli::run_program({"ls", logs + "/b"}, workers.out, workers.err) == cli::exit_ok);
    CHECK(contains(workers.out.str(), "loss_x"));
    CHECK_FALSE(contains(workers.out.str(), "the job says"));
    captured alone;
    CHECK(cli::run_program({"ls", logs + "/b", "--runs-from-folders"}, alone.out, alone.err) == cli::exit_ok);
    CHECK(contains(squeezed(alone.out.str()), "workers worker_0\n"));
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
    captured as_logs;
    CHECK(cli::run_program({"stats", out}, as_logs.out, as_logs.err) == cli::exit_error);
    CHECK(contains(as_logs.err.str(), "checkpoint-7/model.safetensors: this checkpoint is left out"));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"stats", out}, {"export", out, "--to", "csv", "-o", table}, {"diff", out, out}}) {
        std::vector<std::string> words = command;
        words.insert(words.end(), {"--as", "checkpoints", "--step-regex", "checkpoint-([0-9]+)"});
        captured run;
        CHECK(cli::run_program(words, run.out, run.err) == cli::exit_ok);
        CHECK_FALSE(contains(run.err.str(), "left out"));
    }
}
