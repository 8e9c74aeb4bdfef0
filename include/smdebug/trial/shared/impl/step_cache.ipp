// The bodies of <smdebug/trial/shared/step_cache.hpp>.
#pragma once

#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/shared/scan_onlooker.hpp>
#include <smdebug/trial/shared/step_cache.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE const known_save* shared_tensor::find(step_number step, std::string_view worker) const noexcept {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i] == step && saves[i].worker == worker) {
            return &saves[i];
        }
    }
    return nullptr;
}

SMDEBUG_INLINE known_save& shared_tensor::keep(step_number step, std::string_view worker) {
    if (const known_save* const known = find(step, worker)) {
        return saves[static_cast<std::size_t>(known - saves.data())];
    }
    if (std::find(workers.begin(), workers.end(), worker) == workers.end()) {
        workers.emplace_back(worker);
    }
    if (saves.size() < kept_saves * workers.size()) {
        steps.push_back(step);
        saves.emplace_back();
        next = saves.size() - 1;
    }
    known_save& place = saves[next];
    steps[next] = step;
    next = (next + 1) % saves.size();
    place.step = step;
    place.worker.assign(worker);
    place.reductions.reset();
    place.value.reset();
    place.answers.clear();
    return place;
}

SMDEBUG_INLINE step_cache::step_cache(std::shared_ptr<const trial_state> state, const sharing_options* sharing,
                                      std::shared_ptr<scan_onlooker> onlooker)
    : state_(std::move(state)), onlooker_(std::move(onlooker)) {
    if (sharing != nullptr) {
        how_ = *sharing;
        prefetch_.emplace(state_, how_.file_bytes);
        last_saves_.most_bytes = how_.value_bytes;
    }
    if (onlooker_) {
        is_learning_ = true;
        surprised_turn_ = turn_;
        for (const std::string& name : onlooker_->names()) {
            shared_tensor& of = tensors_[name];
            of.name = name;
            of.is_looked_at = true;
        }
    }
}

SMDEBUG_INLINE read_log& step_cache::log() noexcept { return log_; }

SMDEBUG_INLINE bool step_cache::fetches_files() const noexcept { return prefetch_ && prefetch_->fetches(); }

SMDEBUG_INLINE void step_cache::begin_step(const catalog& from, step_number step, std::optional<step_number> end) {
    const std::lock_guard lock{mutex_};
    const step_number before = step_.value_or(0);
    note_files(from, step);
    if (!prefetch_) {
        return;
    }
    std::erase_if(values_, [&](const kept_value& kept) {
        const bool old = !is_learning_ && kept.step < before;
        value_bytes_ -= old ? kept.value.bytes().size() : 0;
        return old;
    });
    is_learning_ = is_learning_ && (turn_ <= first_turns || surprised_turn_ == turn_);
    ++turn_;
    if (prefetch_->fetches()) {
        std::vector<std::string> names;
        for (const auto& [name, of] : tensors_) {
            if (of.is_looked_at || is_recent(of.reduced_turn) || is_recent(of.read_turn)) {
                names.push_back(name);
            }
        }
        prefetch_->begin_step(step, end, std::move(names));
    }
    if (ahead_ != nullptr && !ahead_->reaches(step)) {
        end_ahead();
    }
    bool is_new = false;
    while (ahead_ != nullptr && ahead_->has(step)) {
        covered_ = ahead_->take([&](std::vector<known_save>& found) { keep(found); });
        is_new = true;
    }
    if (ahead_ != nullptr && ahead_->is_used_up()) {
        end_ahead();
    }
    const bool is_covered = std::binary_search(covered_.begin(), covered_.end(), step);
    const bool begins = how_.look_ahead && ahead_ == nullptr;
    if (is_covered && !is_new && !begins) {
        return;
    }
    questions_by_tensor asked = asked_lately();
    if (asked.empty()) {
        return;
    }
    if (!is_covered) {
        const bool alone = ahead_ == nullptr;
        scan_onlooker* const onlooker = alone && step >= looked_at_end_ ? onlooker_.get() : nullptr;
        looked_at_end_ = onlooker != nullptr ? step + 1 : looked_at_end_;
        std::vector<known_save> found;
        scan_steps({step, step + 1}, asked, alone ? &last_saves_ : nullptr, onlooker, found);
        keep(found);
    }
    if (ahead_ != nullptr) {
        ahead_->ask(std::move(asked));
    } else if (begins) {
        const std::size_t most = is_learning_ ? 1 : how_.threads ? most_steps_lent : most_steps_ahead;
        auto steps = prefetch_->steps_after(covered_.empty() ? step : std::max(step, covered_.back()), end, most);
        if (!steps.empty()) {
            begin_ahead(std::move(steps), std::move(asked));
        }
    }
}

