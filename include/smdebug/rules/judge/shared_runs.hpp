// The runs that a rule compares its own with: read as invoke_rules() reads that one, a step at a time.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <cstddef>
#include <list>
#include <optional>

namespace smdebug::inline v1::rules::detail {

/// Reads each step of some runs in one pass over the tensors that a rule looks at.  While a rule takes all complete
/// steps of a run, one after another, the next ones are prefetched.  A copy begins anew.
/// Memory: 64 MiB of values and files for each run, and reductions as sharing_options say.
class shared_runs {
public:
    shared_runs() = default;
    shared_runs(const shared_runs& /*other*/) noexcept {}
    shared_runs& operator=(const shared_runs& /*other*/) noexcept {
        runs_.clear();
        return *this;
    }
    ~shared_runs() = default;

    /// The run to read a step by: `given` itself where the step is not complete.
    /// Valid until the next call.
    [[nodiscard]] const trial& at(const trial& given, step_number step) {
        const auto from = smdebug::detail::catalog_of(given);
        const auto* const entry = from->find_step(step);
        if (entry == nullptr || !from->complete(*entry)) {
            return given;
        }
        shared_run& one = shared_of(given);
        const auto after_last = from->steps.lower_bound(one.last + 1);
        const bool follows = after_last != from->steps.end() && after_last->step == step;
        one.last = step;
        smdebug::detail::trial_access::rule_log(one.run)->begin({.step = step});
        smdebug::detail::trial_access::begin_rules(one.run, step, follows ? std::nullopt : std::optional{step + 1});
        return one.run;
    }

private:
    struct shared_run {
        trial run;
        step_number last = -1;
    };

    [[nodiscard]] shared_run& shared_of(const trial& given) {
        for (shared_run& known : runs_) {
            if (smdebug::detail::state_of(known.run) == smdebug::detail::state_of(given)) {
                return known;
            }
        }
        shared_run& made = runs_.emplace_back(shared_run{given});
        constexpr std::size_t some = std::size_t{32} << 20U;
        const sharing_options sharing{.value_bytes = some, .file_bytes = some};
        smdebug::detail::trial_access::share_with_rules(
            made.run, smdebug::detail::view_for_rules(smdebug::detail::state_of(made.run), &sharing));
        return made;
    }

    std::list<shared_run> runs_;
};

}  // namespace smdebug::inline v1::rules::detail
