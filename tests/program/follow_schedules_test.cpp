// The property that following has: in whatever order a writer's bytes arrive, `--follow` ends with the findings, the status
// and the notes of the same command run afterwards.  Random schedules, see support/schedules.hpp for how to replay one.
#include "program/follow_schedules.hpp"
#include "support/checkpoint_schedules.hpp"
#include "support/log_schedules.hpp"
#include "support/run_schedules.hpp"
#include "support/schedules.hpp"
#include "support/test.hpp"

using namespace smdebug_test;

namespace {

using seeds = std::vector<std::uint64_t>;

// Tries the seeds of a kind: `make(seed)` makes the schedule.
template <class Make>
void follow_all(const std::string& kind, const seeds& kept, std::size_t fresh, Make&& make,
                const std::string& command = "check") {
    const seeds all = seeds_of(kind, kept, fresh);
    const auto troubles = troubles_with(all, [&](std::uint64_t seed) {
        schedule one = make(seed_in(kind, seed));
        one.name = kind + "/" + std::to_string(seed);
        return trouble_with(one, command, command == "ls" || seed % 3 == 0 ? "json" : "table");
    });
    std::string names;
    for (const std::string& each : troubles) {
        names += " " + each.substr(0, each.find(':'));
    }
    for (std::size_t i = 0; i < std::min(troubles.size(), most_printed()); ++i) {
        FAIL_CHECK("SMDEBUG_TEST_SEED=" << troubles[i]);
    }
    CHECK_MESSAGE(troubles.empty(), troubles.size(), " of ", all.size(), " schedules end otherwise:", names);
}

template <class Make>
void report_all(const std::string& kind, const seeds& kept, std::size_t fresh, Make&& make) {
    follow_all(kind, kept, fresh, std::forward<Make>(make), "report");
}

template <class Make>
void list_all(const std::string& kind, const seeds& kept, std::size_t fresh, Make&& make) {
    follow_all(kind, kept, fresh, std::forward<Make>(make), "ls");
}

}  // namespace

TEST_CASE("--follow as afterwards: a run whose steps come in order") {
    follow_all("run-plain", {5, 37}, 3, [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 3}); });
}

TEST_CASE("--follow as afterwards: a run of which a worker is late, or dies") {
    follow_all("run-lagging", {15, 39}, 3,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 3, .lags = true}); });
}

TEST_CASE("--follow as afterwards: a run with a worker that its collections files do not count") {
    follow_all("run-unknown-worker", {11, 28, 40}, 3,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 3, .has_unknown_worker = true}); });
}

TEST_CASE("--follow as afterwards: a run whose steps are not in order") {
    follow_all("run-unordered", {16, 23, 29, 39}, 3,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .is_unordered = true}); });
}

TEST_CASE("--follow as afterwards: a run whose files are copied in another order") {
    follow_all("run-mirrored", {7, 34, 39}, 3,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .is_mirrored = true}); });
}

TEST_CASE("--follow as afterwards: a run that goes on from an earlier step") {
    follow_all("run-restart", {10, 16, 30, 38, 40}, 4,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .restarts = true}); });
}

TEST_CASE("--follow as afterwards: a run whose collections grow") {
    follow_all("run-collections", {11, 14, 16}, 2,
               [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .collections_grow = true}); });
}

TEST_CASE("--follow as afterwards: a run to which everything happens") {
    follow_all("run-any", {17, 19, 37, 40}, 3, [](std::uint64_t seed) {
        dice choose{~seed};
        return run_schedule(seed, {.most_workers = 3,
                                   .lags = choose.chance(50),
                                   .has_unknown_worker = choose.chance(30),
                                   .is_unordered = choose.chance(50),
                                   .restarts = choose.chance(60),
                                   .collections_grow = choose.chance(30)});
    });
}

TEST_CASE("--follow as afterwards: a log") {
    follow_all("log-plain", {38}, 3, [](std::uint64_t seed) { return log_schedule(seed, {}); });
}

TEST_CASE("--follow as afterwards: a log of several folders, some of them late") {
    follow_all("log-folders", {25, 40}, 3, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 3, .has_late_folder = seed % 2 == 0, .has_modes = seed % 4 == 1});
    });
}

TEST_CASE("--follow as afterwards: a log whose tags count their own steps") {
    follow_all("log-counters", {11, 13, 17, 26}, 3, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 2, .has_counters = true, .has_files = seed % 2 == 0});
    });
}

TEST_CASE("--follow as afterwards: a log whose records come in pieces, and as zeros that are filled later") {
    follow_all("log-cut", {11, 20, 28, 31}, 3, [](std::uint64_t seed) { return log_schedule(seed, {.is_cut = true}); });
}

TEST_CASE("--follow as afterwards: a log whose steps go back") {
    follow_all("log-back", {22, 33, 34, 40}, 3,
               [](std::uint64_t seed) { return log_schedule(seed, {.has_files = seed % 2 == 0, .repeats = true}); });
}

TEST_CASE("--follow as afterwards: folders that are runs") {
    follow_all("log-runs", {11, 19, 38}, 3, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 3, .has_late_folder = seed % 3 != 0, .are_runs = true});
    });
}

TEST_CASE("--follow as afterwards: checkpoints") {
    follow_all("checkpoints-plain", {}, 3, [](std::uint64_t seed) { return checkpoint_schedule(seed, {}); });
}

TEST_CASE("--follow as afterwards: checkpoints that come late, and again") {
    follow_all("checkpoints-again", {2, 32, 44, 58}, 3, [](std::uint64_t seed) {
        return checkpoint_schedule(seed, {.is_unordered = seed % 2 == 0, .replaces = seed % 3 != 0});
    });
}

TEST_CASE("--follow as afterwards: checkpoints that are removed") {
    follow_all("checkpoints-removed", {}, 4, [](std::uint64_t seed) {
        return checkpoint_schedule(seed, {.is_unordered = seed % 2 == 0, .removes = true});
    });
}

TEST_CASE("ls --follow as afterwards: the steps of runs and logs") {
    list_all("ls-run", {10, 38}, 2, [](std::uint64_t seed) {
        return run_schedule(seed, {.most_workers = 2, .lags = true, .restarts = seed % 2 == 0});
    });
    list_all("ls-log", {34, 36}, 2, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 2, .has_counters = true, .has_files = true});
    });
}

TEST_CASE("report --follow as afterwards: the last page of runs and logs") {
    report_all("report-run", {11, 13}, 2, [](std::uint64_t seed) {
        return run_schedule(seed, {.most_workers = 2, .has_unknown_worker = seed % 3 == 0, .restarts = seed % 2 == 0});
    });
    report_all("report-log", {7, 12, 16}, 2, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 2, .has_counters = true, .repeats = seed % 2 == 0});
    });
}
