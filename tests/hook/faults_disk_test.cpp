// Disks that are full, and folders that are removed or taken.
#include <smdebug/hook/hook.hpp>

#include "hook/faults_fixture.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::faults;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST_CASE("faults: a disk that is full costs the steps that do not fit, and no others") {
    for (const writing how : {writing::at_once, writing::behind}) {
        for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
            const temporary_folder folder;
            const int status = status_of_child([&] {
                limit_file_size(600'000);
                hook_options options = writes(saves_all(), how);
                options.out_dir = folder.path();
                options.on_failure = policy;
                int told = 0;
                options.on_drop = [&](const std::string& what) {
                    told += what.find("disk is full") != std::string::npos ? 1 : 0;
                };
                hook training{options};
                int thrown = 0;
                const auto attempt = [&](auto&& call) {
                    try {
                        call();
                    } catch (const unavailable& failed) {
                        thrown += std::string{failed.what()}.find("disk is full") != std::string::npos ? 1 : 0;
                    }
                };
                for (step_number step = 0; step < 6; ++step) {  // steps 1, 3, 5 are too large
                    for (int i = 0; i < 3; ++i) {
                        const std::vector<float> values(step % 2 == 0 ? 20'000 : 70'000, static_cast<float>(step));
                        attempt([&] { training.save_tensor("w" + std::to_string(i), values); });
                    }
                    attempt([&] { training.end_step(); });
                    attempt([&] { training.flush(); });
                }
                attempt([&] { training.close(); });
                const bool counted = training.counters().lost_steps == 3;
                const int expected = 3;
                return (policy == failure_policy::raise ? thrown == expected && told == 0
                                                        : thrown == 0 && told == expected) &&
                               counted
                           ? 0
                           : 10 * thrown + told;
            });
            CHECK(status == 0);
            const local_trial run{folder.path()};
            CHECK(run.steps() == std::vector<step_number>{0, 2, 4});
            CHECK(run.loaded_all_steps());
            for (const step_number step : run.steps()) {
                for (const std::string& name : run.tensor_names()) {
                    const auto value = run.tensor(name).value(step);
                    CHECK(value.size() == 20'000);
                    CHECK(std::ranges::all_of(value.elements<float>(),
                                              [&](float each) { return each == static_cast<float>(step); }));
                }
            }
            for (const std::string& key : local_storage{folder.path()}.list("", "")) {
                CHECK(key.find(".tmp") == std::string::npos);
            }
        }
    }
}

TEST_CASE("faults: removing a run's folder while training is reported, and loses its steps and the current one") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        const temporary_folder folder;
        const std::string path = folder.path() + "/run";
        hook_options options = writes(saves_all(), how);
        options.out_dir = path;
        hook training{options};
        tally seen;
        const auto save = [&](step_number step) {
            seen.attempt([&] { training.save_tensor("w", std::vector<float>(400'000, static_cast<float>(step))); });
            seen.attempt([&] { training.save_tensor("b", std::vector<float>(5, static_cast<float>(step))); });
        };
        for (step_number step = 0; step < 6; ++step) {
            if (step == 2) {  // between two steps
                training.flush();
                fs::remove_all(path);
            }
            save(step);
            CHECK(training.step_is_lost() == (step == 2));
            CHECK(fs::exists(path) == (step != 2));  // was not created again
            if (step == 4) {                         // in the middle of one
                while (how == writing::behind && !fs::exists(path + "/events/000000000004")) {
                    std::this_thread::sleep_for(1ms);
                }
                fs::remove_all(path);
            }
            seen.attempt([&] { training.end_step(); });
            seen.attempt([&] { training.flush(); });
        }
        CHECK(seen.thrown == 2);
        CHECK(seen.last.find("removed meanwhile") != std::string::npos);
        CHECK(training.counters().lost_steps == 2);
        CHECK(local_storage{path}.claimed("claim.smd"));  // as ever
        training.close();
        const local_trial run{path};
        CHECK(run.steps() == std::vector<step_number>{5});
        CHECK(run.tensor("w").value<float>(5)(399'999) == 5);
        CHECK(run.loaded_all_steps());
    }
}

TEST_CASE("faults: a run's folder that is removed before the hook closes is not made again to mark its end") {
    for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
        const temporary_folder folder;
        const std::string path = folder.path() + "/run";
        hook_options options = saves_all();
        options.out_dir = path;
        options.on_failure = policy;
        hook training{options};
        training.save_scalar("x", 1);
        training.end_step();
        fs::remove_all(path);
        if (policy == failure_policy::raise) {
            CHECK_THROWS_AS(training.close(), unavailable);
        } else {
            CHECK_NOTHROW(training.close());
            CHECK(training.counters().last_loss.find("removed meanwhile") != std::string::npos);
        }
        CHECK_FALSE(fs::exists(path));
    }
}

TEST_CASE(
    "faults: a run's folder that another run has taken is left to that one, and a claim that is gone is taken again") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run";
    hook_options options = saves_all();
    options.out_dir = path;
    hook training{options};
    const auto step = [&] {
        training.save_scalar("x", 1);
        training.end_step();
    };
    step();
    fs::remove(path + "/claim.smd");  // by hand: the steps are there
    CHECK_THROWS_AS(step(), unavailable);
    step();
    CHECK(local_storage{path}.claimed("claim.smd"));
    fs::rename(path, folder.path() + "/moved");
    {
        hook other{options};
        other.save_scalar("y", 1);
        other.end_step();
        CHECK_THROWS_AS(step(), unavailable);
        CHECK_THROWS_AS(step(), run_exists);
        other.close();
    }
    CHECK_THROWS_AS(step(), run_exists);
    CHECK_THROWS_AS(training.close(), unavailable);
    CHECK(training.counters().lost_steps == 4);
    CHECK(local_trial{path}.tensor_names() == std::vector<std::string>{"scalar/y"});
    CHECK(local_trial{folder.path() + "/moved"}.steps() == std::vector<step_number>{0, 2});
}
