#include <program/batch_progress.hpp>

#include "program/captured.hpp"

#include <smdebug/core/json_document.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using cli::detail::batch_counts;

TEST_CASE("batch_progress: what people read") {
    batch_counts now{.done = 120, .seconds = 60};
    CHECK(cli::detail::progress_text(now, true) == "120 runs");
    now.all = 2000;
    CHECK(cli::detail::progress_text(now, false) == "120 of 2000 runs, 15 minutes left");
    now.unchanged = 60;  // they took no time
    CHECK(cli::detail::progress_text(now, false) == "120 of 2000 runs, 31 minutes left");
    now.with_findings = 25;
    now.failed = 3;
    now.bytes = 72'000'000'000;
    CHECK(cli::detail::progress_text(now, true) ==
          "[#.............................] 120/2000 runs, 1.2 GB/s, 25 with findings, 3 failed, 31 minutes left");
    now.done = 2000;
    CHECK(cli::detail::progress_text(now, false) == "2000 of 2000 runs, 1.2 GB/s, 25 with findings, 3 failed");
}

TEST_CASE("batch_progress: what programs read is JSON, unknown is null") {
    const std::string first = cli::detail::progress_json({.done = 1, .seconds = 2});
    CHECK(first == R"({"runs_done":1,"runs":null,"unchanged":0,"with_findings":0,"failed":0,"bytes":0,)"
                   R"("bytes_per_second":0.000,"seconds":2.000,"seconds_left":null})");
    const std::string last = cli::detail::progress_json({.done = 2, .all = 3, .bytes = 10, .seconds = 4});
    CHECK(contains(last, R"("runs":3,)"));
    CHECK(contains(last, R"("bytes_per_second":2.500,"seconds":4.000,"seconds_left":2.000})"));
}

TEST_CASE("batch_progress: counts finished runs; JSON reports the end, a log prints nothing within the first minute") {
    for (const auto how : {cli::detail::progress_format::json, cli::detail::progress_format::people,
                           cli::detail::progress_format::none}) {
        captured run;
        cli::detail::batch_progress progress{how, run.to};
        progress.listed(3);
        {
            const auto locked = progress.lock();
            progress.done({.run = {.bytes = 100}});
            progress.done({.run = {.bytes = 100}, .state = run_state::unchanged});
            progress.done({.state = run_state::failed, .error = "gone"});
        }
        progress.finish();
        if (how == cli::detail::progress_format::json) {
            CHECK(
                lines_of(run.err.str())
                    .back()
                    .starts_with(R"({"runs_done":3,"runs":3,"unchanged":1,"with_findings":0,"failed":1,"bytes":100,)"));
        } else {
            CHECK(run.err.str().empty());
        }
        CHECK(run.out.str().empty());
    }
}

TEST_CASE("batch_progress: what other processes have done counts once when their results come") {
    captured run;
    cli::detail::batch_progress progress{cli::detail::progress_format::none, run.to};
    progress.listed(3);
    progress.done_elsewhere(2);
    CHECK(progress.so_far().done == 2);
    progress.begin_results();
    const auto locked = progress.lock();
    progress.done({.state = run_state::failed, .error = "it broke"});
    CHECK(progress.so_far().done == 1);
    CHECK(progress.so_far().failed == 1);
}

TEST_CASE("batch_progress: on a terminal a line of at most 79 characters, or the steps of an only run") {
    for (const bool only : {false, true}) {
        std::ostringstream out;
        std::ostringstream err;
        cli::detail::console to{out, err, {.err_is_terminal = true}};
        cli::detail::batch_progress progress{cli::detail::progress_format::people, to};
        progress.listed(only ? 1 : 2000);
        {
            const auto locked = progress.lock();
            progress.done({.run = {.bytes = 123'456'789}, .state = run_state::failed, .error = "gone"});
        }
        const auto end = std::chrono::steady_clock::now() + 60s;
        const auto shown = [&] {
            const auto locked = progress.lock();
            return err.str();
        };
        while (shown().empty() && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(10ms);
            progress.steps("steps of it", 3, 10);
        }
        progress.finish();
        const std::string line = err.str();
        CHECK(contains(line, only ? "[#########.....................] 3/10 steps of it" : "] 1/2000 runs, "));
        const std::size_t end_of_line = line.find('\r', 1);
        CHECK((end_of_line == std::string::npos ? line.size() : end_of_line) <= 80);
    }
}
