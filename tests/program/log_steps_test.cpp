// Every command x a log of two modes: a step is shown and selected by its mode and the log's own number.
#include "program/captured.hpp"
#include "support/log_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/program.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// A log of train/ and validation/ with steps 0, 10, 20; validation's loss is infinite at step 10.  `train_steps` more
/// of train/.
void write_log(const temporary_folder& at, int train_steps = 0) {
    const auto log = [&](const std::string& folder, int steps, bool sick) {
        std::string bytes = log_head();
        for (int i = 0; i < steps; ++i) {
            const bool now = sick && i == 1;
            bytes += log_record(10 * i, {scalar_value("loss", now ? std::numeric_limits<float>::infinity()
                                                                  : static_cast<float>(9 - i))});
        }
        at.write(folder + "/events.out.tfevents.1.host", bytes);
    };
    log("train", 3 + train_steps, false);
    log("validation", 3, true);
    for (const auto& each : std::filesystem::recursive_directory_iterator{at.path()}) {
        std::filesystem::last_write_time(each.path(),
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours{2});
    }
}

struct command {
    std::vector<std::string> arguments;
    std::vector<std::string> said;         ///< in the results, or in what was written to OUT
    std::vector<std::string> unsaid = {};  ///< not there
};

// A log's steps 10 and 20 are global steps 20, 21, 40 and 41.
const command commands[] = {
    {{"ls", "RUN"}, {"6 steps: TRAIN 0-20 by 10; EVAL 0-20 by 10"}, {", 41", "-41"}},
    {{"ls", "RUN", "--steps", "10:20"}, {"2 steps: TRAIN 10; EVAL 10"}},
    {{"ls", "RUN", "--format", "json"}, {R"("steps":[0,10,20],)", R"("last_complete_step":20,)"}},
    {{"ls", "RUN", "--follow", "--format", "csv"}, {",10,TRAIN,10,", ",10,EVAL,10,"}, {",21,", ",41,"}},
    {{"show", "RUN", "loss", "--step", "10"}, {" 10 (TRAIN 10)", " 10 (EVAL 10)"}},
    {{"show", "RUN", "loss", "--step", "20", "--mode", "EVAL"}, {" 20 (EVAL 20)"}, {"TRAIN"}},
    {{"show", "RUN", "loss", "--step", "41"}, {"not there at step 41; its steps: TRAIN 0-20 by 10; EVAL 0-20 by 10"}},
    {{"stats", "RUN", "--format", "csv"}, {",10,TRAIN,10,", ",10,EVAL,10,"}, {",21,", ",41,"}},
    {{"stats", "RUN", "--steps", "10:20", "--format", "csv"}, {",10,TRAIN,10,", ",10,EVAL,10,"}, {",0,TRAIN", ",20,"}},
    {{"stats", "RUN", "--steps", "10:", "--mode", "EVAL", "--format", "csv"},
     {",10,EVAL,10,", ",20,EVAL,20,"},
     {"TRAIN"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv"}, {",exploding_tensor,10,EVAL,10,"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv", "--start", "10", "--end", "11"},
     {",exploding_tensor,10,EVAL,10,"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv", "--start", "11"}, {}, {"EVAL"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--start", "21"}, {"they are TRAIN 0-20 by 10; EVAL 0-20 by 10"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv", "--end", "10"}, {}, {"EVAL"}},
    {{"check", "RUN", "--rule", "exploding_tensor,start_step=10,end_step=11", "--format", "csv"},
     {",exploding_tensor,10,EVAL,10,"}},
    {{"check", "RUN", "--rule", "exploding_tensor,start_step=11", "--format", "csv"}, {}, {"EVAL"}},
    {{"check", "ONE", "--rule", "similar_across_runs", "--other-trials", "RUN"}, {"NoIssuesFound"}, {"did not save"}},
    {{"check", "RUN", "--rule", "loss_not_decreasing,num_steps=10,mode=TRAIN,diff_percent=50"},
     {"TRAIN 10", "since TRAIN step 0"}},
    {{"check", "RUN", "--rule", "unchanged_tensor,num_steps=2,atol=100,tensor_regex=loss"}, {"since TRAIN step 0"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv", "--follow", "--steps", "10:11"},
     {",exploding_tensor,10,EVAL,10,"}},
    {{"check", "RUN", "--rule", "exploding_tensor", "--format", "csv", "--follow", "--start", "11"}, {}, {"EVAL"}},
    {{"scan", "RUN", "--rule", "exploding_tensor", "--format", "json"},
     {R"("first_step":10,)", R"("step":10,"mode":"EVAL","mode_step":10)"}},
    {{"scan", "RUN", "--rule", "exploding_tensor", "--format", "json", "--steps", "11:"}, {R"("found":[])"}},
    {{"scan", "RUN", "--reductions", "mean", "--format", "csv", "--steps", "10:20"},
     {",10,TRAIN,10,", ",10,EVAL,10,"},
     {",0,TRAIN", ",20,"}},
    {{"diff", "RUN", "OTHER"}, {"only the second run has 1 step: TRAIN 30\n"}, {"only the first"}},
    {{"diff", "ONE", "RUN"}, {"only the second run has 3 steps: EVAL 0-20 by 10\n", "3 steps, 1 tensor"}},
    {{"diff", "RUN", "OTHER", "--format", "csv"}, {"step,30,TRAIN,30,"}},
    {{"export", "RUN", "--to", "csv", "-o", "OUT"}, {",10,TRAIN,10,", ",10,EVAL,10,"}, {",21,", ",41,"}},
    {{"export", "RUN", "--to", "npz", "-o", "OUT"}, {"step_000000010_TRAIN.npz", "step_000000010_EVAL.npz"}},
    {{"export", "RUN", "--to", "npz", "-o", "OUT", "--mode", "EVAL"}, {"step_000000010.npz"}, {"EVAL", "000021"}},
    {{"export", "RUN", "--to", "safetensors", "-o", "OUT"}, {"step_000000020_EVAL.safetensors"}},
    {{"export", "RUN", "--to", "tensorboard", "-o", "OUT"}, {"train", "validation"}},
    {{"report", "RUN", "-o", "OUT"}, {R"("first":10,"mode":"EVAL","modeStep":10,"last":10)", R"("lastComplete":20)"}},
};

}  // namespace

TEST_CASE("program: the steps of a log of several modes are the log's in every command") {
    const temporary_folder log;
    write_log(log);
    const temporary_folder other;
    write_log(other, 1);
    const temporary_folder one;
    write_log(one);
    std::filesystem::remove_all(one.path() + "/validation");
    for (const command& each : commands) {
        const temporary_folder out;
        std::vector<std::string> arguments = each.arguments;
        std::string called;
        for (std::string& argument : arguments) {
            called += argument + " ";
            argument = argument == "RUN"     ? log.path()
                       : argument == "OTHER" ? other.path()
                       : argument == "ONE"   ? one.path()
                       : argument == "OUT"   ? out.path() + "/out"
                                             : argument;
        }
        CAPTURE(called);
        const ended got = run_to_end(arguments);
        std::string results = squeezed(got.out + got.err);
        if (const std::filesystem::path written = out.path() + "/out"; std::filesystem::is_directory(written)) {
            results.clear();
            for (const auto& file : std::filesystem::recursive_directory_iterator{written}) {
                results += file.path().filename().string() + "\n";
            }
        } else if (std::filesystem::exists(written)) {
            results = file_content(written);
        }
        CAPTURE(results.substr(0, 3000));
        for (const std::string& piece : each.said) {
            CAPTURE(piece);
            CHECK(contains(results, piece));
        }
        for (const std::string& piece : each.unsaid) {
            CAPTURE(piece);
            CHECK_FALSE(contains(results, piece));
        }
    }
}

TEST_CASE("program: of one mode a log's steps are the log's everywhere") {
    const temporary_folder log;
    write_log(log);
    std::filesystem::remove_all(log.path() + "/validation");
    const ended got = run_to_end({"stats", log.path(), "--format", "csv", "--reductions", "mean"});
    CHECK(got.status == cli::exit_ok);
    CHECK(contains(got.out, ",10,TRAIN,10,"));
    CHECK(contains(got.out, ",20,TRAIN,20,"));
}
