// Trainings that are killed (kill -9) at random moments: what is there is whole, and can be gone on with.
#include "hook_processes/training.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <csignal>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

constexpr step_number step_count = 12;
constexpr std::size_t pool_bytes = std::size_t{1} << 20U;  // some of the steps, not all of them

// What a step's values take, at least, in the pool.
constexpr std::size_t planned_bytes() {
    std::size_t elements = 0;
    for (const planned_tensor& tensor : planned_tensors) {
        elements += tensor.count;
    }
    return elements * sizeof(float);
}
static_assert(pool_bytes / planned_bytes() + 1 < step_count);

enum class phase : int { starting, opening, saving, ending, closing, closed };
constexpr std::array phase_names{"starting", "opening", "saving", "ending a step", "closing", "closed"};

// How far a training has come.
struct progress {
    std::atomic<phase> at{phase::starting};
    std::atomic<int> begun{0};  // steps
    std::atomic<int> done{0};   // steps for which end_step() has returned

    void reset() {
        at = phase::starting;
        begun = 0;
        done = 0;
    }
};
using shared_progress = shared_object<progress>;

struct life_plan {
    hook_options options = {};
    int writer = 0;         // whose values the steps have
    step_number first = 0;  // where it must begin
};

// A training from its first line to its last one; what the child does.
int live(const life_plan& plan, const shared_progress& seen) {
    seen->at = phase::opening;
    hook training{plan.options};
    if (training.step() != plan.first) {
        return 3;
    }
    std::vector<float> memory;
    while (training.step() < step_count) {
        seen->at = phase::saving;
        ++seen->begun;
        save_planned(training, plan.writer, memory);
        seen->at = phase::ending;
        training.end_step();
        ++seen->done;
    }
    seen->at = phase::closing;
    training.close();
    seen->at = phase::closed;
    return 0;
}

steady::time_point wait_for_its_start(const shared_progress& seen) {
    while (seen->at == phase::starting) {
    }
    return steady::now();
}

// Lets it live for so long, then kills it.  Returns whether it was alive then; it has ended well if not.
bool kill_after(steady::duration time, const life_plan& plan, const shared_progress& seen) {
    seen->reset();
    child_process training{[&] { return live(plan, seen); }};
    const auto end = wait_for_its_start(seen) + time;
    if (time > 300us) {
        std::this_thread::sleep_until(end - 200us);
    }
    while (steady::now() < end) {
    }
    ::kill(training.id(), SIGKILL);
    const int status = training.wait();
    CHECK((status == 0 || status == -SIGKILL));
    return status == -SIGKILL;
}

// The duration of a training that is not killed: the shortest of several, as the machine may be busy.
steady::duration time_of_a_life(bool behind, const shared_progress& seen) {
    auto shortest = steady::duration::max();
    for (int i = 0; i < 5; ++i) {
        const temporary_folder folder;
        life_plan plan{.options = saves_every_step(folder.path()), .writer = 1};
        plan.options.background.pool_bytes = behind ? pool_bytes : 0;
        seen->reset();
        child_process training{[&] { return live(plan, seen); }};
        const auto begin = wait_for_its_start(seen);
        CHECK(training.wait() == 0);
        shortest = std::min(shortest, steady::now() - begin);
    }
    return shortest;
}

// A run that is killed again and again, and what must be in it.
class run_history {
public:
    run_history(const std::string& folder, bool behind) : folder_(folder), behind_(behind) {}

    // How the next writer begins: after the last step, or, like a training that resumes from a checkpoint, at an
    // existing step.
    [[nodiscard]] life_plan next(std::optional<step_number> init_step) {
        life_plan plan{.options = saves_every_step(folder_), .writer = ++writers_};
        plan.options.background.pool_bytes = behind_ ? pool_bytes : 0;
        if (writers_ > 1) {
            plan.options.existing = existing_run::resume;
            plan.options.init_step = init_step;
        }
        plan.first = init_step.value_or(steps());
        return plan;
    }

