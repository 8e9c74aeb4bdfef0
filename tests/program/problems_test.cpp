// Every command x every kind of problem: what of a run was not looked at is named, with the run, and is no good health.
#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/checkpoint_files.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/program.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// When a problem can be seen: where a run is opened, or where its values are read.
enum class seen { opened, read };

/// A run with a problem, beside the healthy tensor `w`.
struct kind_of_problem {
    std::string_view name;
    seen when = seen::opened;
    std::string_view said;  ///< in what the command says
    void (*write)(const temporary_folder& at) = nullptr;
    std::string_view path = {};  ///< below the folder
};

std::string scalar_at(std::int64_t step, float number = 1) { return log_record(step, {scalar_value("w", number)}); }

std::string checkpoint(std::string_view type = "F32", std::string_view end = "8") {
    return safetensors_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":")" +
                              std::string{type} + R"(","shape":[2],"data_offsets":[8,)" + std::string{end} + "]}}",
                          16);
}

/// Three steps as the Python package writes them.
void write_run(const temporary_folder& at) {
    local_storage store{at.path()};
    run_builder run{store};
    run.collections({"worker_0"}, {{"weights", {"w"}}});
    for (step_number step = 0; step < 3; ++step) {
        run.step(
            {.step = step, .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("v", {3})}, .mode_step = step});
    }
    run.end();
}

void break_byte(const std::string& file, std::size_t from_end) {
    std::string bytes = file_content(file);
    bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ 1);
    std::ofstream{file, std::ios::binary} << bytes;
}

const std::string log_name = "events.out.tfevents.1.host";

