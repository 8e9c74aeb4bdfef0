// The bodies of <smdebug/rules/judge/learned_judge.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/rules/judge/learned_judge.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <limits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

namespace learn = smdebug::detail::learn;

/// Whether a look-up failed only because nothing of that kind was saved.
[[nodiscard]] inline bool was_not_saved(const lookup_error& failure) noexcept {
    return failure.why == lookup_failure_kind::tensor_not_saved || failure.why == lookup_failure_kind::shape_not_saved;
}

SMDEBUG_INLINE lookup<learned_save> look_at_save(const saved_tensor& tensor,
                                                 const smdebug::detail::learn::number_set& kept) {
    const read_options where{.worker = tensor.worker()};
    learn::save_parts parts{.name = tensor.name()};
    parts.saved = tensor.handle().saved_reductions(tensor.step(), where);
    for (std::size_t i = 0; i < 2 * reduction_count && !parts.saved.empty(); ++i) {
        if (const reduction_key key = reduction_key::from_index(i); parts.saved.contains(key)) {
            const lookup<double> saved = tensor.reduction_value(key.what, key.abs);
            if (!saved) {
                return saved.error();
            }
            parts.saved_value[i] = *saved;
        }
    }
    learned_save found;
    const auto values = tensor.measured(learn::values_measure{});
    lookup<reduction_values> computed = lookup_failure_kind::tensor_not_saved;
    if (!values && !was_not_saved(values.error())) {
        return values.error();
    }
    if (values) {
        parts.values = &*values;
        found.shape = values->shape;
        if (!learn::is_void(values->type)) {
            computed = tensor.handle().find_computed(tensor.step(), learn::reductions_for(kept) - parts.saved, where);
            if (!computed) {
                return computed.error();
            }
            parts.computed = &*computed;
        }
    } else if (const auto shape = tensor.shape()) {
        found.shape = *shape;
    } else if (!was_not_saved(shape.error())) {
        return shape.error();
    }
    parts.shape = found.shape ? &*found.shape : nullptr;
    found.look = learn::look_at(parts, kept);
    return found;
}

SMDEBUG_INLINE learned_kind learned_kind_named(std::string_view name) {
    for (std::size_t i = 0; i < learned_kind_names.size(); ++i) {
        if (learned_kind_names[i] == name) {
            return static_cast<learned_kind>(i);
        }
    }
    const std::vector<std::string> names{learned_kind_names.begin(), learned_kind_names.end()};
    throw value_error("rule learned: there is no kind \"" + printable(name) + "\"." + near_or_all(name, names));
}

SMDEBUG_INLINE learned_judge::learned_judge(learned_facts facts, const learned_settings& settings)
    : facts_(std::move(facts)),
      settings_(settings),
      chosen_(settings.tensor_regex.texts(), {}),
      excluded_(settings.exclude_regex.texts(), {}) {
    asked_.fill(settings.kinds.empty());
    for (const std::string& kind : settings.kinds.texts()) {
        asked_[static_cast<std::size_t>(learned_kind_named(kind))] = true;
    }
    for (const auto& [name, tensor] : learn::facts_access::data(facts_).tensors) {
        if (!is_selected(name)) {
            continue;
        }
        for (const mode in : learn::modes_by_name) {
            if (const entry_facts* const entry = tensor.find(in)) {
                entry_state& of = modes_[learn::index_of(in)].entries[name];
                of.facts = entry;
                for (const auto& [which, series] : entry->numbers) {
                    of.kept.insert(which);
                }
            }
        }
    }
    const auto& tied = learn::facts_access::data(facts_).tied;
    for (std::size_t i = 0; i < tied.size(); ++i) {
        for (const std::string& tensor : tied[i].tensors) {
            classes_[tensor].push_back(i);
        }
    }
}

SMDEBUG_INLINE bool learned_judge::is_selected(const std::string& tensor) const {
    return (settings_.tensor_regex.empty() || chosen_.accepts(tensor)) && !excluded_.accepts(tensor);
}

SMDEBUG_INLINE void learned_judge::begin_step(mode in, step_number mode_step) {
    mode_ = in;
    mode_step_ = mode_step;
    now().steps.steps.push_back(mode_step);
}