    [[nodiscard]] step_number steps() const { return static_cast<step_number>(owners_.size()); }
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    // Looks at the folder after somebody's life.
    void check(const life_plan& plan, const files_found& files, const shared_progress& seen, bool was_killed) {
        const std::vector<int> before = owners_;
        owners_.clear();
        ended_ = files.has_ended;
        CHECK((!ended_ || seen->at >= phase::closing));
        CHECK((was_killed || ended_));
        if (!files.indexes.empty()) {
            const local_trial run{folder_};
            for (const step_number step : files.indexes) {
                CAPTURE(step);
                // No gaps; no index without its events; all of it is one writer's.
                REQUIRE(step == steps());
                REQUIRE(files.events.contains(step));
                const std::optional<int> writer = writer_of(run, step, "worker_0");
                REQUIRE(writer);
                owners_.push_back(*writer);
                CHECK(run.mode(step) == planned_mode(step));
            }
            CHECK(static_cast<step_number>(run.steps().size()) == steps());
            CHECK(run.loaded_all_steps() == ended_);
        }
        // What was there before it began is there, and is what it was.
        const auto kept = static_cast<std::size_t>(std::min(plan.first, static_cast<step_number>(before.size())));
        REQUIRE(owners_.size() >= kept);
        CHECK(std::equal(owners_.begin(), owners_.begin() + static_cast<std::ptrdiff_t>(kept), before.begin()));
        // From there on all steps are new; or, if the writer had not got that far, all are old, and the last ones
        // removed.
        const std::size_t written = owners_.size() - kept;
        const std::vector<int> behind_it{owners_.begin() + static_cast<std::ptrdiff_t>(kept), owners_.end()};
        const bool is_new = std::ranges::all_of(behind_it, [&](int owner) { return owner == plan.writer; });
        if (!is_new) {
            CHECK(seen->at.load() <= phase::opening);
            REQUIRE(owners_.size() <= before.size());
            CHECK(std::equal(owners_.begin(), owners_.end(), before.begin()));
            return;
        }
        const auto begun = static_cast<std::size_t>(seen->begun.load());
        const auto done = static_cast<std::size_t>(seen->done.load());
        CHECK(written <= begun);
        if (!behind_ || seen->at == phase::closed) {
            CHECK(written >= done);  // at most the step in progress is lost
        } else {
            // And what waited in the pool, whose size bounds it.
            CHECK(written + pool_bytes / planned_bytes() + 1 >= done);
            written_behind_ += was_killed && seen->at < phase::closing ? static_cast<int>(written) : 0;
        }
        lost_in_progress_ += static_cast<int>(begun - std::min(begun, written));
    }

    // A restarted training may refuse to write, or continue.
    void end_it() {
        if (ended_) {
            hook_options options = saves_every_step(folder_);
            CHECK_THROWS_AS(hook{options}, run_exists);
            options.existing = existing_run::resume;
            CHECK_THROWS_AS(hook{options}, run_exists);
            CHECK(steps() == step_count);
            return;
        }
        if (steps() > 0) {
            CHECK_THROWS_AS(hook{saves_every_step(folder_)}, run_exists);
        }
        life_plan plan = next({});
        std::vector<int> expected = owners_;
        expected.resize(step_count, plan.writer);
        {
            hook training{plan.options};
            CHECK(training.step() == plan.first);
            const files_found files = look_at_files(folder_);
            CHECK(files.half_events == 0);
            CHECK(files.half_indexes == 0);
            CHECK(files.events == files.indexes);
            std::vector<float> memory;
            while (training.step() < step_count) {
                save_planned(training, plan.writer, memory);
                training.end_step();
            }
            training.close();
            CHECK(training.counters().lost_steps == 0);
            CHECK(training.counters().steps == static_cast<std::uint64_t>(step_count - plan.first));
        }
        const local_trial run{folder_};
        CHECK(run.loaded_all_steps());
        REQUIRE(run.steps().size() == step_count);
        for (step_number step = 0; step < step_count; ++step) {
            CHECK(writer_of(run, step, "worker_0") == expected[static_cast<std::size_t>(step)]);
            // Steps of the modes continue their count.
            CHECK(run.mode_step(step) == (planned_mode(step) == mode::eval ? step / 4 : step - (step + 1) / 4));
        }
        const files_found files = look_at_files(folder_);
        CHECK(files.half_events + files.half_indexes == 0);
        CHECK_FALSE(local_storage{folder_}.claimed("claim.smd"));
    }

