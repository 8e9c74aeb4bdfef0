// Jobs of several workers, each a process with a hook: which workers may write, and when the job has ended.
#include "hook/object_store.hpp"
#include "hook_processes/training.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/earlier_run.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <csignal>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_workers = 4;

// The progress of each worker, and which ones may close.
struct job_state_shared {
    std::array<std::atomic<int>, most_workers> begun{};     // hooks that have been made
    std::array<std::atomic<int>, most_workers> trained{};   // all steps have been ended
    std::array<std::atomic<int>, most_workers> finished{};  // close() has returned
    std::array<std::atomic<bool>, most_workers> may_close{};
};
using shared_job = shared_object<job_state_shared>;

std::string name_of_worker(std::size_t worker) { return "worker_" + std::to_string(worker); }

struct job_plan {
    std::size_t workers = 1;
    step_number steps = 10;
    bool behind = false;
    unsigned seed = 1;
    bool in_turns = false;   // workers close when allowed
    bool together = false;   // and all at the same moment
    bool no_claims = false;  // the folder can do as little as S3
};

hook_options options_of(const std::string& folder, const job_plan& plan, std::size_t worker) {
    hook_options options = saves_every_step(folder);
    options.include_workers = include_workers::all;
    options.num_workers = static_cast<std::int64_t>(plan.workers);
    options.worker = name_of_worker(worker);
    options.background.pool_bytes = plan.behind ? 2U << 20U : 0;
    return options;
}

// Of either kind: the object is never moved.
hook hook_for(const std::string& folder, const job_plan& plan, const hook_options& options) {
    return plan.no_claims ? hook{like_s3(local_storage{folder}), options} : hook{options};
}

template <class Condition>
bool wait_until(Condition&& condition) {
    const auto end = std::chrono::steady_clock::now() + 50s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(100us);
    }
    return true;
}

int work(const std::string& folder, const job_plan& plan, std::size_t worker, const shared_job& job) {
    std::mt19937 random{plan.seed * 31 + static_cast<unsigned>(worker)};
    const auto pause = [&] {
        // Each worker has a pace of its own.
        std::this_thread::sleep_for(std::chrono::microseconds{random() % (400 * (worker + 1))});
    };
    pause();
    hook training = hook_for(folder, plan, options_of(folder, plan, worker));
    job->begun[worker] = 1;
    std::vector<float> memory;
    for (step_number step = 0; step < plan.steps; ++step) {
        save_planned(training, static_cast<int>(worker), memory);
        training.end_step();
        pause();
    }
    training.flush();
    job->trained[worker] = 1;
    while (plan.together && !job->may_close[0]) {
    }
    if (plan.in_turns && !wait_until([&] { return job->may_close[worker].load(); })) {
        return 4;
    }
    training.close();
    job->finished[worker] = 1;
    return 0;
}

class fleet_of_hooks {
public:
    fleet_of_hooks(const std::string& folder, const job_plan& plan) : plan_(plan) {
        for (std::size_t worker = 0; worker < plan.workers; ++worker) {
            children_.push_back(
                std::make_unique<child_process>([&, worker] { return work(folder, plan, worker, job_); }));
        }
    }

    [[nodiscard]] const shared_job& job() const noexcept { return job_; }
    void kill(std::size_t worker) { children_[worker]->kill(); }
    [[nodiscard]] bool join(std::size_t worker) { return children_[worker]->wait() == 0; }
    [[nodiscard]] bool all_trained() const {
        return std::all_of(job_->trained.begin(), job_->trained.begin() + static_cast<std::ptrdiff_t>(plan_.workers),
                           [](const std::atomic<int>& one) { return one == 1; });
    }

private:
    job_plan plan_;
    shared_job job_;
    std::vector<std::unique_ptr<child_process>> children_;
};

bool has_ended(const std::string& folder) {
    return local_storage{folder}.size(smdebug::detail::locations::end_of_job).has_value();
}

// All steps of all workers are there, each what that worker must have written.
void check_whole(const std::string& folder, const job_plan& plan, std::vector<std::size_t> workers = {}) {
    for (std::size_t worker = 0; workers.empty() && worker < plan.workers; ++worker) {
        workers.push_back(worker);
    }
    const local_trial run{folder};
    CHECK(run.num_workers() == plan.workers);
    CHECK(run.loaded_all_steps());
    REQUIRE(static_cast<step_number>(run.steps().size()) == plan.steps);
    for (const step_number step : run.steps()) {
        CAPTURE(step);
        for (const std::size_t worker : workers) {
            CHECK(writer_of(run, step, name_of_worker(worker)) == static_cast<int>(worker));
        }
    }
    for (const std::string& key : local_storage{folder}.list("", "")) {
        CAPTURE(key);
        CHECK(key.find(".tmp.") == std::string::npos);
        CHECK(key.find("claim") == std::string::npos);
    }
}

