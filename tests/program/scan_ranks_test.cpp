#include <program/scan.hpp>

#include "program/captured.hpp"
#include "program/database/canonical_rows.hpp"
#include "program/fake_ranks.hpp"

#include <program/scan_arguments.hpp>
#include <smdebug/core/stop_token.hpp>

#include "support/test.hpp"

#include <regex>

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct said_by_ranks {
    int status = -1;
    std::string out;     // of rank 0
    std::string err;     // of all ranks, each line once
    std::string others;  // what the others print
};

/// Each rank says what it says; their statuses are 0, but that of rank 0.
said_by_ranks scan_over(int size, const cli::detail::scan_arguments& args, const std::stop_token& stop = {}) {
    fake_ranks ranks{size};
    std::vector<captured> said(static_cast<std::size_t>(size));
    std::vector<int> ends(static_cast<std::size_t>(size), -1);
    ranks.run([&](cli::detail::rank_channel& channel) {
        const auto place = static_cast<std::size_t>(channel.rank());
        ends[place] = cli::status_of(
            said[place].to, [&] { return cli::detail::scan_on_ranks(args, known(), said[place].to, stop, channel); });
    });
    CHECK(ranks.left() == 0);
    said_by_ranks all{.status = ends[0], .out = said[0].out.str(), .err = said[0].err.str(), .others = {}};
    for (std::size_t i = 1; i < said.size(); ++i) {
        all.others += said[i].out.str();
        all.err += said[i].err.str();
        CHECK(ends[i] == (ends[0] == cli::exit_usage ? cli::exit_usage : cli::exit_ok));
    }
    return all;
}

std::size_t files_in(const temporary_folder& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder.path()}, {}));
}

/// Over ranks it says, prints and stores what it does alone; so it does again, where some of it has not changed.
void check_over_ranks(
    cli::detail::scan_arguments args, const std::function<void()>& between = [] {}) {
    const temporary_folder results;
    args.output = results.path() + "/one.db";
    cli::detail::scan_arguments over = args;
    over.output = results.path() + "/three.db";
    for (int turn = 0; turn < 2; ++turn) {
        captured alone;
        const int status = cli::detail::scan_runs(args, known(), alone.to);
        const said_by_ranks three = scan_over(3, over);
        CHECK(three.status == status);
        CHECK(three.out == alone.out.str());
        CHECK(sorted_lines(std::regex_replace(three.err, std::regex{"three\\.db"}, "one.db")) ==
              sorted_lines(alone.err.str()));
        CHECK(three.others.empty());
        CHECK(canonical_rows(*over.output) == canonical_rows(*args.output));
        CHECK(files_in(results) == 2);
        between();
    }
}

}  // namespace

TEST_CASE("scan: over ranks output, messages and database are those of one process") {
    const temporary_folder folder;
    write_sick_run(folder);
    const temporary_folder alone;  // where no other folders come and go, which a message would name
    const std::string damaged = alone.path() + "/damaged";
    std::filesystem::copy(folder.path(), damaged, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(damaged + "/events/000000000001");
    std::this_thread::sleep_for(std::chrono::milliseconds{60});  // what was written a moment ago has no version yet
    cli::detail::scan_arguments args{.check = {.runs = {golden("scalars"), folder.path(), golden("torch_mlp"), damaged,
                                                        golden("torch_ddp"), "/nowhere", golden("collections")},
                                               .how = {.format = cli::detail::output_format::csv}},
                                     .threads = 2};
    check_over_ranks(args, [&] { std::filesystem::remove_all(damaged); });
    args.split_above = 1;
    args.statistics = cli::detail::all_statistics();
    check_over_ranks(args);
    args.split_above = 0;
    args.statistics.reset();
    args.check.how.format = cli::detail::output_format::json;
    check_over_ranks(args);
}

TEST_CASE("scan: over ranks a database is needed, or rank 0 reports an error") {
    const said_by_ranks none = scan_over(3, {.check = {.runs = {golden("scalars")}}});
    CHECK(none.status == cli::exit_usage);
    CHECK(none.err ==
          "smdebug: error: over many processes a scan needs -o: the database in which their results come together\n");
}

TEST_CASE("scan: ranks that do not see each other are refused, as each would do everything") {
    const said_by_ranks alone = scan_over(1, {.check = {.runs = {golden("scalars")}}, .output = "out.db"});
    CHECK(alone.status == cli::exit_usage);
    CHECK(contains(alone.err, "sees no other"));
}

TEST_CASE("scan: if rank 0 fails the others end, and the next scan merges what ranks have left") {
    const temporary_folder results;
    const std::string output = results.path() + "/out.db";
    const cli::detail::scan_arguments args{
        .check = {.runs = {golden("xgboost_like"), golden("scalars")}}, .output = output, .rows = false, .threads = 1};
    std::ofstream{output} << "no database of results, but what somebody has written";
    const said_by_ranks wrong = scan_over(3, args);
    CHECK(wrong.status == cli::exit_error);
    CHECK(contains(wrong.err, "out.db"));
    std::filesystem::remove(output);

    captured whole;
    CHECK(cli::detail::scan_runs(args, known(), whole.to) == cli::exit_finding);
    const std::string truth = canonical_rows(output);
    for (const int size : {1, 3}) {
        // As if the ranks had been killed at the end.
        std::filesystem::rename(output, output + ".rank-2");
        captured one;
        const auto said = size > 1 ? scan_over(size, args) : said_by_ranks{};
        const int status = size > 1 ? said.status : cli::detail::scan_runs(args, known(), one.to);
        CHECK(status == cli::exit_ok);
        CHECK(contains(said.err + one.err.str(), "an earlier scan over many processes did not come to its end"));
        CHECK(contains(said.out + one.out.str(), "2 runs had been looked at before"));
        CHECK(canonical_rows(output) == truth);
        CHECK(files_in(results) == 1);
    }
}

TEST_CASE("scan: over ranks a stop keeps what was done; a database of a rank that cannot be used ends the scan") {
    const temporary_folder results;
    const std::string output = results.path() + "/out.db";
    cli::detail::scan_arguments args{
        .check = {.runs = {golden("xgboost_like"), golden("scalars")}}, .output = output, .rows = false, .threads = 1};
    std::stop_source stop;
    stop.request_stop();
    const said_by_ranks stopped = scan_over(3, args, stop.get_token());
    CHECK(stopped.status == cli::exit_interrupted);
    CHECK(contains(stopped.err, "interrupted: 0"));

    std::filesystem::create_directory(output + ".rank-0");
    std::ofstream{output + ".rank-0/file"};
    const said_by_ranks failed = scan_over(3, args);
    CHECK(failed.status == cli::exit_error);
    std::filesystem::remove_all(output + ".rank-0");
    CHECK(scan_over(3, args).status == cli::exit_finding);
    CHECK(files_in(results) == 1);
}