    [[nodiscard]] int lost_in_progress() const noexcept { return lost_in_progress_; }
    /// Steps that a background had written before its training closed or died.
    [[nodiscard]] int written_behind() const noexcept { return written_behind_; }

private:
    std::string folder_;
    bool behind_;
    int writers_ = 0;
    std::vector<int> owners_;  // the writer of each existing step
    bool ended_ = false;
    int lost_in_progress_ = 0;
    int written_behind_ = 0;
};

}  // namespace

TEST_CASE("kill -9: whenever it comes, the run opens, its steps are whole, and a restarted hook goes on behind them") {
    constexpr int wanted = sanitized ? 40 : 300;
    constexpr int kills_a_run = 3;
    const auto begin = steady::now();
    const shared_progress seen;
    std::mt19937 random{20240229};
    std::array<int, phase_names.size()> landed{};
    std::array<steady::duration, 2> windows{};
    int kills = 0;
    int survived = 0;
    int lost = 0;
    int written_behind = 0;
    int half_events = 0;
    int half_indexes = 0;
    int half_others = 0;
    int events_alone = 0;
    int checkpoints = 0;
    for (int run = 0; kills < wanted; ++run) {
        REQUIRE(survived < wanted);
        CAPTURE(run);
        const bool behind = run % 2 == 1;
        CAPTURE(behind);
        // Measured anew now and then: the machine may have become slower.
        if (run % 20 < 2) {
            windows.at(behind ? 1 : 0) = time_of_a_life(behind, seen);
        }
        const auto window = windows.at(behind ? 1 : 0);
        const temporary_folder folder;
        run_history history{folder.path(), behind};
        for (int life = 0; life < kills_a_run && !history.ended(); ++life) {
            CAPTURE(life);
            std::optional<step_number> checkpoint;
            if (history.steps() > 1 && random() % 3 == 0) {
                checkpoint = 1 + static_cast<step_number>(random() % static_cast<unsigned>(history.steps() - 1));
                ++checkpoints;
            }
            const life_plan plan = history.next(checkpoint);
            // A life that resumes has less to do.
            const auto whole = window * (step_count - plan.first + 4) / (step_count + 4);
            const auto time = whole * static_cast<int>(random() % 1050) / 1000;
            const bool killed = kill_after(time, plan, seen);
            (killed ? kills : survived) += 1;
            const files_found files = look_at_files(folder.path());
            if (killed) {
                ++landed.at(static_cast<std::size_t>(seen->at.load()));
                half_events += files.half_events > 0 ? 1 : 0;
                half_indexes += files.half_indexes > 0 ? 1 : 0;
                half_others += files.half_others > 0 ? 1 : 0;
                events_alone += files.events.size() > files.indexes.size() ? 1 : 0;
            }
            history.check(plan, files, seen, killed);
        }
        history.end_it();
        lost += history.lost_in_progress();
        written_behind += history.written_behind();
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - begin);
    std::string phases;
    for (std::size_t i = 0; i < landed.size(); ++i) {
        phases += (i == 0 ? "" : ", ") + std::string{phase_names.at(i)} + " " + std::to_string(landed.at(i));
    }
    MESSAGE(kills, " kills and ", survived, " that came too late in ", took.count(), " ms; landed while ", phases,
            "; left half an event file ", half_events, ", half an index file ", half_indexes, ", half of another ",
            half_others, ", events without their index ", events_alone, "; ", lost, " steps begun and not there; ",
            written_behind, " written behind a training that had not closed; ", checkpoints,
            " restarts from a checkpoint");
    if (!sanitized) {  // else there are too few
        CHECK(landed.at(static_cast<std::size_t>(phase::saving)) > 0);
        CHECK(landed.at(static_cast<std::size_t>(phase::ending)) > 0);
        CHECK(half_events > 0);
        CHECK(events_alone > 0);
        CHECK(checkpoints > 0);
    }
    CHECK(written_behind > 0);
}
