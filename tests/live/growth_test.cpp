// Bounded memory: trainings, rules and readers that run for weeks use no more memory than after their first steps.
// Here in short; with SMDEBUG_TEST_ENDURANCE=1 for minutes, as before a release, and the counts are printed.
#include "support/footprint.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/run_contents.hpp>
#include <smdebug/watch/watch.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

using local_hook = basic_hook<local_storage, scalar_kernel>;
using run_on_disk = basic_trial<local_storage, event_decoder<>, scalar_kernel>;
using run_in_memory = basic_trial<memory_storage, event_decoder<>, scalar_kernel>;

// The number of repetitions: all before a release, else a part.
[[nodiscard]] int times(int of_a_release, int part = 50) {
    return for_a_release() ? of_a_release : of_a_release / part;
}

// Repeats an action a tenth of `count` times, then the rest: memory in use grows by no more than `bytes_each` for each
// repetition, plus some pages for the first growth of a container or a line of a log.  `settle` ends background work
// before each measurement.
template <class Work, class Settle>
void check_growth(const std::string& what, int count, Work&& work, std::size_t bytes_each, Settle&& settle) {
    constexpr std::size_t spare = 24 * 1024;
    const int before = count / 10 > 0 ? count / 10 : 1;
    for (int i = 0; i < before; ++i) {
        work(i);
    }
    settle();
    const footprint first = footprint_now();
    for (int i = before; i < count; ++i) {
        work(i);
    }
    settle();
    const footprint last = footprint_now();
    if (for_a_release()) {
        MESSAGE(what << ": " << count << " times; heap " << first.heap / 1024 << " -> " << last.heap / 1024
                     << " KiB, descriptors " << first.descriptors << " -> " << last.descriptors << ", threads "
                     << first.threads << " -> " << last.threads);
    }
    CAPTURE(what);
    CHECK(last.heap <= first.heap + spare + bytes_each * static_cast<std::size_t>(count - before));
    CHECK(last.descriptors <= first.descriptors);
    CHECK(last.threads <= first.threads);
}

template <class Work>
void check_growth(const std::string& what, int count, Work&& work, std::size_t bytes_each = 0) {
    check_growth(what, count, std::forward<Work>(work), bytes_each, [] {});
}

// A training: 100 saves a step, every tenth epoch in another mode.
void train(const std::string& what, const hook_options& options, int steps) {
    local_hook hook{local_storage{options.out_dir}, options};
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) {
        names.push_back("layer" + std::to_string(i) + ".weight");
    }
    const std::vector<float> values{1, 2, 3, 4};
    check_growth(
        what, steps,
        [&](int step) {
            hook.set_mode(step % 1000 < 900 ? mode::train : mode::eval);
            for (const std::string& name : names) {
                hook.save_tensor(name, values);
            }
            hook.end_step();
        },
        0, [&] { hook.flush(); });
    hook.close();
}

[[nodiscard]] written_step small_step(step_number step) {
    return {.step = step, .tensors = {tensor_of<float>("w", {1, 2, static_cast<float>(step)})}};
}

[[nodiscard]] trial_options only_asked() {
    return {.incomplete_step_wait_window = 2, .missing_event_file_retry_limit = 0};
}

}  // namespace