SMDEBUG_INLINE std::optional<learn::number_set> learned_judge::see(const std::string& tensor) {
    mode_state& in = now();
    const auto found = in.entries.find(tensor);
    if (found == in.entries.end()) {
        auto known = is_selected_.find(tensor);
        if (known == is_selected_.end()) {
            known = is_selected_.emplace(tensor, is_selected(tensor)).first;
        }
        if (known->second) {
            without_entry_.emplace(tensor, mode_);
        }
        return std::nullopt;
    }
    in.has_saves = true;
    found->second.last_save = in.steps.steps.size();
    const auto& modes = learn::facts_access::data(facts_).modes;
    if (const auto facts = modes.find(mode_); facts != modes.end() && mode_step_ > facts->second.last) {
        in.is_beyond = true;
    }
    return found->second.kept;
}

SMDEBUG_INLINE bool learned_judge::begins(learned_kind kind, const std::string& tensor, std::string_view in,
                                          const std::string& worker, std::size_t place) {
    return asked_[static_cast<std::size_t>(kind)] && told_.emplace(kind, tensor, std::string{in}, worker, place).second;
}

SMDEBUG_INLINE void learned_judge::add(learned_kind kind, const std::string& tensor, const std::string& worker,
                                       double value, double threshold, const std::string& message, std::size_t place) {
    found_.push_back({kind,
                      place,
                      {.met = true,
                       .tensor = tensor,
                       .worker = worker,
                       .value = value,
                       .threshold = threshold,
                       .message = std::string{learned_kind_names[static_cast<std::size_t>(kind)]} + ": " + message}});
}

/// "8 healthy runs".
SMDEBUG_INLINE std::string learned_judge::healthy_runs(std::uint64_t runs) const {
    return std::to_string(runs) + (runs == 1 ? " healthy run" : " healthy runs");
}

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// "TRAIN step 400".
[[nodiscard]] inline std::string words_of_step(mode in, step_number mode_step) {
    return std::string{name_of(in)} + " step " + std::to_string(mode_step);
}

/// Whether `number` > 2 * `usual`, which is not negative and may be any that a file has.
[[nodiscard]] constexpr bool is_beyond_twice(std::int64_t number, std::int64_t usual) noexcept {
    return number > usual && number - usual > usual;
}

SMDEBUG_INLINE void learned_judge::judge_missing() {
    const auto& modes = learn::facts_access::data(facts_).modes;
    const auto mode_facts = modes.find(mode_);
    mode_state& in = now();
    if (mode_facts == modes.end() || mode_step_ > mode_facts->second.last || !in.has_saves) {
        return;
    }
    const std::size_t count = in.steps.steps.size();
    for (const auto& [name, entry] : in.entries) {
        const entry_facts& facts = *entry.facts;
        if (entry.last_save == count || facts.runs != mode_facts->second.runs) {
            continue;
        }
        const step_number from = entry.last_save == 0 ? in.steps.steps.front() : in.steps.steps[entry.last_save - 1];
        const auto saves = static_cast<std::int64_t>(count - entry.last_save);
        if (!is_beyond_twice(saves, facts.every.saves) || !is_beyond_twice(mode_step_ - from, facts.every.steps) ||
            !begins(learned_kind::missing, name, name_of(mode_), {})) {
            continue;
        }
        const std::string since =
            entry.last_save == 0 ? "never saved" : "not saved since " + words_of_step(mode_, from);
        const std::string usual =
            facts.every.steps > 1 ? "at every " + std::to_string(facts.every.steps) + " steps" : "at every step";
        add(learned_kind::missing, name, {}, static_cast<double>(saves), 2 * static_cast<double>(facts.every.saves),
            since + "; in " + healthy_runs(facts.runs) + " " + usual);
    }
}

/// "64x2", "64x?" where an extent varies, "no extents" of a scalar.
[[nodiscard]] inline std::string words_of_shape(const std::vector<std::optional<std::size_t>>& extents) {
    std::string text;
    for (const auto& extent : extents) {
        text += (text.empty() ? "" : "x") + (extent ? std::to_string(*extent) : "?");
    }
    return text.empty() ? "no extents" : text;
}

