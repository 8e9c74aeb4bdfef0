#include <program/learn_ranks.hpp>

#include "program/captured.hpp"
#include "program/fake_ranks.hpp"
#include "program/healthy_runs.hpp"
#include "support/environment_variable.hpp"
#include "support/test.hpp"

#include <program/learn.hpp>
#include <program/pack.hpp>
#include <smdebug/core/stop_token.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

namespace {

struct learned_over_ranks {
    int status = -1;
    std::string out;     // of rank 0
    std::string err;     // likewise
    std::string others;  // what the others say
    std::vector<int> ends;
};

/// `odd_rank`: what rank 1 does instead of learning.
learned_over_ranks learn_over(int size, const cli::detail::learn_arguments& args, const std::stop_token& stop = {},
                              const std::function<void(cli::detail::rank_channel&)>& odd_rank = {}) {
    fake_ranks ranks{size};
    std::vector<captured> said(static_cast<std::size_t>(size));
    learned_over_ranks all{.out = {}, .err = {}, .others = {}, .ends = std::vector<int>(said.size(), -1)};
    ranks.run([&](cli::detail::rank_channel& channel) {
        const auto place = static_cast<std::size_t>(channel.rank());
        if (odd_rank && place == 1) {
            odd_rank(channel);
            return;
        }
        all.ends[place] = cli::status_of(
            said[place].to, [&] { return cli::detail::learn_on_ranks(args, said[place].to, stop, channel); });
    });
    CHECK(ranks.left() == 0);
    all.status = all.ends[0];
    all.out = said[0].out.str();
    all.err = said[0].err.str();
    for (std::size_t i = 1; i < said.size(); ++i) {
        all.others += said[i].out.str() + said[i].err.str();
    }
    return all;
}

/// Over ranks it prints, says and writes what one process does.
void check_over_ranks(const cli::detail::learn_arguments& args, const std::string& file) {
    cli::detail::learn_arguments with = args;
    with.output = file;
    captured alone;
    const int status = cli::status_of(alone.to, [&] { return cli::detail::learn_runs(with, alone.to); });
    std::optional<std::string> content;
    if (fs::exists(file)) {
        content = file_content(file);
    }
    fs::remove(file);
    for (const int size : {2, 3, 5}) {
        CAPTURE(size);
        const learned_over_ranks over = learn_over(size, with);
        CHECK(over.status == status);
        CHECK(over.out == alone.out.str());
        CHECK(sorted_lines(over.err) == sorted_lines(alone.err.str()));
        CHECK(over.others.empty());
        CHECK(std::count(over.ends.begin() + 1, over.ends.end(), cli::exit_ok) == size - 1);
        CHECK(fs::exists(file) == content.has_value());
        if (content) {
            CHECK(file_content(file) == *content);
        }
        fs::remove(file);
    }
}

}  // namespace

TEST_CASE("learn: over ranks the file, what is printed and the status are those of one process") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    write_healthy_run(all.at("runs/suspect"), 1, 4);
    cli::detail::learn_arguments args{.runs = {all.at("runs")}, .threads = 2};
    check_over_ranks(args, file);

    write_healthy_run(all.at("more/unended"), 1, -1, false);
    write_healthy_run(all.at("more/damaged"), 1);
    fs::resize_file(all.at("more/damaged/events/000000000002/000000000002_worker_0.tfevents"), 30);
    args.runs.insert(args.runs.end(), {all.at("more"), all.at("none"), all.at("nothing-*")});
    args.reductions = "l1,std";
    check_over_ranks(args, file);
    args.how.format = cli::detail::output_format::json;
    check_over_ranks(args, file);
    args.shard = run_shard{.index = 1, .count = 2};
    check_over_ranks(args, file);
}

TEST_CASE("learn: over ranks runs are added to files, which the other ranks need not see") {
    const healthy_runs all;
    run_to_end({"learn", all.run(0), all.run(1), "--reductions", "l1", "-o", all.at("two.json")});
    check_over_ranks({.runs = {all.at("runs/[c-h]")}, .add = {all.at("two.json")}, .threads = 1}, all.at("all.json"));
    check_over_ranks({.add = {all.at("two.json")}}, all.at("all.json"));
    check_over_ranks({.runs = {all.run(1), all.run(2)}, .add = {all.at("two.json")}, .threads = 1}, all.at("all.json"));
    check_over_ranks({.runs = {all.run(2)}, .add = {all.at("none.json")}, .threads = 1}, all.at("all.json"));
    check_over_ranks({.runs = {all.run(2), all.run(2)}, .threads = 1}, all.at("all.json"));
    check_over_ranks({.runs = {all.run(2)}, .reductions = "l3", .threads = 1}, all.at("all.json"));
}

TEST_CASE("learn: over ranks runs in archives are learned from, each by one rank") {
    const healthy_runs all;
    REQUIRE(run_to_end({"pack", all.at("runs"), "-o", all.at("packed/many.tar")}).status == cli::exit_ok);
    REQUIRE(run_to_end({"pack", all.at("runs/a"), "-o", all.at("packed/one.tar.gz")}).status == cli::exit_ok);
    check_over_ranks({.runs = {all.at("packed")}, .threads = 1}, all.at("normal.json"));
}

