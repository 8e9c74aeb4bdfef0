// Worker processes that write a run at random speeds, and their progress.
#pragma once

#include "support/run_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>

#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

namespace smdebug_test {

/// The progress of each worker, in memory shared with the test.
struct progress {
    static constexpr std::size_t most = 16;
    std::array<std::atomic<int>, most> begun{};  ///< steps whose index file has been begun
    std::array<std::atomic<int>, most> done{};   ///< steps whose index file is complete
};

struct fleet_plan {
    std::string path;
    int workers = 4;
    int steps = 60;
    smdebug::step_number stride = 37;  ///< step i has the number i * stride: several index folders
    int slowest_us = 4000;             ///< the longest pause between two files
    unsigned seed = 1;
    bool marks_end = true;
    bool writes_in_place = false;  ///< index files grow in place, as with some writers
};

[[nodiscard]] inline std::string worker_name(int worker) { return "worker_" + std::to_string(worker); }

/// The tensors of a worker's i-th step: a value that encodes both, and at every third step another tensor.
[[nodiscard]] inline written_step planned_step(const fleet_plan& plan, int worker, int place) {
    const smdebug::step_number step = place * plan.stride;
    written_step made{.step = step,
                      .tensors = {},
                      .mode = place % 2 == 0 ? smdebug::mode::train : smdebug::mode::eval,
                      .mode_step = place / 2,
                      .worker = worker_name(worker)};
    made.tensors.push_back(tensor_of<float>("weight", {static_cast<float>(worker), static_cast<float>(step)}));
    if (place % 3 == 0) {
        made.tensors.push_back(tensor_of<float>("loss", {static_cast<float>(step)}));
    }
    return made;
}

/// One process a worker.  The destructor kills those still alive.
class fleet {
public:
    /// Starts the processes.  No other thread may run in this process yet.
    explicit fleet(fleet_plan plan) : plan_(std::move(plan)) {
        void* const memory =
            ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::runtime_error("no shared memory");
        }
        shared_ = new (memory) progress;
        std::cout.flush();  // otherwise each child prints the buffer as well
        for (int worker = 0; worker < plan_.workers; ++worker) {
            const pid_t child = ::fork();
            if (child < 0) {
                throw std::runtime_error("cannot fork");
            }
            if (child == 0) {
                ::_exit(run_worker(worker));
            }
            children_.push_back(child);
        }
    }
    fleet(const fleet&) = delete;
    fleet& operator=(const fleet&) = delete;
    ~fleet() {
        for (const pid_t child : children_) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
        ::munmap(shared_, sizeof(progress));
    }

    [[nodiscard]] const fleet_plan& plan() const noexcept { return plan_; }
    [[nodiscard]] int begun(int worker) const { return shared_->begun.at(static_cast<std::size_t>(worker)); }
    [[nodiscard]] int done(int worker) const { return shared_->done.at(static_cast<std::size_t>(worker)); }

    /// Ends a worker as a crash would.
    void kill_worker(int worker) {
        const pid_t child = children_.at(static_cast<std::size_t>(worker));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        children_.erase(children_.begin() + worker);
    }
    /// Waits for all; returns whether each wrote all its steps.
    [[nodiscard]] bool join() {
        bool good = true;
        for (const pid_t child : children_) {
            int status = 0;
            good = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && good;
        }
        children_.clear();
        return good;
    }

private:
    [[nodiscard]] int run_worker(int worker) noexcept {
        try {
            const auto place = static_cast<std::size_t>(worker);
            smdebug::local_storage store{plan_.path};
            run_builder build{store};
            std::mt19937 random{plan_.seed * 100 + static_cast<unsigned>(worker)};
            const auto pause = [&] {
                // Each worker has its own pace.
                const int longest = 1 + plan_.slowest_us / (1 + worker);
                std::this_thread::sleep_for(
                    std::chrono::microseconds{static_cast<int>(random() % 1000) * longest / 1000});
            };
            for (int i = 0; i < plan_.steps; ++i) {
                pause();
                shared_->begun[place] = i + 1;
                if (plan_.writes_in_place) {
                    write_in_place(store, planned_step(plan_, worker, i), pause);
                } else {
                    build.step(planned_step(plan_, worker, i));
                }
                shared_->done[place] = i + 1;
            }
            if (plan_.marks_end) {
                mark_end_if_last(build);
            }
            return 0;
        } catch (...) {
            return 1;
        }
    }

    template <class Pause>
    void write_in_place(smdebug::local_storage& store, const written_step& step, Pause& pause) const {
        const event_bytes events = encode_events(step);
        const std::string event_file = smdebug::detail::locations::event_key(step.step, step.worker);
        store.write(event_file, events.bytes);
        const std::string text = index_text(step, events.places, event_file);
        const std::string key = smdebug::detail::locations::index_key(step.step, step.worker);
        store.write(key + ".tmp", {});  // makes the folder
        std::ofstream out{plan_.path + "/" + key, std::ios::binary};
        out << std::string_view{text}.substr(0, text.size() / 2) << std::flush;
        pause();
        out << std::string_view{text}.substr(text.size() / 2) << std::flush;
    }

    // The last worker writes the mark, as in the Python package.
    void mark_end_if_last(run_builder<smdebug::local_storage>& build) {
        for (int other = 0; other < plan_.workers; ++other) {
            if (shared_->done[static_cast<std::size_t>(other)] < plan_.steps) {
                return;
            }
        }
        build.end();
    }

    fleet_plan plan_;
    progress* shared_ = nullptr;
    std::vector<pid_t> children_;
};

}  // namespace smdebug_test
