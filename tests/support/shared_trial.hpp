// A trial shared by rules, driven by hand: what invoke_rules() does before it calls rules.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <optional>

namespace smdebug_test {

/// The trial `run`, shared by rules.
template <class Trial>
class shared_trial : public Trial {
public:
    explicit shared_trial(const Trial& run, const smdebug::sharing_options& how = {}) : Trial(run) {
        smdebug::detail::trial_access::share_with_rules(
            *this, smdebug::detail::view_for_rules(smdebug::detail::state_of(run), &how));
    }
    void begin_step(smdebug::step_number step, std::optional<smdebug::step_number> end = {}) const {
        smdebug::detail::trial_access::begin_rules(*this, step, end);
    }
};

}  // namespace smdebug_test
