// The bodies of <smdebug/learn/look/run_learner.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/learn/look/run_learner.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

SMDEBUG_INLINE newest_contents::pair newest_contents::next(std::string_view worker, const save_content& content) {
    if (content.what == save_content::kind::none) {
        return pair::none;
    }
    for (auto& [name, newest] : by_worker_) {
        if (name == worker) {
            const save_content before = std::exchange(newest, content);
            if (!before.is_comparable_with(content)) {
                return pair::none;
            }
            return before.is_same_as(content) ? pair::same : pair::differs;
        }
    }
    by_worker_.emplace_back(worker, content);
    return pair::none;
}

SMDEBUG_INLINE save_gap mode_count::gap(std::size_t before, std::size_t now) const noexcept {
    save_gap largest{.saves = static_cast<std::int64_t>(now - before)};
    if (steps.empty()) {
        return largest;
    }
    const step_number from = before == 0 ? steps.front() : steps[before - 1];
    for (std::size_t i = before; i < now; ++i) {
        largest.steps = std::max(largest.steps, steps[i] - from);
    }
    return largest;
}

/// Adds to a count that was not dropped, or drops it.
inline void count_or_drop(std::optional<std::uint64_t>& fact, bool holds) {
    if (!holds) {
        fact.reset();
    } else if (fact) {
        ++*fact;
    }
}

SMDEBUG_INLINE void run_learner::begin_step(step_number global, mode in, step_number mode_step) {
    global_ = global;
    mode_ = in;
    mode_step_ = mode_step;
    modes_[index_of(in)].steps.push_back(mode_step);
}

SMDEBUG_INLINE void run_learner::windowed_numbers::take(step_number mode_step, double one) {
    const auto at = static_cast<std::uint8_t>(window_of(mode_step));
    const auto found = !windows.empty() && windows.back() == at ? windows.end() - 1
                                                                : std::lower_bound(windows.begin(), windows.end(), at);
    const auto place = static_cast<std::size_t>(found - windows.begin());
    if (found == windows.end() || *found != at) {
        windows.insert(found, at);
        ranges.insert(2 * place, one);
        ranges.insert(2 * place + 1, one);
        return;
    }
    if (one < ranges[2 * place]) {
        ranges.set(2 * place, one);
    }
    if (one > ranges[2 * place + 1]) {
        ranges.set(2 * place + 1, one);
    }
}

SMDEBUG_INLINE number_series run_learner::windowed_numbers::series() const {
    std::vector<window_facts> all;
    all.reserve(windows.size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
        window_facts& one = all.emplace_back(window_facts{.window = windows[i], .runs = 1});
        one.low.push_back({ranges[2 * i], 0});
        one.high.push_back({ranges[2 * i + 1], 0});
    }
    return {.runs = 1, .windows = window_list{all}};
}

SMDEBUG_INLINE void run_learner::end_replicas(entry_state& entry) const {
    if (entry.replica_count >= 2) {
        count_or_drop(entry.facts.replicas, entry.are_alike);
    }
    entry.replica_count = 0;
}

SMDEBUG_INLINE void run_learner::take_pair(tensor_state& tensor, entry_state& entry, std::string_view worker,
                                           const save_look& save) const {
    if (save.size == 1U && !is_digest(tensor.name)) {
        entry.facts.changing.reset();
    }
    switch (entry.newest.next(worker, save.content)) {
        case newest_contents::pair::none:
            break;
        case newest_contents::pair::same:
            count_or_drop(entry.facts.constant, true);
            count_or_drop(entry.facts.changing, false);
            break;
        case newest_contents::pair::differs:
            count_or_drop(entry.facts.constant, false);
            count_or_drop(entry.facts.changing, true);
            tensor.changes = true;
            break;
    }
}

