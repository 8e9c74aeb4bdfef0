// The bodies of <smdebug/rules/any_rule.hpp> that are templates.
#pragma once

#include <smdebug/rules/any_rule.hpp>

namespace smdebug {
inline namespace v1 {

template <readable_trial Trial>
rule_report any_rule<Trial>::report(const rule_outcome& outcome, const report_options& how) const {
    rule_report made = held_->report(outcome, how);
    made.rule = name();
    return made;
}

template <readable_trial Trial>
template <class Held>
std::optional<std::chrono::milliseconds> any_rule<Trial>::model<Held>::poll_interval() const {
    if constexpr (polled) {
        return callable.poll_interval();
    }
    return std::nullopt;
}

template <readable_trial Trial>
template <class Held>
void any_rule<Trial>::model<Held>::start() {
    if constexpr (polled) {
        callable.start();
    }
}

template <readable_trial Trial>
template <class Held>
std::optional<finding> any_rule<Trial>::model<Held>::while_waiting(const run_type& run) {
    if constexpr (polled) {
        return callable.while_waiting(run);
    } else {
        static_cast<void>(run);
        return std::nullopt;
    }
}

}  // namespace v1
}  // namespace smdebug