TEST_CASE(
    "growth: a hook that saves values, reductions, or beside the training holds nothing of the steps it has written") {
    const temporary_folder folder;
    const int steps = times(10'000, 200);
    train("saves of values",
          {.out_dir = folder.path() + "/values", .save_config = {.save_interval = 1}, .save_all = true}, steps);
    train("saves of reductions",
          {.out_dir = folder.path() + "/reductions",
           .save_config = {.save_interval = 1},
           .reduction_config = reduction_config{.reductions = {"min", "mean"}},
           .save_all = true},
          steps);
    train("saves beside the training, and for TensorBoard",
          {.out_dir = folder.path() + "/background",
           .save_config = {.save_interval = 1},
           .save_all = true,
           .background = {.pool_bytes = 1U << 20U},
           .export_tensorboard = true,
           .tensorboard_interval = 0ms},
          steps);
}

TEST_CASE("growth: a hook whose disk fails at each step holds nothing of what was lost") {
    const temporary_folder folder;
    folder.write("run/events", "a file in the place of a folder: nothing can be written");
    int lost = 0;
    local_hook hook{local_storage{folder.path() + "/run"},
                    {.save_config = {.save_interval = 1},
                     .save_all = true,
                     .on_failure = failure_policy::drop,
                     .on_drop = [&](const std::string&) { ++lost; },
                     .on_note = [](const std::string&) {}}};
    const int steps = times(100'000);
    check_growth("steps that fail", steps, [&](int) {
        hook.save_tensor("w", std::vector<float>{1, 2, 3});
        hook.end_step();
    });
    CHECK(lost >= steps);
}

TEST_CASE("growth: rules inside the training process hold the last steps, no more") {
    const temporary_folder folder;
    local_hook hook{local_storage{folder.path() + "/run"},
                    {.save_config = {.save_interval = 1'000'000'000}, .dry_run = true}};
    const auto watching = watch(
        hook, {}, [](const watched_finding&) {}, rules::vanishing_gradient{}, rules::exploding_tensor{});
    const int steps = times(300'000, 300);
    check_growth("steps that rules look at", steps, [&](int step) {
        hook.set_mode(step % 1000 < 900 ? mode::train : mode::eval);
        hook.save_tensor("w", std::vector<float>{4, 5});
        hook.save_tensor("gradient/w", std::vector<float>{1, 2, static_cast<float>(step)});
        hook.end_step();
    });
    CHECK(watching->counters().steps == static_cast<std::uint64_t>(steps));
}

TEST_CASE("growth: looking for new steps where there are none") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 20; ++step) {
        build.step(small_step(step));
    }
    const run_on_disk run{store, only_asked()};
    check_growth("refreshes", times(100'000), [&](int) { run.refresh(); });
    CHECK(run.steps().size() == 20);
    check_growth("waits that time out", times(10'000, 500),
                 [&](int) { CHECK_THROWS_AS(run.wait_for_steps({1000}, {.timeout = 0ms}), error); });
}

TEST_CASE("growth: a run that grows takes a hundred bytes a step, and a log that grows what its points take") {
    memory_storage store{"run"};
    run_builder build{store};
    build.collections();
    build.step(small_step(0));
    const run_in_memory run{store, only_asked()};
    // The storage also holds the steps: its share of each is counted first.
    memory_storage bare{"bare"};
    run_builder same{bare};
    const int steps = times(10'000);
    const footprint before = footprint_now();
    for (int step = 1; step < steps; ++step) {
        same.step(small_step(step));
    }
    const std::size_t of_storage = (footprint_now().heap - before.heap) / static_cast<std::size_t>(steps - 1);
    check_growth(
        "steps that come, each followed by a look", steps,
        [&](int step) {
            if (step > 0) {
                build.step(small_step(step));
            }
            run.refresh();
        },
        of_storage + 160);
    CHECK(run.steps().size() == static_cast<std::size_t>(steps));
}

TEST_CASE("growth: looking at a log that does not grow") {
    memory_storage files{"logs"};
    std::string bytes = log_head();
    for (std::int64_t step = 0; step < 100; ++step) {
        bytes +=
            log_record(step, {scalar_value("loss", 3), histogram_value("w", -1, 1, 2, 0, 2, {-1, 0, 1}, {1, 0, 1})});
    }
    files.write("events.out.tfevents.1.host", as_bytes(bytes));
    const any_storage store{files};
    const trial run{as_run(store, tensorboard_source{store, {}}), only_asked()};
    check_growth("refreshes of a log", times(100'000), [&](int) { run.refresh(); });
    CHECK(run.steps().size() == 100);
    CHECK(run.problems().empty());
}

TEST_CASE("growth: opening a run again and again, and reading through a cache") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 5; ++step) {
        build.step(small_step(step));
    }
    build.end();
    check_growth("openings", times(40'000), [&](int) {
        const run_on_disk run{store, only_asked()};
        CHECK(run.tensor("w").value<float>(4)(2) == 4);
    });
    const cached_storage cached{store};
    const std::string key = smdebug::detail::locations::event_key(3, "worker_0");
    check_growth("reads through a cache", times(1'000'000), [&](int i) {
        CHECK(cached.read(key, {static_cast<std::uint64_t>(i % 50), 8}).size() == 8);
    });
}