SMDEBUG_INLINE void learned_judge::judge_form(const judged_save_of& save, const entry_facts& facts) {
    const learn::save_look& look = save.save.look;
    const std::string_view in = name_of(mode_);
    const auto begins_here = [&](learned_kind kind) { return begins(kind, save.tensor, in, save.worker); };
    const auto add_here = [&](learned_kind kind, double value, double threshold, const std::string& message) {
        add(kind, save.tensor, save.worker, value, threshold, message);
    };
    if (look.has_values && facts.dtypes && !facts.dtypes->empty()) {
        const std::string type{name_of(look.type)};
        if (std::find(facts.dtypes->begin(), facts.dtypes->end(), type) == facts.dtypes->end() &&
            begins_here(learned_kind::dtype)) {
            std::string usual;
            for (const std::string& each : *facts.dtypes) {
                usual += (usual.empty() ? "" : " or ") + each;
            }
            add_here(learned_kind::dtype, no_number, no_number, type + ", " + usual + " in healthy runs");
        }
    }
    if (save.save.shape && facts.shape && facts.shape->extents) {
        const auto& usual = *facts.shape->extents;
        const shape_type& shape = *save.save.shape;
        const bool fits =
            std::equal(usual.begin(), usual.end(), shape.begin(), shape.end(),
                       [](const auto& wanted, std::size_t extent) { return !wanted || *wanted == extent; });
        if (!fits && begins_here(learned_kind::shape)) {
            add_here(learned_kind::shape, no_number, no_number,
                     words_of_shape({shape.begin(), shape.end()}) + ", " + words_of_shape(usual) + " in healthy runs");
        }
    }
    if (look.bad.value_or(false) && facts.finite.value_or(0) >= 1 && begins_here(learned_kind::non_finite)) {
        const std::string what = look.has_values ? short_text(100 * look.bad_share) + " % of its values are" : "it is";
        add_here(learned_kind::non_finite, look.bad_share, 0,
                 what + " NaN or infinite; finite in all " + std::to_string(*facts.finite) + " saves of healthy runs");
    }
    if (look.least && *look.least < 0 && has_support(facts.nonnegative) && begins_here(learned_kind::negative)) {
        add_here(learned_kind::negative, *look.least, 0,
                 "its least value is " + short_text(*look.least) + "; never negative in " +
                     healthy_runs(*facts.nonnegative));
    }
    if (look.greatest && *look.greatest > 0 && has_support(facts.nonpositive) && begins_here(learned_kind::positive)) {
        add_here(learned_kind::positive, *look.greatest, 0,
                 "its greatest value is " + short_text(*look.greatest) + "; never positive in " +
                     healthy_runs(*facts.nonpositive));
    }
}

SMDEBUG_INLINE void learned_judge::judge_pair(const judged_save_of& save, entry_state& entry, worker_state& worker) {
    using pair = learn::newest_contents::pair;
    const pair now_and_before = entry.newest.next(save.worker, save.save.look.content);
    if (now_and_before == pair::none) {
        return;
    }
    worker.same_in_a_row = now_and_before == pair::same ? worker.same_in_a_row + 1 : 0;
    const std::string_view in = name_of(mode_);
    const entry_facts& facts = *entry.facts;
    if (now_and_before == pair::differs && has_support(facts.constant) &&
        begins(learned_kind::changed, save.tensor, in, save.worker)) {
        add(learned_kind::changed, save.tensor, save.worker, no_number, no_number,
            "differs from its save before; the same at each of " + std::to_string(*facts.constant) +
                " in healthy runs");
    }
    if (worker.same_in_a_row >= settings_.unchanged_for && has_support(facts.changing) &&
        begins(learned_kind::unchanged, save.tensor, in, save.worker)) {
        add(learned_kind::unchanged, save.tensor, save.worker, static_cast<double>(worker.same_in_a_row),
            static_cast<double>(settings_.unchanged_for),
            "the same in its last " + std::to_string(worker.same_in_a_row + 1) + " saves; changed at each of " +
                std::to_string(*facts.changing) + " in healthy runs");
    }
}