TEST_CASE("learn: over ranks, where no run is left nothing is written") {
    const healthy_runs all;
    for (const int i : {0, 1, 2, 3}) {
        fs::resize_file(all.run(i) + "/events/000000000002/000000000002_worker_0.tfevents", 30);
    }
    // Some ranks have no run that can be read.
    check_over_ranks({.runs = {all.at("runs/[a-e]")}, .threads = 1}, all.at("normal.json"));
    check_over_ranks({.runs = {all.at("runs/[a-d]")}, .threads = 1}, all.at("normal.json"));
}

TEST_CASE("learn: a rank that fails, while it learns or when rank 0 fetches from it, leaves the file as it was") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    all.folder.write("normal.json", "as it was");
    const cli::detail::learn_arguments args{.runs = {all.at("runs")}, .output = file, .threads = 1};
    const auto check_failure = [&](const std::function<void(cli::detail::rank_channel&)>& odd_rank) {
        const learned_over_ranks failed = learn_over(3, args, {}, odd_rank);
        CHECK(failed.status == cli::exit_error);
        CHECK(failed.err == "smdebug: error: a process failed: nothing is written\n");
        CHECK(failed.out.empty());
        CHECK(file_content(file) == "as it was");
    };
    check_failure([](cli::detail::rank_channel& channel) {
        cli::detail::run_taker taker{channel};
        CHECK(taker.told({}) == "abs_max,l2,zeros");
        taker.end(cli::detail::rank_end::failed);
    });
    check_failure([](cli::detail::rank_channel& channel) {
        cli::detail::run_taker taker{channel};
        CHECK(taker.told({}));
        while (taker.next({})) {
        }
        CHECK_THROWS_WITH(taker.end(cli::detail::rank_end::whole,
                                    [](const auto& write) {
                                        write("0:");
                                        throw std::runtime_error("no memory is left");
                                    }),
                          "no memory is left");
    });
    const learned_over_ranks other = learn_over(3, args, {}, [](cli::detail::rank_channel& channel) {
        cli::detail::run_taker taker{channel};
        static_cast<void>(taker.told({}));
        taker.end(cli::detail::rank_end::stopped);
    });
    CHECK(other.status == cli::exit_interrupted);
    CHECK(file_content(file) == "as it was");
}

TEST_CASE("learn: over ranks a stop leaves the file as it was") {
    const healthy_runs all;
    all.folder.write("normal.json", "as it was");
    std::stop_source stop;
    stop.request_stop();
    const learned_over_ranks stopped =
        learn_over(3, {.runs = {all.at("runs")}, .output = all.at("normal.json"), .threads = 1}, stop.get_token());
    CHECK(stopped.status == cli::exit_interrupted);
    CHECK(stopped.err == "smdebug: error: interrupted: nothing is written\n");
    CHECK(stopped.others.empty());
    CHECK(file_content(all.at("normal.json")) == "as it was");
}

TEST_CASE("learn: ranks that do not see each other are refused, as each would do everything") {
    const healthy_runs all;
    const learned_over_ranks alone = learn_over(1, {.runs = {all.at("runs")}, .output = all.at("normal.json")});
    CHECK(alone.status == cli::exit_usage);
    CHECK(contains(alone.err, "MPI sees no other, and each would learn from all runs; "));
    CHECK_FALSE(fs::exists(all.at("normal.json")));
}

TEST_CASE("learn: one of several processes without MPI is refused; --show needs no other process") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    run_to_end({"learn", all.run(0), all.run(1), "-o", file});
    const environment_variable processes{"OMPI_COMM_WORLD_SIZE", "3"};
    const ended alone = run_to_end({"learn", all.at("runs"), "-o", all.at("other.json")});
    CHECK(alone.status == cli::exit_usage);
    CHECK(contains(alone.err,
                   "this is one of 3 processes, each of which would learn from all runs, as this program was built "
                   "without MPI; build it where CMake finds MPI, or give each process a --shard"));
    CHECK_FALSE(fs::exists(all.at("other.json")));
    CHECK(run_to_end({"learn", "--show", file}).status == cli::exit_ok);
    CHECK(contains(run_to_end({"scan", all.at("runs")}).err, "this is one of 3 processes, each of which would scan"));
}

TEST_CASE("learn: what is to be said of runs is a message, whatever is in it") {
    captured run;
    cli::detail::learn_reports kept{nullptr};
    cli::detail::learn_reports told{&run.to};
    kept.leave_out({"b:1\n", ""});
    kept.leave_out({"", "2:no"});
    kept.note("c", "3:");
    told.take(kept.text());
    CHECK(told.text() == kept.text());
    REQUIRE(told.left_out().size() == 2);
    CHECK(told.left_out()[0].why == "2:no");
    CHECK(told.left_out()[1].run == "b:1\n");
    CHECK(contains(run.err.str(), "note: c: 3:\n"));
    told.take("");
    told.take("7:");
}
