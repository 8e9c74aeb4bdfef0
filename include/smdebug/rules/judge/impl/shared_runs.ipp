// The bodies of <smdebug/rules/judge/shared_runs.hpp>.
#pragma once

#include <smdebug/rules/judge/shared_runs.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <cstddef>
#include <optional>

namespace smdebug::inline v1::rules::detail {

SMDEBUG_INLINE const trial& shared_runs::at(const trial& given, step_number step) {
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

SMDEBUG_INLINE shared_runs::shared_run& shared_runs::shared_of(const trial& given) {
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

}  // namespace smdebug::inline v1::rules::detail