SMDEBUG_INLINE void learned_judge::judge_numbers(const judged_save_of& save, const entry_facts& facts,
                                                 worker_state& worker) {
    const learn::save_look& look = save.save.look;
    for (const auto& each : facts.numbers) {
        const number which = each.first;
        const learn::number_series& series = each.second;
        if (!look.has.contains(which)) {
            continue;
        }
        const auto healthy = series.envelope_at(which, mode_step_, settings_.widen);
        if (!healthy) {
            continue;
        }
        const double one = look[which];
        number_rows& rows = worker.rows[which];
        const auto judge_side = [&](learned_kind kind, bool is_judged, bool is_out, double bound, std::int64_t& row) {
            if (!is_judged) {
                return;
            }
            row = is_out ? row + 1 : 0;
            const auto place = static_cast<std::size_t>(which);
            if (row < settings_.patience || !begins(kind, save.tensor, name_of(mode_), save.worker, place)) {
                return;
            }
            const std::string steps =
                healthy->first_step == healthy->last_step
                    ? " in step " + std::to_string(healthy->first_step)
                    : " in steps " + std::to_string(healthy->first_step) + " to " + std::to_string(healthy->last_step);
            add(kind, save.tensor, save.worker, one, bound,
                std::string{learn::name_of(which)} + " is " + short_text(one) + " at " +
                    words_of_step(mode_, mode_step_) + (kind == learned_kind::low ? ", below " : ", above ") +
                    short_text(bound) + "; in " + healthy_runs(healthy->runs) + " " + short_text(healthy->range.least) +
                    " to " + short_text(healthy->range.greatest) + steps,
                place);
        };
        judge_side(learned_kind::low, series.down.has_value(), one < healthy->lower, healthy->lower, rows.below);
        judge_side(learned_kind::high, series.up.has_value(), one > healthy->upper, healthy->upper, rows.above);
    }
}

SMDEBUG_INLINE void learned_judge::judge_save(const judged_save_of& save, entry_state& entry) {
    if (save.save.look.is_void) {
        return;
    }
    worker_state& worker = entry.workers[save.worker];
    judge_form(save, *entry.facts);
    judge_pair(save, entry, worker);
    judge_numbers(save, *entry.facts, worker);
}

SMDEBUG_INLINE void learned_judge::judge_replicas(const judged_save_of* begin, const judged_save_of* end,
                                                  const entry_facts& facts) {
    std::vector<const judged_save_of*> workers;
    for (const judged_save_of* each = begin; each != end; ++each) {
        if (each->save.look.has_values) {
            workers.push_back(each);
        }
    }
    if (workers.size() < 2 || !has_support(facts.replicas)) {
        return;
    }
    const auto same = [](const judged_save_of* one, const judged_save_of* other) {
        return one->save.look.content.is_same_as(other->save.look.content);
    };
    const judged_save_of* right = nullptr;
    std::ptrdiff_t most = 0;
    for (const judged_save_of* const each : workers) {  // by name: of several the first
        const auto alike = std::count_if(workers.begin(), workers.end(),
                                         [&](const judged_save_of* other) { return same(each, other); });
        if (alike > most) {
            most = alike;
            right = each;
        }
    }
    std::string names;
    const judged_save_of* first = nullptr;
    std::size_t differing = 0;
    for (const judged_save_of* const each : workers) {
        if (!same(each, right)) {
            names += (names.empty() ? "" : ", ") + each->worker;
            first = first == nullptr ? each : first;
            ++differing;
        }
    }
    if (differing > 0 && begins(learned_kind::replicas, first->tensor, name_of(mode_), {})) {
        add(learned_kind::replicas, first->tensor, first->worker, static_cast<double>(differing), 0,
            names + (differing == 1 ? " differs" : " differ"));
    }
}

SMDEBUG_INLINE void learned_judge::judge_tied(const std::vector<judged_save_of>& saves) {
    const auto& tied = learn::facts_access::data(facts_).tied;
    std::map<std::pair<std::size_t, std::string_view>, const judged_save_of*> first;  // by class and worker
    for (const judged_save_of& save : saves) {
        const auto in = classes_.find(save.tensor);
        if (!save.save.look.has_values || in == classes_.end()) {
            continue;
        }
        for (const std::size_t place : in->second) {
            if (!has_support(tied[place].saves)) {
                continue;
            }
            const auto [of, is_first] = first.try_emplace({place, save.worker}, &save);
            if (!is_first && !of->second->save.look.content.is_same_as(save.save.look.content) &&
                begins(learned_kind::tied, save.tensor, {}, save.worker)) {
                add(learned_kind::tied, save.tensor, save.worker, no_number, no_number,
                    "differs from " + of->second->tensor + "; equal in all " +
                        healthy_runs(learn::facts_access::data(facts_).runs.size()));
            }
        }
    }
}

SMDEBUG_INLINE std::vector<finding> learned_judge::judge(const std::vector<judged_save_of>& saves) {
    found_.clear();
    judge_missing();
    for (std::size_t begin = 0; begin < saves.size();) {
        std::size_t end = begin;
        entry_state& entry = now().entries.find(saves[begin].tensor)->second;
        for (; end < saves.size() && saves[end].tensor == saves[begin].tensor; ++end) {
            judge_save(saves[end], entry);
        }
        judge_replicas(saves.data() + begin, saves.data() + end, *entry.facts);
        begin = end;
    }
    judge_tied(saves);
    std::stable_sort(found_.begin(), found_.end(), [](const ordered_finding& one, const ordered_finding& other) {
        return one.order() < other.order();
    });
    std::vector<finding> findings;
    for (ordered_finding& each : found_) {
        findings.push_back(std::move(each.what));
    }
    return findings;
}

