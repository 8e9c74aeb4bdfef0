// Several processes write runs while several threads read them: every answer must be consistent with some prefix of the
// writes.
#include "live/writers.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

// Failures found by several threads.  doctest's macros are slow; a sentence is more informative.
class complaints {
public:
    void expect(bool good, const std::string& what) {
        if (!good) {
            const std::lock_guard lock{guard_};
            if (found_.size() < 5) {
                found_.push_back(what);
            }
        }
        ++checks_;
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& one : found_) {
            all += one + "\n";
        }
        return all;
    }
    [[nodiscard]] int checks() const { return checks_; }

private:
    std::mutex guard_;
    std::vector<std::string> found_;
    std::atomic<int> checks_{0};
};

struct bounds {
    std::vector<int> done;
    std::vector<int> begun;
};

template <class Of>
std::vector<int> counts(const fleet& writers, Of&& of) {
    std::vector<int> all;
    for (int worker = 0; worker < writers.plan().workers; ++worker) {
        all.push_back(of(worker));
    }
    return all;
}
std::vector<int> done_now(const fleet& writers) {
    return counts(writers, [&](int worker) { return writers.done(worker); });
}
std::vector<int> begun_now(const fleet& writers) {
    return counts(writers, [&](int worker) { return writers.begun(worker); });
}

// The number of steps of each worker in a catalog; -1 if they are not its first ones.
std::vector<int> prefixes_in(const catalog& from, const fleet_plan& plan) {
    std::vector<int> length(static_cast<std::size_t>(plan.workers), 0);
    for (const catalog::step_entry& held : from.steps) {
        for (const catalog::file& written : held.files()) {
            for (int worker = 0; worker < plan.workers; ++worker) {
                int& count = length[static_cast<std::size_t>(worker)];
                if (from.workers[written.worker] == worker_name(worker)) {
                    count = count >= 0 && written.step == count * plan.stride ? count + 1 : -1;
                }
            }
        }
    }
    return length;
}

std::string text_of(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers) {
        text += std::to_string(number) + " ";
    }
    return text;
}

// Checks everything in a snapshot against the progress of each worker, from which all of it follows.
void check_snapshot(const catalog& from, const fleet_plan& plan, complaints& wrong) {
    const std::vector<int> have = prefixes_in(from, plan);
    wrong.expect(*std::min_element(have.begin(), have.end()) >= 0, "a step without those before it: " + text_of(have));
    const int slowest = *std::min_element(have.begin(), have.end());
    const int fastest = *std::max_element(have.begin(), have.end());
    const step_number complete = (slowest - 1) * plan.stride;
    wrong.expect(from.last_complete_step ==
                     (from.loaded_all_steps ? (fastest - 1) * plan.stride : (slowest == 0 ? -1 : complete)),
                 "last complete step " + std::to_string(from.last_complete_step) + " with " + text_of(have));
    wrong.expect(from.steps_of(mode::global, true).size() == static_cast<std::size_t>(fastest), "all steps");
    wrong.expect(from.steps_of(mode::global, false).size() ==
                     static_cast<std::size_t>(from.loaded_all_steps ? fastest : slowest),
                 "complete steps");
    for (int place = 0; place < fastest + 2; ++place) {
        const step_state state = from.state_of(mode::global, place * plan.stride);
        const bool there = from.loaded_all_steps ? place < fastest : place < slowest;
        const step_state otherwise = from.loaded_all_steps ? step_state::unavailable : step_state::not_yet_available;
        wrong.expect(state == (there ? step_state::available : otherwise), "state of step " + std::to_string(place));
        if (place < slowest && plan.stride > 1) {  // a number between two existing steps will never exist
            const bool over = from.loaded_all_steps || place + 1 < slowest;
            wrong.expect(
                from.state_of(mode::global, place * plan.stride + 1) == (over ? step_state::unavailable : otherwise),
                "state between steps " + std::to_string(place));
        }
    }
    if (fastest > 0) {
        const auto weight = from.find_tensor("weight");
        wrong.expect(
            weight && from.tensor_steps(*weight, mode::global, true).size() == static_cast<std::size_t>(fastest),
            "steps of weight");
        const auto names = from.tensor_names_at(from.steps.back());
        wrong.expect(names.size() == ((fastest - 1) % 3 == 0 ? 2U : 1U), "tensors of the last step");
        wrong.expect(from.global_step(mode::train, 0) == 0, "first mode step");
    }
}

// A refresh sees everything written before it began, and nothing begun after it ended.
template <class Trial>
void check_refresh(const Trial& run, const fleet& writers, complaints& wrong) {
    const std::vector<int> least = done_now(writers);
    run.refresh();
    const auto from = catalog_of(run);
    const std::vector<int> most = begun_now(writers);
    const std::vector<int> have = prefixes_in(*from, writers.plan());
    for (std::size_t i = 0; i < have.size(); ++i) {
        wrong.expect(
            have[i] >= least[i] && have[i] <= most[i],
            "refresh has " + text_of(have) + "where " + text_of(least) + "were done and " + text_of(most) + "begun");
    }
    check_snapshot(*from, writers.plan(), wrong);
}