const kind_of_problem kinds[] = {
    {"a record of a log is damaged", seen::opened, "byte 40",
     [](const temporary_folder& at) {
         std::string bad = scalar_at(2);
         bad.back() = static_cast<char>(bad.back() ^ 1);
         at.write(log_name, log_head() + bad + scalar_at(3) + scalar_at(4));
     }},
    {"the length of a record of a log is damaged", seen::opened, "nothing behind it can be read",
     [](const temporary_folder& at) {
         std::string bad = scalar_at(2);
         bad[8] = static_cast<char>(bad[8] ^ 1);
         at.write(log_name, log_head() + scalar_at(1) + bad);
     }},
    {"a log is cut", seen::opened, "is cut",
     [](const temporary_folder& at) {
         const std::string whole = log_head() + scalar_at(1) + scalar_at(2);
         at.write(log_name, whole.substr(0, whole.size() - 5));
     }},
    {"points of a log are void", seen::opened, "void",
     [](const temporary_folder& at) {
         at.write(log_name, log_head() + scalar_at(1) + scalar_at(2) + scalar_at(3) + scalar_at(1, 2));
     }},
    {"a step of a log is negative", seen::opened, "1 value of v left out, at step -1: steps begin at 0",
     [](const temporary_folder& at) {
         at.write(log_name, log_head() + log_record(-1, {scalar_value("v", 1), scalar_value("w", 1)}) + scalar_at(1));
     }},
    {"a step of a log is too large", seen::opened,
     "validation/events.out.tfevents.1.host: 1 value of w left out, at step",
     [](const temporary_folder& at) {
         for (const char* const folder : {"train/", "validation/"}) {
             at.write(folder + log_name, log_head() + scalar_at(1) + scalar_at(std::int64_t{1} << 62));
         }
     }},
    {"the second value of a record is damaged", seen::opened, "the histogram of h2 is damaged",
     [](const temporary_folder& at) {
         const auto bad = [](const char* tag) { return histogram_value(tag, 0, 4, 1, 6, 14, {1, 2, 4}, {1, 0}); };
         at.write(log_name, log_head() + scalar_at(1) + log_record(2, {bad("h1"), bad("h2"), scalar_value("w", 2)}));
     }},
    {"a link in a folder of logs leads to a folder that is gone", seen::opened, "exp2: it is a link to a folder",
     [](const temporary_folder& at) {
         at.write("exp1/" + log_name, log_head() + scalar_at(1));
         std::filesystem::create_symlink("/not/there/exp2", at.path() + "/exp2");
     }},
    {"a log is a pointer of Git LFS", seen::opened, "Git LFS",
     [](const temporary_folder& at) {
         at.write(log_name, log_head() + scalar_at(1));
         at.write("events.out.tfevents.2.host",
                  "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, '0') + "\nsize 12345\n");
     }},
    {"checkpoints lie beside a log", seen::opened, "checkpoints",
     [](const temporary_folder& at) {
         at.write(log_name, log_head() + scalar_at(1));
         at.write("checkpoint-1/model.safetensors", checkpoint("F32", "16"));
     }},
    {"a checkpoint is damaged", seen::opened, "checkpoint-2",
     [](const temporary_folder& at) {
         at.write("checkpoint-1/model.safetensors", checkpoint("F32", "16"));
         at.write("checkpoint-2/model.safetensors", checkpoint("F32", "20"));
     }},
    {"a tensor has an unknown dtype", seen::opened, "F4",
     [](const temporary_folder& at) { at.write("checkpoint-1/model.safetensors", checkpoint("F4", "16")); }},
    {"a checkpoint of PyTorch is damaged", seen::opened, "pytorch_model.bin",
     [](const temporary_folder& at) {
         at.write("checkpoint-1/model.safetensors", checkpoint("F32", "16"));
         at.write("checkpoint-2/pytorch_model.bin", "PK");
     }},
    {"a checkpoint has no step", seen::opened, "final.safetensors",
     [](const temporary_folder& at) {
         at.write("checkpoint-1/model.safetensors", checkpoint("F32", "16"));
         at.write("final.safetensors", checkpoint("F32", "16"));
     }},
    {"a shard is not there", seen::opened, "model-00002-of-00002.safetensors",
     [](const temporary_folder& at) {
         at.write("checkpoint-1/model-00001-of-00002.safetensors", checkpoint("F32", "16"));
     }},
    {"a link leads nowhere", seen::opened, "checkpoint-2",
     [](const temporary_folder& at) {
         at.write("checkpoint-1/model.safetensors", checkpoint("F32", "16"));
         std::filesystem::create_directories(at.path() + "/checkpoint-2");
         std::filesystem::create_symlink("../blobs/none", at.path() + "/checkpoint-2/model.safetensors");
     }},
    {"a record of an event file without an index is damaged", seen::opened, "000000000001_worker_0.tfevents, byte",
     [](const temporary_folder& at) {
         write_run(at);
         std::filesystem::remove_all(at.path() + "/index");
         const std::string file = at.path() + "/events/000000000001/000000000001_worker_0.tfevents";
         break_byte(file, std::filesystem::file_size(file));
     }},
    {"an archive is cut", seen::opened, "run.tar",
     [](const temporary_folder& at) {
         const temporary_folder run;
         write_run(run);
         std::map<std::string, std::string> files;
         for (const auto& each : std::filesystem::recursive_directory_iterator(run.path())) {
             if (each.is_regular_file()) {
                 files.emplace(each.path().string().substr(run.path().size() + 1), file_content(each.path()));
             }
         }
         const std::string whole = tar_of(files);
         at.write("run.tar", whole.substr(0, whole.size() - 1024 - 700));
     },
     "run.tar"},
    {"an event file is not there", seen::read, "000000000001_worker_0.tfevents",
     [](const temporary_folder& at) {
         write_run(at);
         at.remove("events/000000000001/000000000001_worker_0.tfevents");
     }},
    {"a record is not what the index says", seen::read, "000000000001_worker_0.tfevents",
     [](const temporary_folder& at) {
         write_run(at);
         const std::string file = at.path() + "/events/000000000001/000000000001_worker_0.tfevents";
         std::filesystem::resize_file(file, std::filesystem::file_size(file) - 30);
     }},
};

/// How a command is called for a run; OUT: a path to write to, HEALTHY: a run without problems.
struct command {
    std::string_view name;
    std::vector<std::string> arguments;
    bool reads = true;      ///< values of all steps
    bool verdicts = false;  ///< of rules
};

const command commands[] = {
    {"ls", {"ls", "RUN"}, false},
    {"ls --verify", {"ls", "RUN", "--verify"}},
    {"ls --follow", {"ls", "RUN", "--follow", "--give-up-after", "1s"}, false},
    {"show", {"show", "RUN", "w"}, false},
    {"stats", {"stats", "RUN"}},
    {"check", {"check", "RUN", "--rule", "exploding_tensor"}, true, true},
    {"check --follow", {"check", "RUN", "--rule", "exploding_tensor", "--follow", "--give-up-after", "1s"}, true, true},
    {"scan", {"scan", "RUN"}, true, true},
    {"scan -o", {"scan", "RUN", "-o", "OUT", "--format", "csv"}, true, true},
    {"diff", {"diff", "RUN", "HEALTHY"}},
    {"diff with itself", {"diff", "RUN", "RUN"}},
    {"report", {"report", "RUN", "-o", "OUT"}},
    {"report --follow", {"report", "RUN", "-o", "OUT", "--follow", "--give-up-after", "1s"}},
    {"export --to csv", {"export", "RUN", "--to", "csv", "-o", "OUT"}},
    {"export --to npz", {"export", "RUN", "--to", "npz", "-o", "OUT"}},
    {"export --to safetensors", {"export", "RUN", "--to", "safetensors", "-o", "OUT"}},
    {"export --to tensorboard", {"export", "RUN", "--to", "tensorboard", "-o", "OUT"}},
    {"export --to smdebug", {"export", "RUN", "--to", "smdebug", "-o", "OUT"}},
};

/// Nobody writes to it any more.
void make_old(const std::string& folder) {
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
        if (each.is_regular_file()) {
            std::filesystem::last_write_time(each.path(),
                                             std::filesystem::file_time_type::clock::now() - std::chrono::hours{1});
        }
    }
}

}  // namespace

