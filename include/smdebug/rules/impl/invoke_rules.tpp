// The bodies of <smdebug/rules/invoke_rules.hpp> that are templates.
#pragma once

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/trial/options.hpp>

namespace smdebug {
inline namespace v1 {

template <readable_trial Trial>
rule_session<Trial>::rule_session(const Trial& run, std::vector<any_rule<Trial>> rules, invoke_rules_options options)
    : run_(run),
      log_(std::make_shared<detail::read_log>()),
      shared_(make_shared_trial(run, options.sharing, log_)),
      rules_(std::move(rules)),
      options_(std::move(options)),
      driven_(rules_.size()) {
    options_.common.raise_eval_cond = false;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        prepare(i);
    }
}

// Cheap: it holds references only.
template <readable_trial Trial>
auto rule_session<Trial>::drive() {
    return detail::rule_drive{seen(), std::span{driven_}, options_.common, true, [this](step_number step) {
                                  if constexpr (shares) {
                                      shared_->begin_step(step, options_.common.end_step);
                                  }
                                  if (options_.on_step) {
                                      options_.on_step(step);
                                  }
                              }};
}

template <readable_trial Trial>
void rule_session<Trial>::go() {
    drive().go();
}

template <readable_trial Trial>
void rule_session<Trial>::visit(step_number step) {
    drive().visit(step);
}

template <readable_trial Trial>
void rule_session<Trial>::idle(step_number next_step) {
    drive().idle(next_step);
}

template <readable_trial Trial>
std::optional<std::chrono::milliseconds> rule_session<Trial>::poll_interval() {
    return drive().poll_interval();
}

template <readable_trial Trial>
bool rule_session<Trial>::over() {
    return drive().all_over();
}

template <readable_trial Trial>
void rule_session<Trial>::end(invoke_end why, step_number next_step) {
    drive().end_all(why, next_step);
}

template <readable_trial Trial>
std::vector<rule_result> rule_session<Trial>::results() const {
    std::vector<rule_result> made;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        rule_result one{.name = rules_[i].name(), .outcome = driven_[i].outcome, .cause = driven_[i].failure};
        one.failure = one.cause ? detail::words_of(one.cause) : std::string{};
        one.report = rules_[i].report(one.outcome, {.run = run_.name(), .failure = one.failure});
        if (one.cause) {
            one.report.status = rule_status::error;
            one.report.status_details = one.failure;
        }
        made.push_back(std::move(one));
    }
    return made;
}

template <readable_trial Trial>
typename rule_session<Trial>::shared_type rule_session<Trial>::make_shared_trial(
    const Trial& run, const sharing_options& how, const std::shared_ptr<detail::read_log>& log) {
    if constexpr (shares) {
        return std::make_unique<trial_of_rules<Trial>>(log, run, how);
    } else {
        static_cast<void>(run);
        static_cast<void>(how);
        static_cast<void>(log);
        return {};
    }
}

template <readable_trial Trial>
const trial_of_rules<Trial>& rule_session<Trial>::seen() const {
    if constexpr (shares) {
        return *shared_;
    } else {
        return run_;
    }
}

template <readable_trial Trial>
void rule_session<Trial>::prepare(std::size_t i) {
    const any_rule<Trial>& each = rules_[i];
    detail::driven_rule& on_its_way = driven_[i];
    on_its_way.name = each.name();
    on_its_way.range = each.range();
    on_its_way.log = shares ? log_ : nullptr;
    on_its_way.call = [this, &each](step_number step, const wait_options& how) { return each.call(seen(), step, how); };
    on_its_way.listener.on_finding = [this, i](step_number, const finding& one) {
        if (options_.on_finding) {
            options_.on_finding(i, one);
        }
    };
    on_its_way.listener.on_note = [this, i](step_number, const finding& one) {
        if (options_.on_note) {
            options_.on_note(i, one);
        }
    };
    on_its_way.listener.on_skip = [this, i](step_number step, const error& why) {
        if (options_.on_skip) {
            options_.on_skip(i, step, why);
        }
    };
    on_its_way.outcome.next_step = options_.common.start_step;
    try {
        each.check();
        if (const auto interval = each.poll_interval()) {
            each.start();
            on_its_way.poll_interval = *interval;
            on_its_way.poll = [this, &each] { return each.while_waiting(seen()); };
        }
    } catch (...) {
        on_its_way.failure = std::current_exception();
        detail::end_rule(on_its_way, invoke_end::failed, options_.common.start_step);
    }
}

}  // namespace v1
}  // namespace smdebug