// Values match their worker and step, and everything listed can be read.
template <class Trial>
void check_values(const Trial& run, const fleet_plan& plan, unsigned round, complaints& wrong) {
    const auto steps = run.steps();
    wrong.expect(std::is_sorted(steps.begin(), steps.end()), "steps are sorted");
    if (steps.empty()) {
        return;
    }
    const step_number step = steps[round % steps.size()];
    const int worker = static_cast<int>(round) % plan.workers;
    const auto weight = run.tensor("weight");
    const auto value = weight.template find_value<float>(step, {.worker = worker_name(worker)});
    wrong.expect(
        value.has_value() && (*value)(0) == static_cast<float>(worker) && (*value)(1) == static_cast<float>(step),
        "value of weight at " + std::to_string(step));
    const bool has_loss = (step / plan.stride) % 3 == 0;
    const auto names = run.tensor_names({.step = step});
    wrong.expect(names.size() == (has_loss ? 2U : 1U), "tensors of step " + std::to_string(step));
    wrong.expect(run.workers(step).size() == static_cast<std::size_t>(plan.workers), "workers of a complete step");
    wrong.expect(run.has_passed_step(step) == step_state::available, "a listed step is available");
    wrong.expect(weight.steps().size() >= steps.size(), "what was listed stays");
    wrong.expect(run.tensor("loss").find_reduction(step, reduction::max).has_value() == has_loss, "loss, or none");
}

void watch_run(const fleet_plan& plan) {
    const temporary_folder folder;
    fleet_plan here = plan;
    here.path = folder.path();
    std::vector<std::string> workers;
    for (int worker = 0; worker < plan.workers; ++worker) {
        workers.push_back(worker_name(worker));
    }
    local_storage store{here.path};
    run_builder{store}.collections(workers);
    fleet writers{here};

    complaints wrong;
    std::vector<step_number> evaluated;
    const local_trial run{here.path, {.poll_interval = 20ms, .missing_event_file_retry_limit = 1000}};
    {
        std::vector<std::jthread> crew;
        for (int refresher = 0; refresher < 2; ++refresher) {
            crew.emplace_back([&] {
                while (!run.loaded_all_steps()) {
                    check_refresh(run, writers, wrong);
                    std::this_thread::sleep_for(1ms);
                }
            });
        }
        for (unsigned reader = 0; reader < 2; ++reader) {
            crew.emplace_back([&, reader] {
                for (unsigned round = reader; !run.loaded_all_steps(); round += 7) {
                    check_values(run, here, round, wrong);
                    check_snapshot(*catalog_of(run), here, wrong);
                }
            });
        }
        crew.emplace_back([&] {  // waits for each step in turn
            for (int place = 0; place < here.steps; ++place) {
                try {
                    run.wait_for_steps({place * here.stride}, {.timeout = 60s});
                } catch (const error& failed) {
                    wrong.expect(false, failed.what());
                    return;
                }
                const auto least = begun_now(writers);
                wrong.expect(*std::min_element(least.begin(), least.end()) > place, "a step before it was written");
            }
            try {
                run.wait_for_steps({here.steps * here.stride}, {.timeout = 60s});
                wrong.expect(false, "waiting beyond the end came back");
            } catch (const no_more_data&) {
            } catch (const error& failed) {
                wrong.expect(false, failed.what());
            }
        });
        crew.emplace_back([&] {  // a rule that follows
            const auto rule = [&](const auto& trial, step_number step) -> finding {
                evaluated.push_back(step);
                wrong.expect(trial.workers(step).size() == workers.size(), "a rule sees whole steps");
                return {.met = false};
            };
            const rule_outcome outcome = invoke_rule(rule, run, {.timeout = 60s});
            wrong.expect(outcome.end == invoke_end::end_of_run, "the rule ends when the job does");
        });
    }
    CHECK(writers.join());
    CHECK_MESSAGE(wrong.text().empty(), wrong.text());
    // The two followers check something at each step; on a busy machine the others look less often, but not never.
    CHECK(wrong.checks() > 5 * here.steps);

    // Each step once, in order; and in the end everything is there, as for a later reader.
    CHECK(evaluated == run.steps());
    CHECK(evaluated.size() == static_cast<std::size_t>(here.steps));
    const local_trial later{here.path};
    CHECK(later.loaded_all_steps());
    CHECK(later.steps() == run.steps());
    CHECK(later.steps({.mode = mode::eval}) == run.steps({.mode = mode::eval}));
    CHECK(later.tensor("loss").steps() == run.tensor("loss").steps());
    CHECK(prefixes_in(*catalog_of(run), here) == std::vector<int>(workers.size(), here.steps));
}

}  // namespace

TEST_CASE("live run: what threads see of a run that several processes write is always a prefix of what they wrote") {
    watch_run({.path = {}, .workers = 4, .steps = 60, .seed = 1});
}

TEST_CASE("live run: the same where index files grow in place, and are seen half written") {
    watch_run({.path = {}, .workers = 3, .steps = 40, .seed = 2, .writes_in_place = true});
}

TEST_CASE("live run: the same when writing is as fast as it can be") {
    watch_run({.path = {}, .workers = 3, .steps = 700, .stride = 1, .slowest_us = 0, .seed = 3});
}
