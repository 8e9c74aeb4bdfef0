#include <program/scan_results.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <program/database/results_database.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::cli::detail;

TEST_CASE("rank_results: finds the files of ranks beside the database, and no others") {
    const temporary_folder folder;
    const std::string output = folder.path() + "/out.db";
    CHECK(rank_files(output).empty());
    for (const char* const name : {"/out.db", "/out.db.rank-0", "/out.db.rank-12", "/out.db.rank-12-wal",
                                   "/out.db.rank-", "/out.db.rank-x", "/other.db.rank-1"}) {
        std::ofstream{folder.path() + name};
    }
    CHECK(rank_files(output) == std::vector{rank_file(output, 0), rank_file(output, 12)});
    remove_rank_files(rank_files(output));
    CHECK(rank_files(output).empty());
    CHECK(std::filesystem::exists(output + ".rank-x"));
    CHECK(rank_files(folder.path() + "/none/out.db").empty());
}

TEST_CASE(
    "rank_results: all ranks' results come in the order of the list, archives as one, unchanged runs among them") {
    const temporary_folder folder;
    const std::vector<std::string> files{folder.path() + "/out.db.rank-0", folder.path() + "/out.db.rank-1"};
    {
        results_database first{files[0], std::chrono::seconds{1}, true};
        run_result late{.run = {.place = 5, .path = "/runs/f"}, .state = run_state::failed, .error = "it broke"};
        first.write(late, "q");
        auto rows = std::make_shared<row_spool>();
        rows->add({.step = 3, .worker = "w", .name = "n"});
        first.write({.run = {.place = 0, .path = "/runs/a"}, .reductions = rows}, "another");
        CHECK(thrown_code([&] { static_cast<void>(results_database(files[0], std::chrono::milliseconds{1})); }) ==
              error_code::in_use);
        results_database second{files[1], std::chrono::seconds{1}, true};
        second.write({.run = {.place = 2, .path = "/a.tar.gz!/2"}}, "q");
        second.write({.run = {.place = 2, .path = "/a.tar.gz!/3"}}, "q");
        second.write({.run = {.place = 2, .path = "/a.tar.gz!/1"}}, "q");  // the first one is written last
    }
    std::vector<std::string> said;
    for_each_rank_result(files, {{.place = 1, .path = "/runs/b"}, {.place = 2, .path = "/a.tar.gz"}},
                         [&](run_result&& result, std::string_view question) {
                             std::string text = result.run.path + " " + std::string{name_of(result.state)} + " " +
                                                std::string{question} + " " + result.error;
                             for (const run_result& each : result.others) {
                                 text += each.run.path;
                             }
                             text += result.reductions ? std::to_string(result.reductions->size()) : "";
                             said.push_back(text);
                         });
    CHECK(said == std::vector<std::string>{"/runs/a ended another 1", "/runs/b unchanged  ",
                                           "/a.tar.gz!/1 ended q /a.tar.gz!/2/a.tar.gz!/3",
                                           "/runs/f failed q it broke"});
}
