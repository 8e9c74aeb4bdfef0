// Hooks whose steps are watched, and the findings: for the tests of watch().
#pragma once

#include <smdebug/watch/watch.hpp>

#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/standard.hpp"

namespace smdebug_test::watches {

using namespace smdebug;
using namespace smdebug::detail;

using steps_list = std::vector<step_number>;
using names_list = std::vector<std::string>;
// The scalar kernel: its code takes a tenth of the time to compile.
using memory_hook = basic_hook<memory_storage, scalar_kernel>;
using run_in_memory = basic_trial<memory_storage, event_decoder<>, scalar_kernel>;

// A finding that outlives the callback.
struct noted {
    std::string rule;
    finding what;
    step_number step = 0;
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
};

// A callback that records its arguments.
inline auto into(std::vector<noted>& all) {
    return [&all](const watched_finding& found) {
        all.push_back({std::string{found.rule}, found.what, found.step, found.mode, found.mode_step});
    };
}

inline steps_list steps_of(const std::vector<noted>& all) {
    steps_list steps;
    for (const noted& one : all) {
        steps.push_back(one.step);
    }
    return steps;
}

// Reports the mean of "w" at each step.
inline constexpr auto mean_of_w = [](const readable_trial auto& run, step_number step) -> finding {
    return {.met = true, .tensor = "w", .value = run.tensor("w").reduction_value(step, reduction::mean)};
};

// A dry run: none of its tensors are due on disk, either.
inline hook_options nothing_on_disk() { return {.save_config = {.save_interval = 1'000'000}, .dry_run = true}; }

}  // namespace smdebug_test::watches
