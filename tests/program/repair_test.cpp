#include <program/repair.hpp>

#include "program/captured.hpp"
#include "support/log_builder.hpp"

#include <program/program.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("repair: says what it would do, does it, and has nothing left to do") {
    const temporary_folder place;
    const std::string run = place.path() + "/run";
    std::filesystem::copy(golden("torch_mlp"), run, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(run + "/index");
    captured would;
    CHECK(cli::run_program({"repair", run, "--dry-run"}, would.out, would.err) == cli::exit_ok);
    CHECK(contains(would.out.str(), "would write index/000000000/000000000000_worker_0.json: it is missing\n"));
    CHECK(contains(would.out.str(), ": 4 event files read, 0 index files good, 4 files to be written\n"));
    CHECK_FALSE(std::filesystem::exists(run + "/index"));
    captured does;
    CHECK(cli::run_program({"repair", run}, does.out, does.err) == cli::exit_ok);
    CHECK(contains(does.out.str(), "4 files written\n"));
    CHECK(does.err.str().empty());
    captured again;
    CHECK(cli::run_program({"repair", run}, again.out, again.err) == cli::exit_ok);
    CHECK(contains(again.out.str(), "4 index files good, 0 files written\n"));

    captured nothing;
    CHECK(cli::run_program({"repair", place.path() + "/none"}, nothing.out, nothing.err) == cli::exit_error);
    CHECK(contains(nothing.err.str(), "there are no event files in "));
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
    captured again;
    CHECK(cli::run_program({"repair", run}, again.out, again.err) == cli::exit_ok);
}

TEST_CASE("the program reads TensorBoard's logs, and says what of them is damaged") {
    const temporary_folder place;
    std::string bad = log_record(2, {scalar_value("loss", 2)});
    bad.back() = static_cast<char>(bad.back() ^ 1);
    std::ofstream{place.path() + "/events.out.tfevents.1"} << log_record(1, {scalar_value("loss", 1)}) + bad;
    captured list;
    CHECK(cli::run_program({"ls", place.path()}, list.out, list.err) == cli::exit_error);
    CHECK(contains(list.out.str(), "loss"));
    CHECK(contains(list.err.str(), "the record is damaged: it is left out"));
    captured skips;
    CHECK(cli::run_program({"stats", place.path(), "--skip-damaged", "--as", "tensorboard", "--format", "csv"},
                           skips.out, skips.err) == cli::exit_ok);
    CHECK(contains(skips.out.str(), "loss"));
    captured verifies;
    CHECK(cli::run_program({"ls", place.path(), "--verify", "--format", "csv"}, verifies.out, verifies.err) ==
          cli::exit_error);
    CHECK(contains(verifies.out.str(), ",damaged file,\"events.out.tfevents.1, byte "));
    CHECK(contains(verifies.out.str(), "the record is damaged: it is left out"));
    const temporary_folder elsewhere;
    captured exports;
    CHECK(cli::run_program({"export", place.path(), "--to", "csv", "-o", elsewhere.path() + "/out.csv"}, exports.out,
                           exports.err) == cli::exit_error);
    CHECK(contains(exports.out.str(), "; 1 place of the run left out, see the messages\n"));
    captured pages;
    CHECK(cli::run_program({"report", place.path(), "-o", elsewhere.path() + "/out.html"}, pages.out, pages.err) ==
          cli::exit_error);
    CHECK(contains(pages.out.str(), ", 1 damaged place;"));
    CHECK(contains(pages.err.str(), "the record is damaged: it is left out"));
    captured not_one;
    CHECK(cli::run_program({"ls", place.path(), "--as", "smdebug"}, not_one.out, not_one.err) == cli::exit_error);
}