SMDEBUG_INLINE void run_learner::take(std::string_view name, std::string_view worker, const save_look& save,
                                      const shape_type* shape) {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        tensors_.push_back(std::make_unique<tensor_state>());
        tensors_.back()->name = name;
        found = by_name_.emplace(std::string{name}, tensors_.back().get()).first;
    }
    tensor_state& tensor = *found->second;
    auto& place = tensor.by_mode[index_of(mode_)];
    if (place == nullptr) {
        place = std::make_unique<entry_state>();
    }
    entry_state& entry = *place;
    entry_facts& facts = entry.facts;
    if (const std::size_t now = modes_[index_of(mode_)].steps.size(); entry.last_save != now) {
        const save_gap gap = modes_[index_of(mode_)].gap(entry.last_save, now);
        facts.every = {std::max(facts.every.saves, gap.saves), std::max(facts.every.steps, gap.steps)};
        entry.last_save = now;
    }
    if (save.is_void) {
        tensor.is_void = true;
        return;
    }
    if (save.has_values) {
        facts.see_dtype(smdebug::name_of(save.type));
    }
    if (shape != nullptr) {
        facts.see_shape(*shape);
    }
    if (save.bad) {
        count_or_drop(facts.finite, !*save.bad);
    }
    if (save.least) {
        entry.knows_least = true;
        facts.nonnegative = *save.least >= 0 ? facts.nonnegative : std::nullopt;
    }
    if (save.greatest) {
        entry.knows_greatest = true;
        facts.nonpositive = *save.greatest <= 0 ? facts.nonpositive : std::nullopt;
    }
    take_pair(tensor, entry, worker, save);
    if (save.has_values) {
        if (entry.replica_step != global_) {
            end_replicas(entry);
            entry.replica_step = global_;
            entry.are_alike = true;
            entry.first_replica = save.content;
        }
        ++entry.replica_count;
        entry.are_alike = entry.are_alike && entry.first_replica.is_same_as(save.content);
        const reduce::detail::tensor_hash place_of_save =
            folded({}, static_cast<std::uint64_t>(global_), text_hash{}(worker));
        tensor.all_saves = folded(tensor.all_saves, place_of_save.low, place_of_save.high);
        tensor.all_saves = folded(tensor.all_saves, save.content.hash.low, save.content.hash.high);
        ++tensor.saves;
        tensor.is_small = tensor.is_small || save.size < 2U;
    }
    for (std::size_t i = 0; i < number_count; ++i) {
        if (save.has.contains(static_cast<number>(i))) {
            auto& numbers = entry.numbers[i];
            if (numbers == nullptr) {
                numbers = std::make_unique<windowed_numbers>();
            }
            numbers->take(mode_step_, save.numbers[i]);
        }
    }
}

SMDEBUG_INLINE std::vector<tied_class> run_learner::tied() const {
    using key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<key, std::vector<std::string>> alike;
    for (const auto& each : tensors_) {
        if (each->saves > 0 && !each->is_void && !each->is_small && each->changes) {
            alike[{each->all_saves.low, each->all_saves.high, each->saves}].push_back(each->name);
        }
    }
    std::vector<tied_class> classes;
    for (auto& [of, tensors] : alike) {
        if (tensors.size() >= 2) {
            std::sort(tensors.begin(), tensors.end());
            classes.push_back({std::move(tensors), std::get<2>(of)});
        }
    }
    std::sort(classes.begin(), classes.end(),
              [](const tied_class& one, const tied_class& other) { return one.tensors < other.tensors; });
    return classes;
}

SMDEBUG_INLINE all_facts run_learner::common(std::string run) const {
    all_facts all{.runs = {std::move(run)}, .reductions = kept_};
    all.tied = tied();
    for (const mode in : modes_by_name) {
        if (const auto& steps = modes_[index_of(in)].steps; !steps.empty()) {
            all.modes[in] = {.runs = 1, .last = *std::max_element(steps.begin(), steps.end())};
        }
    }
    return all;
}

SMDEBUG_INLINE tensor_facts run_learner::end_tensor(tensor_state& tensor) const {
    tensor_facts all;
    for (const mode in : modes_by_name) {
        const auto state = std::move(tensor.by_mode[index_of(in)]);
        if (state == nullptr) {
            continue;
        }
        entry_facts& facts = state->facts;
        end_replicas(*state);
        const mode_count& counted = modes_[index_of(in)];
        const save_gap gap = counted.gap(state->last_save, counted.steps.size());
        facts.every = {std::max(facts.every.saves, gap.saves), std::max(facts.every.steps, gap.steps)};
        facts.runs = 1;
        facts.nonnegative =
            facts.nonnegative ? std::optional<std::uint64_t>{state->knows_least ? 1U : 0U} : std::nullopt;
        facts.nonpositive =
            facts.nonpositive ? std::optional<std::uint64_t>{state->knows_greatest ? 1U : 0U} : std::nullopt;
        for (std::size_t i = 0; i < number_count; ++i) {
            if (const auto numbers = std::move(state->numbers[i])) {
                facts.numbers.emplace(static_cast<number>(i), numbers->series());
            }
        }
        all.by_mode.emplace(in, std::move(facts));
    }
    return all;
}

SMDEBUG_INLINE all_facts run_learner::finish(std::string run) {
    all_facts all{.reductions = kept_};
    finish_into(all, std::move(run));
    return all;
}

SMDEBUG_INLINE void run_learner::finish_into(all_facts& facts, std::string run) {
    const std::vector<run_place> places = facts.begin_join(common(std::move(run)));
    for (const auto& tensor : tensors_) {
        facts.join_tensor(tensor->name, end_tensor(*tensor), places);
    }
    *this = run_learner{kept_};
}

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
