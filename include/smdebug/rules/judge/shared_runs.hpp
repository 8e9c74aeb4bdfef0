// The runs that a rule compares its own with: read as invoke_rules() reads that one, a step at a time.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/step_cache.hpp>

#include <cstddef>
#include <list>
#include <optional>

namespace smdebug::inline v1::rules::detail {

/// Reads each step of some runs in one pass over the tensors that a rule looks at.  While a rule takes all complete
/// steps of a run, one after another, the next ones are prefetched.  A copy begins anew.
/// Memory: 64 MiB of values and files for each run, and reductions as sharing_options say.
template <class Run>
class shared_runs {
public:
    shared_runs() = default;
    shared_runs(const shared_runs& /*other*/) noexcept {}
    shared_runs& operator=(const shared_runs& /*other*/) noexcept {
        runs_.clear();
        return *this;
    }
    ~shared_runs() = default;

    /// The run to read a step by: `given` itself where the step is not complete, or where nothing can be shared.
    /// Valid until the next call.
    [[nodiscard]] const Run& at(const Run& given, step_number step) {
        if constexpr (shareable_trial<Run>) {
            const auto from = given.snapshot();
            const auto* const entry = from->find_step(step);
            if (entry != nullptr && from->complete(*entry)) {
                shared_run& one = shared_of(given);
                const auto after_last = from->steps.lower_bound(one.last + 1);
                const bool follows = after_last != from->steps.end() && after_last->step == step;
                one.last = step;
                one.run.rule_log()->begin({.step = step});
                one.run.begin_rules(step, follows ? std::nullopt : std::optional{step + 1});
                return one.run;
            }
        }
        return given;
    }

private:
    struct shared_run {
        Run run;
        step_number last = -1;
    };

    [[nodiscard]] shared_run& shared_of(const Run& given) {
        for (shared_run& known : runs_) {
            if (known.run.state() == given.state()) {
                return known;
            }
        }
        shared_run& made = runs_.emplace_back(shared_run{given});
        constexpr std::size_t some = std::size_t{32} << 20U;
        const sharing_options sharing{.value_bytes = some, .file_bytes = some};
        made.run.share_with_rules(smdebug::detail::view_for_rules(made.run.state(), &sharing));
        return made;
    }

    std::list<shared_run> runs_;
};

}  // namespace smdebug::inline v1::rules::detail