// Follows a run while it grows, until it has ended, and looks whether it was allowed to end.
void follow(const std::string& folder, const fleet_of_hooks& fleet, const job_plan& plan) {
    const local_trial run{folder, {.open_timeout = 50s}};
    std::size_t seen = 0;
    CHECK(wait_until([&] {
        const bool was_trained = fleet.all_trained();
        run.refresh();
        const std::size_t steps = run.steps().size();
        CHECK(steps >= seen);
        seen = steps;
        const bool ended = run.loaded_all_steps();
        // Whoever sees the end sees it after everybody has written everything.
        CHECK((!ended || fleet.all_trained()));
        CHECK((!ended || static_cast<step_number>(steps) == plan.steps));
        CHECK((!has_ended(folder) || fleet.all_trained()));
        static_cast<void>(was_trained);
        return ended;
    }));
}

}  // namespace

TEST_CASE("workers: the end is marked when the last one has closed, in whatever order they close") {
    const int rounds = sanitized ? 3 : 9;
    std::mt19937 random{7};
    for (int round = 0; round < rounds; ++round) {
        for (const std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
            const job_plan plan{.workers = workers,
                                .behind = (round + static_cast<int>(workers / 2)) % 2 == 1,
                                .seed = static_cast<unsigned>(round),
                                .in_turns = true,
                                .no_claims = round % 3 == 2};
            CAPTURE(round);
            CAPTURE(workers);
            const temporary_folder folder;
            fleet_of_hooks fleet{folder.path(), plan};
            std::vector<std::size_t> order;
            for (std::size_t worker = 0; worker < workers; ++worker) {
                order.push_back(worker);
            }
            std::shuffle(order.begin(), order.end(), random);
            CHECK(wait_until([&] { return fleet.all_trained(); }));
            for (const std::size_t worker : order) {
                CHECK_FALSE(has_ended(folder.path()));
                fleet.job()->may_close[worker] = true;
                CHECK(fleet.join(worker));
                CHECK(fleet.job()->finished[worker] == 1);
                CHECK(has_ended(folder.path()) == (worker == order.back()));
            }
            check_whole(folder.path(), plan);
        }
    }
}

TEST_CASE("workers: a reader never sees a run ended while a worker has steps to write") {
    const int rounds = sanitized ? 4 : 16;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const job_plan plan{.workers = round % 3 == 0 ? 4U : 2U,
                            .steps = 15,
                            .behind = round % 2 == 1,
                            .seed = static_cast<unsigned>(100 + round),
                            .no_claims = round % 4 >= 2};
        const temporary_folder folder;
        fleet_of_hooks fleet{folder.path(), plan};
        follow(folder.path(), fleet, plan);
        for (std::size_t worker = 0; worker < plan.workers; ++worker) {
            CHECK(fleet.join(worker));
        }
        // However close together they closed.
        check_whole(folder.path(), plan);
    }
}

TEST_CASE("workers: closing at the same moment never leaves the end unmarked") {
    const int rounds = sanitized ? 30 : 250;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const job_plan plan{.workers = 2,
                            .steps = 1,
                            .seed = static_cast<unsigned>(round),
                            .together = true,
                            .no_claims = round % 2 == 1};
        const temporary_folder folder;
        fleet_of_hooks fleet{folder.path(), plan};
        REQUIRE(wait_until([&] { return fleet.all_trained(); }));
        CHECK_FALSE(has_ended(folder.path()));
        fleet.job()->may_close[0] = true;
        CHECK(fleet.join(0));
        CHECK(fleet.join(1));
        CHECK(has_ended(folder.path()));
    }
}

