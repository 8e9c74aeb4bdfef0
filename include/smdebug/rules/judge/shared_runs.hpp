// The runs that a rule compares its own with: read as invoke_rules() reads that one, a step at a time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/trial.hpp>

#include <list>

namespace smdebug::inline v1::rules::detail {

/// Reads each step of other runs in one pass over the tensors that the rule looks at.  While the rule takes all complete
/// steps of such a run, one after another, the next ones are prefetched.  A copy shares nothing: it begins anew.
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

    /// The trial by which to read a step of `given`: `given` itself where the step is not complete.  Valid until the next
    /// call.
    [[nodiscard]] const trial& at(const trial& given, step_number step);

private:
    struct shared_run {
        trial run;
        step_number last = -1;
    };

    [[nodiscard]] shared_run& shared_of(const trial& given);

    std::list<shared_run> runs_;
};

}  // namespace smdebug::inline v1::rules::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/shared_runs.ipp>
#endif