SMDEBUG_INLINE void step_cache::note_files(const catalog& from, step_number step) {
    step_files now;
    if (const auto* entry = from.find_step(step)) {
        now.job = from.job;
        for (const catalog::file& written : entry->files()) {
            now.layouts.push_back(from.layouts[written.layout]);
            now.workers.push_back(written.worker);
        }
    }
    if (now != files_) {
        files_ = std::move(now);
        forget();
    }
    step_ = step;
}

SMDEBUG_INLINE std::vector<std::string> step_cache::tensor_names(const tensor_names_options& which,
                                                                 function_ref<std::vector<std::string>()> ask) {
    using names = std::vector<std::string>;
    if (!which.step || which.step != step_ || which.mode != mode::global) {
        return ask();
    }
    const auto make = [&]() -> std::shared_ptr<const void> { return std::make_shared<const names>(ask()); };
    const auto found = kept(typeid(tensor_names_options), which.regex.given(),
                            which.collection ? names{which.collection->name()} : names{}, which.regex.texts(), make);
    return *std::static_pointer_cast<const names>(found);
}

SMDEBUG_INLINE std::shared_ptr<const void> step_cache::cached_for_step(
    step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
    function_ref<std::shared_ptr<const void>()> make) {
    const bool is_shared = prefetch_ && step == step_;
    return is_shared ? kept(type, true, collections.texts(), regexes.texts(), make) : nullptr;
}

SMDEBUG_INLINE std::shared_ptr<const void> step_cache::kept(std::type_index type, bool has_regexes,
                                                            const std::vector<std::string>& collections,
                                                            const std::vector<std::string>& regexes,
                                                            function_ref<std::shared_ptr<const void>()> make) {
    {
        const auto known = kept_.lock();
        if (const auto same = known->find(std::tie(type, has_regexes, collections, regexes)); same != known->end()) {
            return same->second;
        }
    }
    std::shared_ptr<const void> made = make();
    kept_.lock()->insert_or_assign(choice{type, has_regexes, collections, regexes}, made);
    return made;
}

SMDEBUG_INLINE void step_cache::forget() noexcept {
    const auto dropped = std::exchange(*kept_.lock(), {});  // freed after the lock is released
}

SMDEBUG_INLINE shared_tensor* step_cache::share_of(const std::string& name) {
    if (!prefetch_) {
        return nullptr;
    }
    const std::lock_guard lock{mutex_};
    const auto [place, is_new] = tensors_.try_emplace(name);
    if (is_new) {
        place->second.name = name;
    }
    return &place->second;
}

SMDEBUG_INLINE void step_cache::expect(shared_tensor& of) {
    const std::lock_guard lock{mutex_};
    note_asked(of, of.read_turn);
}

SMDEBUG_INLINE bool step_cache::reductions(shared_tensor& of, step_number step, const std::string& worker,
                                           function_ref<void(const reduction_values&)> use) {
    const std::lock_guard lock{mutex_};
    note_asked(of, of.reduced_turn);
    const known_save* known = of.find(step, worker);
    if ((known == nullptr || !known->reductions) && !unreadable_.contains({step, worker})) {
        std::vector<known_save> found;
        scan_steps({step, step + 1}, {{of.name, {.of = &of, .reductions = true}}}, nullptr, nullptr, found);
        keep(found);
        known = of.find(step, worker);
    }
    if (known == nullptr || !known->reductions) {
        return false;
    }
    use(*known->reductions);
    return true;
}