SMDEBUG_INLINE std::vector<finding> learned_judge::conclude() const {
    std::vector<finding> notes;
    const auto say = [&](std::string text) { notes.push_back(finding::note(std::move(text))); };
    const auto counted = [](std::size_t count, const std::string& one, const std::string& many) {
        return std::to_string(count) + " " + (count == 1 ? one : many);
    };
    if (!without_entry_.empty()) {
        const auto& [tensor, in] = *without_entry_.begin();
        say(counted(without_entry_.size(), "tensor", "tensors") + " of this run, by name and mode, " +
            (without_entry_.size() == 1 ? "was" : "were") + " not learned, and not looked at: first " + tensor +
            " in " + std::string{name_of(in)});
    }
    std::set<std::pair<std::string, mode>> never;
    for (const mode in : learn::modes_by_name) {
        for (const auto& [name, entry] : modes_[learn::index_of(in)].entries) {
            if (entry.last_save == 0) {
                never.emplace(name, in);
            }
        }
    }
    if (!never.empty()) {
        const auto& [tensor, in] = *never.begin();
        say(counted(never.size(), "tensor", "tensors") + " of healthy runs, by name and mode, " +
            (never.size() == 1 ? "was" : "were") + " never saved by this run, and not looked at: first " + tensor +
            " in " + std::string{name_of(in)});
    }
    for (const mode in : learn::modes_by_name) {
        const mode_state& of = modes_[learn::index_of(in)];
        const auto facts = learn::facts_access::data(facts_).modes.find(in);
        const bool is_learned = facts != learn::facts_access::data(facts_).modes.end();
        const std::string name{name_of(in)};
        if (is_learned && of.steps.steps.empty()) {
            say("healthy runs have steps of " + name + ", this run has none: not looked at");
        } else if (!is_learned && !of.steps.steps.empty()) {
            say("this run has steps of " + name + ", healthy runs have none: not looked at");
        } else if (of.is_beyond) {
            say("this run has saves after " + words_of_step(in, facts->second.last) +
                ", the last of healthy runs: there envelopes end, and nothing is missing");
        }
    }
    return notes;
}

SMDEBUG_INLINE std::vector<rule_outcome::band> learned_judge::bands() const {
    using band = rule_outcome::band;
    std::vector<band> all;
    const bool low = asked_[static_cast<std::size_t>(learned_kind::low)];
    const bool high = asked_[static_cast<std::size_t>(learned_kind::high)];
    if (!low && !high) {
        return all;
    }
    const auto holds_on = [](const band::window& before, const band::window& now) {
        return before.runs == now.runs && before.least == now.least && before.greatest == now.greatest &&
               before.lower == now.lower && before.upper == now.upper;
    };
    for (const mode in : learn::modes_by_name) {
        const mode_state& of = modes_[learn::index_of(in)];
        std::set<learn::window_number> windows;
        for (const step_number step : of.steps.steps) {
            windows.insert(learn::window_of(step));
        }
        for (const auto& [name, entry] : of.entries) {
            if (entry.last_save == 0) {
                continue;
            }
            for (const auto& [which, series] : entry.facts->numbers) {
                band made{.tensor = name, .mode = in, .number = std::string{learn::name_of(which)}};
                bool is_gap = true;
                for (const learn::window_number window : windows) {
                    const step_number first = learn::first_step_of(window);
                    const auto found = series.envelope_at(which, first, settings_.widen);
                    if (!found) {
                        is_gap = true;
                        continue;
                    }
                    band::window now{.first = first,
                                     .last = learn::last_step_of(window),
                                     .runs = found->runs,
                                     .least = found->range.least,
                                     .greatest = found->range.greatest};
                    now.lower = low ? found->lower : now.lower;
                    now.upper = high ? found->upper : now.upper;
                    if (!is_gap && holds_on(made.windows.back(), now)) {
                        made.windows.back().last = now.last;
                    } else {
                        made.windows.push_back(now);
                    }
                    is_gap = false;
                }
                if (!made.windows.empty()) {
                    all.push_back(std::move(made));
                }
            }
        }
    }
    return all;
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
