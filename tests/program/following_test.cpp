#include <program/following.hpp>

#include "program/captured.hpp"

#include <program/runs.hpp>
#include <program/step_feed.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using cli::detail::follow_end;
using ends = std::vector<follow_end>;
using texts = std::vector<std::string>;

namespace {

ends ends_of(const std::vector<cli::detail::followed_end>& all) {
    ends found;
    for (const auto& one : all) {
        found.push_back(one.end);
    }
    return found;
}

}  // namespace

TEST_CASE("follow_runs: every run in a thread of its own, all at once") {
    captured shown;
    std::atomic<int> inside{0};
    texts seen(3);
    const auto got =
        cli::detail::follow_runs({golden("torch_mlp") + "//", golden("scalars"), golden("dtypes")}, {}, {.on = true},
                                 shown.to, {}, [&](const cli::detail::followed_run& of) {
                                     // Each waits for the others: one after the other would never end.
                                     ++inside;
                                     while (inside < 3) {
                                         std::this_thread::yield();
                                     }
                                     seen[of.place] = of.path;
                                     return of.run.loaded_all_steps() ? follow_end::ended : follow_end::end_step;
                                 });
    CHECK(ends_of(got) == ends{follow_end::ended, follow_end::ended, follow_end::ended});
    CHECK(seen == texts{golden("torch_mlp"), golden("scalars"), golden("dtypes")});
    CHECK(cli::detail::status_after(got, shown.to) == cli::exit_ok);
    CHECK(shown.err.str().empty());
}

TEST_CASE("follow_runs: an error of one run is reported and does not end the others") {
    captured shown;
    const auto got = cli::detail::follow_runs({golden("scalars"), golden("torch_mlp"), "run.zip"}, {}, {.on = true},
                                              shown.to, {}, [&](const cli::detail::followed_run& of) {
                                                  if (of.place == 0) {
                                                      throw tensor_unavailable("x");
                                                  }
                                                  return follow_end::ended;
                                              });
    CHECK(ends_of(got) == ends{follow_end::failed, follow_end::ended, follow_end::failed});
    CHECK(cli::detail::status_after(got, shown.to) == cli::exit_error);
    CHECK(contains(shown.err.str(), "smdebug: error: TensorUnavailable: Tensor x was not saved. [run "));
    CHECK(contains(shown.err.str(), "NotFound: there is no archive ./run.zip"));
    CHECK_FALSE(contains(shown.err.str(), "waiting for a run"));
}

TEST_CASE("follow_runs: an error that is not one run's ends them all, and is thrown") {
    captured shown;
    CHECK_THROWS_AS(
        static_cast<void>(cli::detail::follow_runs(
            {golden("scalars"), "/nowhere"}, {}, {.on = true}, shown.to, {},
            [](const cli::detail::followed_run&) -> follow_end { throw cli::detail::output_error("full", false); })),
        cli::detail::output_error);
}

TEST_CASE("follow_runs: waits for a missing run until it is given up, or stopped") {
    captured shown;
    const auto never = [](const cli::detail::followed_run&) -> follow_end {
        throw std::logic_error("there is no run");
    };
    const temporary_folder empty;
    const texts runs{empty.path(), golden("damaged/too_few_collections_running")};
    const auto given_up = cli::detail::follow_runs(runs, {}, {.on = true, .give_up_after = 1ms}, shown.to, {}, never);
    CHECK(ends_of(given_up) == ends{follow_end::failed, follow_end::failed});
    CHECK(cli::detail::status_after(given_up, shown.to) == cli::exit_error);
    CHECK(contains(shown.err.str(), "note: waiting for a run to start in " + empty.path() + "\n"));
    CHECK(contains(shown.err.str(), "note: waiting for a run to start in " + runs[1] + "\n"));
    CHECK(contains(shown.err.str(), "error: NotFound: there is no training run in " + empty.path()));
    CHECK(contains(shown.err.str(), "2 of 3 collections files"));

    captured again;
    std::stop_source stop;
    const std::jthread stopper{[&] { stop.request_stop(); }};
    const auto stopped = cli::detail::follow_runs(runs, {}, {.on = true}, again.to, stop.get_token(), never);
    CHECK(ends_of(stopped) == ends{follow_end::not_started, follow_end::not_started});
    CHECK(cli::detail::status_after(stopped, again.to) == cli::exit_interrupted);
    CHECK_FALSE(again.to.trouble());
}

