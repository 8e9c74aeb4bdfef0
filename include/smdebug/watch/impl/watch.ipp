// The bodies of <smdebug/watch/watch.hpp>.
#pragma once

#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/watch/recent_steps.hpp>
#include <smdebug/watch/watch.hpp>

#include <algorithm>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE watched_names::watched_names(const hook_options& watched, const std::vector<std::string>& include_regex)
    : everything_(include_regex.empty()) {
    compile(include_regex);
    if (everything_) {
        learn_training(watched);
    }
}

SMDEBUG_INLINE bool watched_names::contains(std::string_view name, mode in) {
    if (everything_ && in != mode::eval && in != mode::predict) {
        return true;
    }
    auto decided = decided_.find(name);
    if (decided == decided_.end()) {
        decided = decided_.emplace(name, matches(name)).first;
    }
    return decided->second != everything_;  // if everything else is seen, a match is left out
}

SMDEBUG_INLINE bool watched_names::contains(std::string_view name, std::span<const std::string_view> collections,
                                            mode in) {
    const bool left_alone = everything_ && (in == mode::eval || in == mode::predict) &&
                            std::any_of(collections.begin(), collections.end(), known_collections::is_of_training);
    return !left_alone && contains(name, in);
}

SMDEBUG_INLINE void watched_names::compile(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
        patterns_.emplace_back(pattern);
    }
}

SMDEBUG_INLINE void watched_names::learn_training(const hook_options& watched) {
    bool has_gradients = false;
    for (const collection& group : watched.collections) {
        if (known_collections::is_of_training(group.name)) {
            const bool says = !group.include_regex.empty() || !group.tensor_names.empty();
            compile(says ? group.include_regex : known_collections::regexes_of(group.name));
            names_.insert(group.tensor_names.begin(), group.tensor_names.end());
            has_gradients = has_gradients || group.name == "gradients";
        }
    }
    if (!has_gradients) {
        compile(known_collections::regexes_of("gradients"));
    }
}

SMDEBUG_INLINE bool watched_names::matches(std::string_view name) const {
    return names_.contains(name) ||
           std::any_of(patterns_.begin(), patterns_.end(), [&](const regex& pattern) { return pattern.search(name); });
}

SMDEBUG_INLINE rule_watcher::rule_watcher(const hook_options& watched, watch_options how, const any_kernel& kernel,
                                          std::function<void(const watched_finding&)> callback,
                                          std::vector<std::shared_ptr<watched_rule>> rules)
    : how_((check(how), std::move(how))),
      names_(watched, how_.include_regex),
      callback_(std::move(callback)),
      rules_(std::move(rules)),
      steps_(std::make_shared<recent_steps>(watched, how_, kernel)) {
    for (const mode which : all_modes) {
        when_[place_of(which)] = how_.save_config.in(which);
    }
}

SMDEBUG_INLINE bool rule_watcher::wants(const hook_step& step) {
    mode_ = step.mode;
    if (stopped_ || !is_due(when_[place_of(step.mode)], step.mode_step)) {
        return false;
    }
    steps_->begin(step);
    return true;
}

SMDEBUG_INLINE void rule_watcher::see(std::string_view name, const tensor_view& tensor,
                                      std::span<const std::string_view> collections) {
    if (names_.contains(name, collections, mode_)) {
        steps_->take(name, tensor, collections);
    }
}

SMDEBUG_INLINE void rule_watcher::end_step(const hook_step& step) {
    const auto steps = steps_;  // the callback may end this, and even the next step
    if (!stopped_ && steps) {
        if (const auto ended = steps->end(step.step)) {
            ++counters_.steps;
            for (const auto& each : rules_) {
                evaluate(*each, steps->run(), *ended);
            }
        }
    }
    if (stopped_) {
        steps_.reset();
    }
}

SMDEBUG_INLINE void rule_watcher::evaluate(watched_rule& each, const trial& run, const hook_step& now) {
    if (stopped_) {
        return;
    }
    std::vector<finding> findings;
    trial_access::rule_log(run)->begin({now.step, now.mode, now.mode_step});
    try {
        // No data can arrive while the training waits for this call: anything that would have to be waited for is
        // missing.
        findings = each.evaluate(run, now.step, {.timeout = std::chrono::milliseconds{0}});
        ++counters_.evaluated;
    } catch (const not_found& missing) {
        if (!means_skip(missing)) {
            throw;
        }
        skip(each.name, now.step, missing);
    } catch (const unavailable& missing) {
        if (!may_come(missing)) {
            throw;
        }
        skip(each.name, now.step, missing);
    }
    for (const finding& one : findings) {
        hand_over({.rule = each.name, .what = one, .step = now.step, .mode = now.mode, .mode_step = now.mode_step});
    }
}

SMDEBUG_INLINE void rule_watcher::hand_over(const watched_finding& found) {
    if (stopped_) {
        return;
    }
    if (found.what.met) {
        ++counters_.findings;
        callback_(found);
        return;
    }
    ++counters_.notes;
    if (how_.on_note) {
        how_.on_note(found);
    }
}

SMDEBUG_INLINE void rule_watcher::skip(std::string_view name, step_number step, const error& missing) {
    ++counters_.not_evaluated;
    if (how_.on_skip) {
        how_.on_skip(name, step, missing);
    }
}

}  // namespace smdebug::inline v1::detail