TEST_CASE("workers: one that is killed is not waited for, and the others mark the end") {
    for (const bool behind : {false, true}) {
        CAPTURE(behind);
        const job_plan plan{.workers = 4, .steps = 8, .behind = behind, .in_turns = true};
        const temporary_folder folder;
        fleet_of_hooks fleet{folder.path(), plan};
        // It has written steps; those that never began are waited for.
        CHECK(wait_until([&] { return fleet.all_trained(); }));
        fleet.kill(1);
        for (const std::size_t worker : {2U, 0U, 3U}) {
            CHECK_FALSE(has_ended(folder.path()));
            fleet.job()->may_close[worker] = true;
            CHECK(fleet.join(worker));
        }
        CHECK(has_ended(folder.path()));
        // Its claim lies there, and holds nothing.
        const local_storage store{folder.path()};
        CHECK(store.size(claim_key("worker_1", 4)));
        CHECK_FALSE(store.claimed(claim_key("worker_1", 4)));
        const local_trial run{folder.path()};
        CHECK(run.loaded_all_steps());
        CHECK(run.steps().size() == 8);
        for (const step_number step : run.steps()) {
            CHECK(writer_of(run, step, "worker_1") == 1);
            CHECK(writer_of(run, step, "worker_2") == 2);
        }
    }
}

TEST_CASE(
    "workers: without claims, one that is killed keeps the end from being marked until it has been started again") {
    for (const bool behind : {false, true}) {
        CAPTURE(behind);
        const job_plan plan{.workers = 3, .steps = 6, .behind = behind, .in_turns = true, .no_claims = true};
        const temporary_folder folder;
        const local_storage store{folder.path()};
        fleet_of_hooks fleet{folder.path(), plan};
        CHECK(wait_until([&] { return fleet.all_trained(); }));
        CHECK(store.list("claim", "").size() == 3);
        fleet.kill(1);
        for (const std::size_t worker : {2U, 0U}) {
            fleet.job()->may_close[worker] = true;
            CHECK(fleet.join(worker));
            CHECK_FALSE(has_ended(folder.path()));
        }
        CHECK(store.list("claim", "") == std::vector<std::string>{claim_key("worker_1", 3)});
        {
            const local_trial run{folder.path()};
            CHECK_FALSE(run.loaded_all_steps());
            CHECK(run.steps().size() == 6);
        }
        hook_options options = options_of(folder.path(), plan, 1);
        options.existing = existing_run::resume;
        options.init_step = 4;
        hook again = hook_for(folder.path(), plan, options);
        std::vector<float> memory;
        for (int step = 4; step < 6; ++step) {
            save_planned(again, 1, memory);
            again.end_step();
        }
        CHECK_FALSE(has_ended(folder.path()));
        again.close();
        CHECK(has_ended(folder.path()));
        check_whole(folder.path(), plan);
    }
}

TEST_CASE("workers: while one has not begun, the others do not mark the end") {
    for (const bool no_claims : {false, true}) {
        const temporary_folder folder;
        const job_plan plan{.workers = 3, .no_claims = no_claims};
        for (const std::size_t worker : {0U, 2U}) {
            hook training = hook_for(folder.path(), plan, options_of(folder.path(), plan, worker));
            training.save_scalar("x", 1);
            training.close();
            CHECK_FALSE(has_ended(folder.path()));
        }
        hook training = hook_for(folder.path(), plan, options_of(folder.path(), plan, 1));
        CHECK_FALSE(has_ended(folder.path()));
        training.close();  // without a step
        CHECK(has_ended(folder.path()));
        CHECK(local_trial{folder.path()}.num_workers() == 3);
    }
}