TEST_CASE("follow_runs, pause_for: the longest time that there is never passes") {
    captured shown;
    const temporary_folder empty;
    for (const std::string_view what : {"pause", "run", "folder"}) {
        std::stop_source stop;
        const std::jthread stopper{[&] {
            std::this_thread::sleep_for(20ms);
            stop.request_stop();
        }};
        if (what == "pause") {
            cli::detail::pause_for(std::chrono::milliseconds::max(), stop.get_token());
        } else {
            const bool is_folder = what == "folder";
            const auto got = cli::detail::follow_runs(
                is_folder ? texts{} : texts{empty.path()}, {.folders = is_folder ? texts{empty.path()} : texts{}},
                {.on = true, .give_up_after = std::chrono::milliseconds::max()}, shown.to, stop.get_token(),
                [](const cli::detail::followed_run&) { return follow_end::ended; });
            CHECK(ends_of(got) == (is_folder ? ends{} : ends{follow_end::not_started}));
        }
        CHECK(stop.stop_requested());
    }
    CHECK_FALSE(contains(shown.err.str(), "there is no training run"));
}

TEST_CASE("follow_runs: a job that has ended without its collections files is not waited for") {
    const temporary_folder folder;
    folder.write("training_job_end.ts", "end");
    captured shown;
    const auto got = cli::detail::follow_runs({folder.path()}, {}, {.on = true}, shown.to, {},
                                              [](const cli::detail::followed_run&) { return follow_end::ended; });
    CHECK(ends_of(got) == ends{follow_end::failed});
    CHECK(contains(shown.err.str(), "MissingCollectionFiles"));
    CHECK_FALSE(contains(shown.err.str(), "waiting"));
}

TEST_CASE("follow_runs: a stalled run is an error that says since when, and how far it came") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    const auto stalled = [&] {
        captured shown;
        const auto got = cli::detail::follow_runs({folder.path()}, {}, {.on = true}, shown.to, {},
                                                  [](const cli::detail::followed_run&) { return follow_end::stalled; });
        CHECK(cli::detail::status_after(got, shown.to) == cli::exit_error);
        return shown.err.str();
    };
    CHECK(contains(stalled(), "error: " + folder.path() + ": stalled: nothing new for "));
    CHECK(contains(stalled(), ", and no end-of-job mark; no step is complete\n"));
    build.step({.step = 120, .tensors = {tensor_of<float>("w", {1, 2})}});
    CHECK(contains(stalled(), ", and no end-of-job mark; the last complete step is 120\n"));
}

TEST_CASE("shared_console: lines of several threads stay whole") {
    captured shown;
    cli::detail::shared_console out{shown.to};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int line = 0; line < 50; ++line) {
                    out.note("a line");
                }
            });
        }
    }
    for (const std::string& line : lines_of(shown.err.str())) {
        CHECK(line == "smdebug: note: a line");
    }
    out.error("trouble");
    CHECK(shown.to.trouble());
}

TEST_CASE("follow_runs: the kind of data in an empty folder is detected when some appears") {
    for (const data_format as : {data_format::detect, data_format::checkpoints}) {
        const temporary_folder folder;
        captured shown;
        cli::detail::run_options how;
        how.storage.formats.as = as;
        std::jthread writer{[&] {
            std::this_thread::sleep_for(200ms);
            std::filesystem::copy(SMDEBUG_TEST_DATA "/checkpoints/numbered/step_500.npz",
                                  folder.path() + "/step_500.npz");
        }};
        std::vector<step_number> steps;
        const auto got = cli::detail::follow_runs({folder.path()}, how, {.on = true, .give_up_after = 20s}, shown.to,
                                                  {}, [&](const cli::detail::followed_run& of) {
                                                      steps = of.run.steps({.show_incomplete_steps = true});
                                                      return follow_end::ended;
                                                  });
        CHECK(ends_of(got) == ends{follow_end::ended});
        CHECK(steps.size() == 1);
    }
}

TEST_CASE("run_watch: a run is replaced when its folder is another one; what is written in it is not that") {
    const temporary_folder folder;
    const std::string root = folder.path() + "/run";
    folder.write("run/collections/x", "");
    cli::detail::run_watch watch{root};
    CHECK_FALSE(watch.is_replaced());
    folder.write("run/index/000000000/000000000000_worker_0.json", "{}");
    CHECK_FALSE(watch.is_replaced());
    std::filesystem::remove_all(root + "/index");
    CHECK_FALSE(watch.is_replaced());  // the trial sees that
    std::filesystem::remove_all(root);
    CHECK(watch.is_replaced());
    CHECK_FALSE(cli::detail::run_watch{"s3://bucket/run"}.is_replaced());
    CHECK_FALSE(cli::detail::run_watch{folder.path() + "/none.tar"}.is_replaced());
}