TEST_CASE("program: every command names every kind of problem, with the run, and does not end as if all were well") {
    const temporary_folder healthy;
    write_run(healthy);
    for (const kind_of_problem& kind : kinds) {
        const temporary_folder place;
        kind.write(place);
        make_old(place.path());
        const std::string run = place.path() + (kind.path.empty() ? "" : "/") + std::string{kind.path};
        for (const command& each : commands) {
            if (kind.when == seen::read && !each.reads) {
                continue;
            }
            CAPTURE(kind.name);
            CAPTURE(each.name);
            const temporary_folder out;
            std::vector<std::string> arguments = each.arguments;
            for (std::string& argument : arguments) {
                argument = argument == "RUN"       ? run
                           : argument == "OUT"     ? out.path() + "/out"
                           : argument == "HEALTHY" ? healthy.path()
                                                   : argument;
            }
            captured got;
            const int status = cli::run_program(arguments, got.out, got.err);
            CAPTURE(got.out.str());
            CAPTURE(got.err.str());
            CHECK((status == cli::exit_error || status == cli::exit_finding_and_error));
            CHECK(contains(got.out.str() + got.err.str(), kind.said));
            CHECK(contains(got.out.str() + got.err.str(), run));
            if (each.verdicts && (kind.when == seen::opened || each.name == "check")) {
                CHECK_FALSE(contains(got.out.str(), "NoIssuesFound"));
            }
            CHECK_FALSE(contains(got.out.str(), "no differences"));
            CHECK_FALSE(contains(got.out.str(), "the runs are the same:"));
            if (each.name == "report" || each.name == "report --follow") {
                CHECK(contains(file_content(out.path() + "/out"), kind.said));
            }
        }
    }
}

TEST_CASE("program: of many problems of a run every command says the first, and how many there are besides") {
    const temporary_folder place;
    std::string log = log_head() + scalar_at(1);
    for (int i = 0; i < 25; ++i) {
        std::string bad = scalar_at(2);
        bad.back() = static_cast<char>(bad.back() ^ 1);
        log += bad;
    }
    place.write(log_name, log);
    make_old(place.path());
    const std::string& run = place.path();
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"ls", run},
                                                      {"ls", run, "--follow"},
                                                      {"stats", run},
                                                      {"check", run, "--rule", "exploding_tensor"},
                                                      {"check", run, "--rule", "exploding_tensor", "--follow"},
                                                      {"scan", run},
                                                      {"diff", run, run}}) {
        CAPTURE(arguments[0]);
        const ended got = run_to_end(arguments);
        CHECK(got.status == cli::exit_error);
        CHECK(contains(got.err, "note: and 5 more places that are not read [run " + run + "]\n"));
    }
}