TEST_CASE("workers: two processes with one name: the second is refused while the first lives, and goes on behind it") {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
        for (const bool behind : {false, true}) {
            CAPTURE(workers);
            CAPTURE(behind);
            const temporary_folder folder;
            const job_plan plan{.workers = workers, .steps = 3, .behind = behind, .in_turns = true};
            hook_options options = options_of(folder.path(), plan, 0);
            const shared_job job;
            child_process first{[&] { return work(folder.path(), plan, 0, job); }};
            REQUIRE(wait_until([&] { return job->trained[0] == 1; }));
            options.init_step = 3;  // of several, each would go on at another one
            for (const auto existing : {existing_run::refuse, existing_run::resume}) {
                options.existing = existing;
                const std::string files = std::to_string(local_storage{folder.path()}.list("", "").size());
                try {
                    const hook second{options};
                    CHECK_MESSAGE(false, "two writers with one name");
                } catch (const unavailable& thrown) {
                    if (thrown.code() != error_code::in_use) {
                        throw;
                    }
                    const std::string says = thrown.what();
                    CHECK(says.find("process " + std::to_string(first.id())) != std::string::npos);
                    CHECK(says.find(claim_key("worker_0", static_cast<std::int64_t>(workers))) != std::string::npos);
                }
                CHECK(std::to_string(local_storage{folder.path()}.list("", "").size()) == files);
            }
            // And so is a process.
            CHECK(status_of_child([&] {
                      try {
                          const hook second{options};
                          return 1;
                      } catch (const unavailable& caught) {
                          if (caught.code() != error_code::in_use) {
                              throw;
                          }
                          return 0;
                      }
                  }) == 0);
            if (workers == 2) {  // the other name is free
                hook other{options_of(folder.path(), plan, 1)};
                other.save_scalar("x", 1);
            }
            CHECK_FALSE(has_ended(folder.path()));
            first.kill();
            options.existing = existing_run::refuse;
            CHECK_THROWS_AS(hook{options}, run_exists);
            options.existing = existing_run::resume;
            options.init_step = options.num_workers > 1 ? std::optional<step_number>{3} : std::nullopt;
            hook second{options};
            CHECK(second.step() == 3);
            std::vector<float> memory;
            save_planned(second, 0, memory);
            second.end_step();
            second.close();
            CHECK(has_ended(folder.path()));
            const local_trial run{folder.path()};
            CHECK(run.steps({.show_incomplete_steps = true}) == std::vector<step_number>{0, 1, 2, 3});
            for (step_number step = 0; step < 4; ++step) {
                CHECK(writer_of(run, step, "worker_0") == 0);
            }
        }
    }
}

TEST_CASE("workers: the Python package's empty claim.smd keeps the only writer out, and stays") {
    const temporary_folder folder;
    folder.write("claim.smd", "");
    for (const auto existing : {existing_run::refuse, existing_run::resume}) {
        hook_options options = saves_every_step(folder.path());
        options.existing = existing;
        CHECK(thrown_code([&] { static_cast<void>(hook{options}); }) == error_code::in_use);
    }
    CHECK(local_storage{folder.path()}.list("", "") == std::vector<std::string>{"claim.smd"});
    CHECK(file_content(folder.path() + "/claim.smd").empty());
    folder.remove("claim.smd");
    hook{saves_every_step(folder.path())}.close();
}

TEST_CASE("workers: where one is to write, the first one does, alone, and ends the job") {
    const temporary_folder folder;
    const job_plan plan{.workers = 3};
    const shared_job job;
    std::vector<std::unique_ptr<child_process>> children;
    for (std::size_t worker = 0; worker < 3; ++worker) {
        children.push_back(std::make_unique<child_process>([&, worker] {
            hook_options options = options_of(folder.path(), plan, worker);
            options.include_workers = include_workers::one;
            hook training{options};
            std::vector<float> memory;
            for (int step = 0; step < 4; ++step) {
                if (training.should_save("loss") != (worker == 0)) {
                    return 1;
                }
                save_planned(training, static_cast<int>(worker), memory);
                training.save_scalar("x", step);
                training.end_step();
            }
            if (worker != 0) {
                training.close();
                return training.counters().steps == 0 && training.counters().tensors == 0 ? 0 : 2;
            }
            job->trained[0] = 1;
            if (!wait_until([&] { return job->may_close[0].load(); })) {
                return 3;
            }
            training.close();
            return training.counters().steps == 4 ? 0 : 4;
        }));
    }
    CHECK(children[1]->wait() == 0);
    CHECK(children[2]->wait() == 0);
    CHECK(wait_until([&] { return job->trained[0] == 1; }));
    CHECK_FALSE(has_ended(folder.path()));
    CHECK(local_storage{folder.path()}.claimed("claim.smd"));
    job->may_close[0] = true;
    CHECK(children[0]->wait() == 0);
    CHECK(has_ended(folder.path()));
    for (const std::string& key : local_storage{folder.path()}.list("", "")) {
        CHECK((key == smdebug::detail::locations::end_of_job || key.find("worker_0") != std::string::npos));
    }
    const local_trial run{folder.path()};
    CHECK(run.num_workers() == 1);
    CHECK(run.workers() == std::vector<std::string>{"worker_0"});
    CHECK(run.steps().size() == 4);
    const std::string file =
        file_content(folder.path() + "/" + smdebug::detail::locations::collections_key("worker_0"));
    CHECK(file.find(R"("num_workers": 1)") != std::string::npos);
}