SMDEBUG_INLINE lookup<any_measure::answer> step_cache::answer(shared_tensor& of, step_number step,
                                                              const std::string& worker, step_number earlier,
                                                              const any_measure& asked,
                                                              function_ref<lookup<any_measure::answer>()> compute) {
    earlier = asked.compares() ? earlier : -1;
    const any_measure* measure = nullptr;
    {
        const std::lock_guard lock{mutex_};
        note_asked(of, of.read_turn);
        measure = remembered(asked);
        if (measure != nullptr) {
            note_asked(of, measure);
            const known_save* const known = of.find(step, worker);
            for (std::size_t i = 0; known != nullptr && i < known->answers.size(); ++i) {
                if (known->answers[i].measure == measure && known->answers[i].earlier == earlier) {
                    return known->answers[i].result;
                }
            }
        }
        surprised_turn_ = turn_;
    }
    lookup<any_measure::answer> computed = compute();
    if (computed && measure != nullptr) {
        const std::lock_guard lock{mutex_};
        of.keep(step, worker).answers.push_back({measure, earlier, *computed});
    }
    return computed;
}

SMDEBUG_INLINE lookup<tensor_value> step_cache::value(shared_tensor& of, step_number step, const std::string& worker,
                                                      function_ref<lookup<tensor_value>()> read) {
    {
        const std::lock_guard lock{mutex_};
        surprised_turn_ = of.value_turn != 0 ? surprised_turn_ : turn_;
        of.value_turn = turn_;
        if (const known_save* const save = of.find(step, worker); save != nullptr && save->value) {
            return *save->value;
        }
        const auto known = std::find_if(values_.rbegin(), values_.rend(), [&](const kept_value& each) {
            return each.of == &of && each.step == step && each.worker == worker;
        });
        if (known != values_.rend()) {
            return known->value;
        }
    }
    lookup<tensor_value> found = read();
    if (found) {
        const std::lock_guard lock{mutex_};
        keep(of, step, worker, *found);
    }
    return found;
}

SMDEBUG_INLINE void step_cache::keep(const shared_tensor& of, step_number step, std::string worker,
                                     tensor_value value) {
    const std::size_t size = value.bytes().size();
    if (size > how_.value_bytes) {
        return;
    }
    const std::size_t most = is_learning_ ? most_first_values : most_values;
    while (!values_.empty() && (value_bytes_ + size > how_.value_bytes || values_.size() >= most)) {
        value_bytes_ -= values_.front().value.bytes().size();
        values_.pop_front();
    }
    value_bytes_ += size;
    values_.push_back({&of, step, std::move(worker), std::move(value)});
}

SMDEBUG_INLINE std::vector<step_number> step_cache::last_steps(shared_tensor& of, step_number step, std::size_t n,
                                                               mode in, function_ref<std::vector<step_number>()> steps,
                                                               function_ref<std::vector<step_number>()> fallback) {
    const std::lock_guard lock{mutex_};
    if (in == mode::global || !state_->current()->loaded_all_steps) {
        return fallback();
    }
    auto& known = of.steps_by_mode[catalog::place_of(in)];
    if (!known) {
        if (kept_steps_ > most_kept_steps) {
            return fallback();
        }
        known = steps();
        kept_steps_ += known->size();
    }
    const auto end = std::upper_bound(known->begin(), known->end(), step);
    const auto count = std::min(n, static_cast<std::size_t>(end - known->begin()));
    return {end - static_cast<std::ptrdiff_t>(count), end};
}

SMDEBUG_INLINE void step_cache::note_asked(shared_tensor& of, std::uint64_t& turn) {
    if (turn != turn_) {
        const bool is_unexpected = !is_recent(of.reduced_turn) && !is_recent(of.read_turn);
        turn = turn_;
        if (is_unexpected) {
            prefetch_->fetch(of.name);
        }
    }
}

SMDEBUG_INLINE void step_cache::note_asked(shared_tensor& of, const any_measure* measure) const {
    for (shared_tensor::asked_measure& each : of.asked) {
        if (each.measure == measure) {
            each.turns += each.turn != turn_ ? 1 : 0;
            each.turn = turn_;
            return;
        }
    }
    of.asked.push_back({measure, turn_, 1});
}

SMDEBUG_INLINE const any_measure* step_cache::remembered(const any_measure& measure) {
    for (const auto& each : measures_) {
        if (each->equals(measure)) {
            return each.get();
        }
    }
    return measures_.size() < most_measures ? measures_.emplace_back(measure.copy()).get() : nullptr;
}

