// Concurrent readers, refreshers and writers in a folder that disappears: every result is right or an error of the
// library, nothing crashes, and ThreadSanitizer finds no race.
// Short by default; SMDEBUG_TEST_STRESS_SECONDS sets the duration (before a release: 600, by tests/release.sh).
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include <system_error>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 2;

[[nodiscard]] std::chrono::milliseconds how_long() {
    const char* const seconds = std::getenv("SMDEBUG_TEST_STRESS_SECONDS");
    return seconds != nullptr ? std::chrono::seconds{std::atoi(seconds)} : 1500ms;
}

[[nodiscard]] std::string name_of_worker(int number) { return "worker_" + std::to_string(number); }

/// The values of a step follow from its number and its worker, whenever it is saved.
[[nodiscard]] float value_of(step_number step, int worker) { return static_cast<float>(step * 10 + worker); }

/// Counts of all threads.
struct tally {
    std::atomic<long> right{0};
    std::atomic<long> refused{0};  ///< errors of the library
    std::atomic<long> gone{0};     ///< removals of the folder
    std::mutex guard = {};
    std::vector<std::string> wrong = {};

    void say_wrong(const std::string& what) {
        const std::lock_guard lock{guard};
        if (wrong.size() < 10) {
            wrong.push_back(what);
        }
    }
};

/// Repeats an action until the end; the library's errors are expected when the folder disappears.
class performer {
public:
    performer(tally& counts, const std::atomic<bool>& over) : counts_(counts), over_(over) {}

    void operator()(const std::function<void()>& action) const {
        while (!over_) {
            try {
                action();
            } catch (const error&) {
                ++counts_.refused;
            } catch (const std::exception& other) {
                counts_.say_wrong(std::string{"no error of the library's: "} + other.what());
            }
        }
    }

private:
    tally& counts_;
    const std::atomic<bool>& over_;
};

[[nodiscard]] trial_options hasty() {
    return {.open_timeout = 20ms,
            .poll_interval = 2ms,
            .incomplete_step_wait_window = 2,
            .missing_event_file_retry_limit = 0};
}

/// Reads everything that the trial lists.
template <class Trial>
void read_some(const Trial& run, std::mt19937& random, tally& counts) {
    const std::vector<step_number> steps = run.steps();
    if (steps.empty() || !run.has_tensor("w")) {
        return;
    }
    const step_number step = steps[random() % steps.size()];
    const int worker = static_cast<int>(random() % workers);
    const auto w = run.tensor("w");
    double found = 0;
    switch (random() % 3) {
        case 0:
            found = w.template value<float>(step, {.worker = name_of_worker(worker)})(0);
            break;
        case 1:
            found = w.reduction_value(step, reduction::max, {.worker = name_of_worker(worker)});
            break;
        default:
            run.wait_for_steps({step}, {.timeout = 1ms});
            found = w.reduction_value(step, reduction::mean, {.worker = name_of_worker(worker)});
    }
    if (found == static_cast<double>(value_of(step, worker))) {
        ++counts.right;
    } else {
        counts.say_wrong("step " + std::to_string(step) + " of worker " + std::to_string(worker) + " has " +
                         std::to_string(found));
    }
}

}  // namespace

TEST_CASE("stress: readers, refreshers and writers, and a folder that disappears") {
    const temporary_folder above;
    const std::string path = above.path() + "/run";
    std::filesystem::create_directories(path);
    tally counts;
    std::atomic<bool> over{false};
    const performer again{counts, over};

    // Trials are replaced meanwhile: a reader takes the current one.
    std::mutex guard;
    std::shared_ptr<const trial> shared;
    const auto current = [&] {
        const std::lock_guard lock{guard};
        return shared;
    };
    {
        std::vector<std::jthread> threads;
        for (int worker = 0; worker < workers; ++worker) {
            threads.emplace_back([&, worker] {
                step_number step = 0;
                again([&] {
                    local_storage store{path};
                    run_builder build{store};
                    if (step % 50 == 0 && worker == 0) {
                        build.collections({name_of_worker(0), name_of_worker(1)});
                    }
                    build.step({.step = step,
                                .tensors = {tensor_of<float>("w", {value_of(step, worker)})},
                                .worker = name_of_worker(worker)});
                    step = (step + 1) % 200;
                });
            });
        }
        threads.emplace_back([&] {  // reopens the run, sometimes through a cache
            bool cached = false;
            again([&] {
                const any_storage files =
                    cached ? any_storage{cached_storage{local_storage{path}}} : any_storage{local_storage{path}};
                cached = !cached;
                auto opened = std::make_shared<const trial>(files, hasty());
                {
                    const std::lock_guard lock{guard};
                    shared.swap(opened);
                }
                std::this_thread::sleep_for(10ms);
            });
        });
        threads.emplace_back([&] {  // removes the folder
            int number = 0;
            again([&] {
                std::this_thread::sleep_for(60ms);
                const std::string away = above.path() + "/gone" + std::to_string(number++);
                std::error_code ignored;
                std::filesystem::rename(path, away, ignored);
                std::filesystem::remove_all(away, ignored);
                ++counts.gone;
            });
        });
        for (unsigned reader = 0; reader < 3; ++reader) {
            threads.emplace_back([&, reader] {
                std::mt19937 random{reader};
                again([&] {
                    if (const auto run = current()) {
                        read_some(*run, random, counts);
                    }
                });
            });
        }
        threads.emplace_back([&] {
            again([&] {
                if (const auto run = current()) {
                    run->refresh();
                }
            });
        });
        std::this_thread::sleep_for(how_long());
        over = true;
    }
    for (const std::string& what : counts.wrong) {
        FAIL_CHECK(what);
    }
    CHECK(counts.right > 0);
    CHECK(counts.gone > 0);
    if (how_long() > 1min) {
        MESSAGE(counts.right.load() << " values, " << counts.refused.load() << " errors, the folder went "
                                    << counts.gone.load() << " times");
    }
}
