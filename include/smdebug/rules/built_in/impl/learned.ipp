// The bodies of <smdebug/rules/built_in/learned.hpp>.
#pragma once

#include <smdebug/core/status.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/learned_judge.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/trial/options.hpp>

#include <iterator>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

struct learned::history::state {
    std::optional<learned_facts> loaded = {};
    std::optional<detail::learned_judge> judge = {};
};

SMDEBUG_INLINE learned::history::history() : state_(std::make_unique<state>()) {}
SMDEBUG_INLINE learned::history::history(const history& other) : state_(std::make_unique<state>(*other.state_)) {}
SMDEBUG_INLINE learned::history& learned::history::operator=(const history& other) {
    *state_ = *other.state_;
    return *this;
}
SMDEBUG_INLINE learned::history::~history() = default;

SMDEBUG_INLINE const learned_facts& learned::known_facts() const {
    if (facts) {
        return *facts;
    }
    if (!so_far.state_->loaded) {
        so_far.state_->loaded = learned_facts::load(file);
    }
    return *so_far.state_->loaded;
}

SMDEBUG_INLINE void learned::check() const {
    detail::require_setting(name(), facts.has_value() || !file.empty(), "file");
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "unchanged_for", unchanged_for, {.least = 1});
    detail::check_range(name(), "widen", widen, {.least = 0, .above_least = true});
    detail::check_range(name(), "min_support", min_support, {.least = 1});
    for (const std::string& kind : kinds.texts()) {
        static_cast<void>(detail::learned_kind_named(kind));
    }
    static_cast<void>(known_facts());
}

SMDEBUG_INLINE std::vector<finding> learned::look(const trial& run, step_number step) {
    std::optional<detail::learned_judge>& judge = so_far.state_->judge;
    if (!judge) {
        judge.emplace(known_facts(), detail::learned_settings{.kinds = kinds,
                                                              .tensor_regex = tensor_regex,
                                                              .exclude_regex = exclude_regex,
                                                              .patience = patience,
                                                              .unchanged_for = unchanged_for,
                                                              .widen = widen,
                                                              .min_support = min_support});
    }
    judge->begin_step(run.mode(step).value_or(mode::global), run.mode_step(step).value_or(step));
    std::vector<finding> unread;
    std::vector<detail::judged_save_of> saves;
    std::vector<std::string> names = run.tensor_names({.step = step});
    detail::leave_out_histogram_tables(run, step, names);  // as learning does
    for (const std::string& tensor : names) {
        const std::optional<smdebug::detail::learn::number_set> kept = judge->see(tensor);
        if (!kept) {
            continue;
        }
        const auto handle = run.tensor(tensor);
        for (const std::string& worker : handle.workers(step, read_options{})) {
            const detail::saved_tensor save{handle, tensor, step, worker};
            auto seen = detail::look_at_save(save, *kept);
            if (seen) {
                saves.push_back({tensor, worker, std::move(*seen)});
            } else {
                detail::add_if_said(unread, save.note(seen.error()));
            }
        }
    }
    std::vector<finding> findings = judge->judge(saves);
    findings.insert(findings.end(), std::make_move_iterator(unread.begin()), std::make_move_iterator(unread.end()));
    return findings;
}

SMDEBUG_INLINE std::vector<finding> learned::notes() const {
    return so_far.state_->judge ? so_far.state_->judge->conclude() : std::vector<finding>{};
}

SMDEBUG_INLINE std::vector<rule_outcome::band> learned::bands() const {
    return so_far.state_->judge ? so_far.state_->judge->bands() : std::vector<rule_outcome::band>{};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
