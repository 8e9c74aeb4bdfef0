#include <program/scan_sink.hpp>

#include "program/captured.hpp"

#include <program/batch_progress.hpp>
#include <program/runs.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("scan_sink: prints messages and failures and a sum, and nothing for unchanged or undone runs") {
    captured run;
    cli::detail::batch_progress progress{cli::detail::progress_format::none, run.to};
    const cli::detail::scan_arguments args{.check = {.runs = {"a", "b"}}, .rows = false};
    cli::detail::scan_sink sink{args, nullptr, progress, run.to};
    run_result first{.run = {.path = "a.tar!/x"}};
    first.messages.push_back({run_message::kind::note, "by the way"});
    first.verdicts.push_back(
        {.name = "r", .outcome = {.findings = {{.met = true, .rule = "r"}}}, .status = rule_status::issues_found});
    first.others.push_back({.run = {.path = "a.tar!/y"}, .state = run_state::failed, .error = "it is gone"});
    sink.take(std::move(first));
    sink.take({.run = {.path = "b"}, .state = run_state::unchanged});
    sink.take({.run = {.path = "c"}, .state = run_state::undone, .error = "the batch was stopped"});
    sink.finish(false);
    CHECK(sink.status() == cli::exit_finding_and_error);
    CHECK(run.out.str().empty());
    CHECK(run.err.str() ==
          "smdebug: note: by the way\nsmdebug: error: it is gone [run a.tar!/y]\n"
          "smdebug: error: interrupted: 3 runs are done\n");
    const auto counts = progress.so_far();
    CHECK(counts.done == 3);
    CHECK(counts.unchanged == 1);
    CHECK(counts.with_findings == 1);
}

TEST_CASE("scan_sink: what ranks have printed is not printed again, but sets the exit status") {
    for (const bool has_error : {false, true}) {
        captured run;
        cli::detail::batch_progress progress{cli::detail::progress_format::none, run.to};
        const cli::detail::scan_arguments args{.check = {.runs = {"a", "b"}}, .rows = false};
        cli::detail::scan_sink sink{args, nullptr, progress, run.to, cli::detail::scan_sink::messages::by_ranks};
        run_result result{.run = {.path = "a"}};
        result.messages.push_back({has_error ? run_message::kind::damage : run_message::kind::note, "from a rank"});
        sink.take(std::move(result));
        CHECK(sink.status() == (has_error ? cli::exit_error : cli::exit_ok));
        sink.take({.run = {.path = "b"}, .state = run_state::failed, .error = "it broke"});
        CHECK(sink.status() == cli::exit_error);
        CHECK(run.err.str().empty());
    }
}

TEST_CASE("scan_sink: an error names its run once, whatever the run's name is") {
    captured run;
    cli::detail::batch_progress progress{cli::detail::progress_format::none, run.to};
    const cli::detail::scan_arguments args{.check = {.runs = {"a", "b"}}, .rows = false};
    cli::detail::scan_sink sink{args, nullptr, progress, run.to};
    const std::string name = "a\n\x1b[2J";
    sink.take({.run = {.path = name},
               .state = run_state::failed,
               .error = cli::detail::error_text(corrupt_data("it is cut", {.where = "index"}), name)});
    sink.take({.run = {.path = name}, .state = run_state::failed, .error = "it is gone: " + printable(name)});
    CHECK(run.err.str() ==
          "smdebug: error: CorruptData: it is cut [run a\\n\\x1b[2J]\n"
          "smdebug: error: it is gone: a\\n\\x1b[2J\n");
}
