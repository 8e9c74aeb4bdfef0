// The bodies of <smdebug/rules/invoke_rules.hpp> that are templates.
#pragma once

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/shared/rule_view.hpp>

namespace smdebug {
inline namespace v1 {

template <readable_trial Trial>
rule_session<Trial>::rule_session(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                  invoke_rules_options options)
    : options_(std::move(options)),
      seen_(seen_of(run, options_.sharing)),
      drive_(seen_, any_rule<Trial>::erased(rules), options_.common, listener()) {
    options_.common.raise_eval_cond = false;
}

template <readable_trial Trial>
std::vector<rule_result> rule_session<Trial>::results() const {
    std::vector<rule_result> made;
    for (std::size_t i = 0; i < drive_.rules().size(); ++i) {
        made.push_back(drive_.rules()[i]->result(drive_.outcome_of(i), seen_.name(), drive_.progress()[i].failure));
    }
    return made;
}

template <readable_trial Trial>
typename rule_session<Trial>::seen_type rule_session<Trial>::seen_of(const Trial& run, const sharing_options& how) {
    if constexpr (shareable_trial<Trial>) {
        Trial shared{run};
        shared.share_with_rules(detail::view_for_rules(run.state(), &how));
        return shared;
    } else {
        static_cast<void>(how);
        return run;
    }
}

template <readable_trial Trial>
detail::drive_listener rule_session<Trial>::listener() {
    detail::drive_listener tells = detail::listener_of(options_);
    if constexpr (shareable_trial<Trial>) {
        tells.on_step = [this](step_number step) {
            seen_.begin_rules(step, options_.common.end_step);
            if (options_.on_step) {
                options_.on_step(step);
            }
        };
    }
    return tells;
}

}  // namespace v1
}  // namespace smdebug