SMDEBUG_INLINE questions_by_tensor step_cache::asked_lately() {
    questions_by_tensor all;
    for (auto& [name, tensor] : tensors_) {
        const bool reads_values = tensor.value_turn != 0 && tensor.value_turn + least_remembered_turns >= turn_;
        tensor_questions asked{.of = &tensor,
                               .reductions = tensor.is_looked_at || is_recent(tensor.reduced_turn),
                               .values = is_learning_ || (onlooker_ && reads_values),
                               .small_values = tensor.is_looked_at || tensor.value_turn != 0};
        for (const shared_tensor::asked_measure& each : tensor.asked) {
            if (each.turn + std::clamp(each.turns, least_remembered_turns, remembered_turns) >= turn_) {
                asked.measures.push_back(each.measure);
            }
        }
        if (asked.reductions || asked.values || !asked.measures.empty()) {
            all.emplace(name, std::move(asked));
        }
    }
    return all;
}

SMDEBUG_INLINE void step_cache::begin_ahead(std::vector<step_number> steps, questions_by_tensor asked) {
    std::vector<thread_permit> lent;
    const bool in_turn = is_in_memory({steps.front(), steps.back() + 1});  // a thread would take longer to begin
    unsigned threads = in_turn || how_.threads ? 0 : 1;
    const std::size_t most = in_turn ? 0 : onlooker_ ? 1 : how_.most_threads;
    while (how_.threads && threads < most) {
        thread_permit thread = how_.threads->try_acquire();
        if (!thread) {
            break;
        }
        lent.push_back(std::move(thread));
        ++threads;
    }
    ahead_ = std::make_unique<steps_ahead>(
        std::move(steps), onlooker_ ? scanned_at_once / 2 : scanned_at_once, threads, std::move(lent), std::move(asked),
        [this](const step_range& range, const questions_by_tensor& now, bool compared, std::vector<known_save>& found) {
            scan_steps(range, now, compared ? &last_saves_ : nullptr, onlooker_.get(), found);
        });
}

SMDEBUG_INLINE void step_cache::end_ahead() {
    if (ahead_ != nullptr) {
        looked_at_end_ = std::max(looked_at_end_, ahead_->stop().value_or(-1) + 1);
        ahead_.reset();
    }
}

SMDEBUG_INLINE bool step_cache::is_in_memory(const step_range& steps) const {
    constexpr std::size_t most = 256;
    const auto from = state_->current();
    const auto files = from->files_in(steps);
    return std::all_of(files.begin(), files.end(), [&](const catalog::file* file) {
        const layout& entries = from->layout_of(*file);
        std::size_t i = 0;
        while (i < std::min(entries.size(), most) && entries[i].record.length == 0) {
            ++i;
        }
        return i == entries.size();
    });
}

/// Whether values are stored with their save.
[[nodiscard]] inline bool is_small(const tensor_view& values) noexcept {
    return values.strings.empty() && values.bytes.size() <= shared_tensor::small_value;
}

