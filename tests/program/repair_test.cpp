#include <program/repair.hpp>

#include "program/captured.hpp"
#include "support/log_builder.hpp"
#include "support/test.hpp"

#include <program/program.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("repair: says what it would do, does it, and has nothing left to do") {
    const temporary_folder place;
    const std::string run = place.path() + "/run";
    std::filesystem::copy(golden("torch_mlp"), run, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(run + "/index");
    const ended would = run_to_end({"repair", run, "--dry-run"});
    CHECK(would.status == cli::exit_ok);
    CHECK(contains(would.out, "would write index/000000000/000000000000_worker_0.json: it is missing\n"));
    CHECK(contains(would.out, ": 4 event files read, 0 index files good, 4 files to be written\n"));
    CHECK_FALSE(std::filesystem::exists(run + "/index"));
    const ended does = run_to_end({"repair", run});
    CHECK(does.status == cli::exit_ok);
    CHECK(contains(does.out, "4 files written\n"));
    CHECK(does.err.empty());
    const ended again = run_to_end({"repair", run});
    CHECK(again.status == cli::exit_ok);
    CHECK(contains(again.out, "4 index files good, 0 files written\n"));

    const ended nothing = run_to_end({"repair", place.path() + "/none"});
    CHECK(nothing.status == cli::exit_error);
    CHECK(contains(nothing.err, "there are no event files in "));
}

TEST_CASE("repair: stops between two files, and continues when run again") {
    const temporary_folder place;
    const std::string run = place.path() + "/run";
    std::filesystem::copy(golden("torch_mlp"), run, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(run + "/index");
    std::stop_source stop;
    stop.request_stop();
    captured interrupted;
    CHECK(cli::run_program({"repair", run}, interrupted.out, interrupted.err, {}, [&] { return stop.get_token(); }) ==
          cli::exit_interrupted);
    CHECK(contains(interrupted.err.str(), "of 4 files of " + run + " 0 are written; repair it again for the rest"));
    CHECK_FALSE(std::filesystem::exists(run + "/index"));
    const ended again = run_to_end({"repair", run});
    CHECK(again.status == cli::exit_ok);
}

TEST_CASE("the program reads TensorBoard's logs, and says what of them is damaged") {
    const temporary_folder place;
    std::string bad = log_record(2, {scalar_value("loss", 2)});
    bad.back() = static_cast<char>(bad.back() ^ 1);
    std::ofstream{place.path() + "/events.out.tfevents.1"} << log_record(1, {scalar_value("loss", 1)}) + bad;
    const ended list = run_to_end({"ls", place.path()});
    CHECK(list.status == cli::exit_error);
    CHECK(contains(list.out, "loss"));
    CHECK(contains(list.err, "the record is damaged: it is left out"));
    const ended skips = run_to_end({"stats", place.path(), "--skip-damaged", "--as", "tensorboard", "--format", "csv"});
    CHECK(skips.status == cli::exit_ok);
    CHECK(contains(skips.out, "loss"));
    const ended verifies = run_to_end({"ls", place.path(), "--verify", "--format", "csv"});
    CHECK(verifies.status == cli::exit_error);
    CHECK(contains(verifies.out, ",damaged file,\"events.out.tfevents.1, byte "));
    CHECK(contains(verifies.out, "the record is damaged: it is left out"));
    const temporary_folder elsewhere;
    const ended exports = run_to_end({"export", place.path(), "--to", "csv", "-o", elsewhere.path() + "/out.csv"});
    CHECK(exports.status == cli::exit_error);
    CHECK(contains(exports.out, "; 1 place of the run left out, see the messages\n"));
    const ended pages = run_to_end({"report", place.path(), "-o", elsewhere.path() + "/out.html"});
    CHECK(pages.status == cli::exit_error);
    CHECK(contains(pages.out, ", 1 damaged place;"));
    CHECK(contains(pages.err, "the record is damaged: it is left out"));
    const ended not_one = run_to_end({"ls", place.path(), "--as", "smdebug"});
    CHECK(not_one.status == cli::exit_error);
}