SMDEBUG_INLINE void step_cache::scan_steps(const step_range& range, const questions_by_tensor& asked,
                                           last_saves* previous, scan_onlooker* onlooker,
                                           std::vector<known_save>& found) const {
    std::vector<std::string> names;
    std::vector<std::string> measured;
    names.reserve(asked.size());
    for (const auto& [name, one] : asked) {
        names.emplace_back(name);
        if (!one.measures.empty() || one.values) {
            measured.emplace_back(name);
        }
    }
    scan_options options{
        .which = {.names = std::move(names), .range = range},
        .reading = {.in_place = true, .defer_checks = true, .keep_repeats = state_->kernel().abilities().repeats},
        .values_of = std::move(measured)};
    const auto look = [&](const tensor_questions& one, const scanned_tensor& tensor, const reduced_tensor& now) {
        if (now.file_failed) {
            const bool is_known = !found.empty() && found.back().of == nullptr && found.back().step == tensor.step &&
                                  found.back().worker == tensor.worker;
            if (!is_known) {
                found.push_back({.step = tensor.step, .worker = std::string{tensor.worker}});
            }
        } else if (now.failure == nullptr) {
            known_save& save =
                found.emplace_back(known_save{.of = one.of, .step = tensor.step, .worker = std::string{tensor.worker}});
            if (one.reductions) {
                save.reductions = now.reductions;
            }
            measure(one, tensor, previous, save.answers);  // after the reductions, which verify the bytes
            const decoded_tensor* const values = tensor.repeats() == 0 ? tensor.values() : nullptr;
            if (values != nullptr && (one.values || (one.small_values && is_small(values->view())))) {
                save.value = copy_of(*values);
            }
        }
    };
    reduced_tensor now;
    const auto visit = [&](const scanned_tensor& tensor) {
        if (const auto about = asked.find(tensor.name); about != asked.end()) {
            const bool is_reduced = about->second.reductions || onlooker != nullptr;
            reduce_into(tensor, is_reduced ? reduction_set::all() : reduction_set{}, state_->kernel(), now);
            if (onlooker != nullptr) {
                onlooker->look(tensor, now);
            }
            look(about->second, tensor, now);
        }
    };
    try {
        options.reading.stream = onlooker == nullptr || !onlooker->begin(range);
        static_cast<void>(scan(state_, options, visit));
    } catch (...) {
        if (onlooker != nullptr) {
            onlooker->fail(std::current_exception());
        }
        throw;
    }
}

SMDEBUG_INLINE void step_cache::measure(const tensor_questions& asked, const scanned_tensor& tensor,
                                        last_saves* previous, std::vector<known_save::answer>& answers) {
    if (tensor.values() == nullptr || tensor.repeats() > 0) {
        return;
    }
    const tensor_view now = tensor.values()->view();
    last_save* last = nullptr;
    for (const any_measure* const measure : asked.measures) {
        try {
            if (!measure->compares()) {
                answers.push_back({measure, -1, (*measure)(nullptr, now)});
            } else if (previous != nullptr && now.strings.empty()) {
                last = &previous->by_tensor[{asked.of, std::string{tensor.worker}, tensor.mode}];
                if (last->step >= 0 && last->step < tensor.step) {
                    const tensor_view before{last->type, last->shape, last->bytes, {}};
                    answers.push_back({measure, last->step, (*measure)(&before, now)});
                }
            }
        } catch (const std::exception&) {  // thrown again when it is computed for a rule
            continue;
        }
    }
    if (last != nullptr) {
        previous->replace(*last, tensor.step, now);
    }
}

SMDEBUG_INLINE void step_cache::last_saves::replace(last_save& kept, step_number step, const tensor_view& values) {
    bytes -= kept.bytes.size();
    if (values.bytes.size() > most_bytes - std::min(bytes, most_bytes)) {
        kept = {};
        return;
    }
    kept.step = step;
    kept.type = values.type;
    kept.shape.assign(values.shape.begin(), values.shape.end());
    kept.bytes.assign(values.bytes.begin(), values.bytes.end());
    bytes += kept.bytes.size();
}

SMDEBUG_INLINE void step_cache::keep(std::vector<known_save>& found) {
    for (known_save& each : found) {
        if (each.of == nullptr) {
            if (unreadable_.size() == most_unreadable) {
                unreadable_.clear();
            }
            unreadable_.emplace(each.step, std::move(each.worker));
            continue;
        }
        known_save& known = each.of->keep(each.step, each.worker);
        if (each.reductions) {
            known.reductions = each.reductions;
        }
        known.answers.insert(known.answers.end(), std::make_move_iterator(each.answers.begin()),
                             std::make_move_iterator(each.answers.end()));
        if (each.value && is_small(*each.value)) {
            known.value = std::move(each.value);
        } else if (each.value) {
            keep(*each.of, each.step, std::move(each.worker), *std::move(each.value));
        }
    }
}

SMDEBUG_INLINE std::shared_ptr<rule_view> view_for_rules(const std::shared_ptr<const trial_state>& state,
                                                         const sharing_options* sharing,
                                                         std::shared_ptr<scan_onlooker> onlooker) {
    return std::make_shared<step_cache>(state, sharing, std::move(onlooker));
}

}  // namespace smdebug::inline v1::detail
