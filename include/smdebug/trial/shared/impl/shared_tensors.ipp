// The bodies of <smdebug/trial/shared/shared_tensors.hpp>.
#pragma once

#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/shared/shared_tensors.hpp>

#include <algorithm>
#include <exception>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void shared_tensors::begin_step(step_number step, std::optional<step_number> end) {
    const std::lock_guard lock{mutex_};
    memory_.forget_values_before(previous_step_);
    previous_step_ = step;
    files_.begin_step(step, end);
    ++turn_;
    if (!ahead_.empty() && step >= ahead_steps_.front()) {
        for (auto& part : std::exchange(ahead_, {})) {
            keep(part.get());
        }
        covered_ = std::exchange(ahead_steps_, {});
    }
    const bool is_covered = std::binary_search(covered_.begin(), covered_.end(), step);
    if (is_covered && (!ahead_.empty() || !look_ahead_)) {
        return;
    }
    questions_by_tensor questions = asked_lately();
    if (questions.empty()) {
        return;
    }
    if (!is_covered) {
        const bool alone = ahead_.empty();
        keep(measuring_scan(state_, {step, step + 1}, questions, alone ? last_saves_.get() : nullptr,
                            alone ? faster_.front().get() : nullptr));
    }
    if (look_ahead_ && ahead_.empty()) {
        ahead_steps_ =
            files_.steps_to_reduce(covered_.empty() ? step : std::max(step, covered_.back()), end, most_ahead);
        if (!ahead_steps_.empty()) {
            begin_ahead(std::move(questions));
        }
    }
}

SMDEBUG_INLINE void shared_tensors::begin_ahead(questions_by_tensor questions) {
    const step_range all{ahead_steps_.front(), ahead_steps_.back() + 1};
    std::vector<std::unique_ptr<thread_lease>> lent;
    while (threads_ && lent.size() < ahead_steps_.size()) {
        auto thread = threads_->take();
        if (!thread) {
            break;
        }
        lent.push_back(std::move(thread));
    }
    if (lent.size() < 2) {
        return begin_part(lent.empty() ? nullptr : std::move(lent.front()), all, std::move(questions), last_saves_);
    }
    // Comparisons need the steps one behind another, all else does not.
    questions_by_tensor comparing;
    for (const auto& [name, asked] : questions) {
        for (const tensor_questions::numbered& each : asked.measures) {
            if (each.measure->compares()) {
                comparing[name].measures.push_back(each);
            }
        }
    }
    if (!comparing.empty()) {
        begin_part(std::move(lent.back()), all, std::move(comparing), last_saves_);
        lent.pop_back();
    }
    const std::size_t parts = lent.size();
    for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t first = ahead_steps_.size() * i / parts;
        const std::size_t last = ahead_steps_.size() * (i + 1) / parts - 1;
        begin_part(std::move(lent[i]), {ahead_steps_[first], ahead_steps_[last] + 1}, questions, nullptr);
    }
}

SMDEBUG_INLINE void shared_tensors::begin_part(std::unique_ptr<thread_lease> thread, const step_range& range,
                                               questions_by_tensor questions, std::shared_ptr<last_saves> previous) {
    if (faster_.size() == ahead_.size()) {
        faster_.push_back(std::make_shared<faster_way>());
    }
    const bool in_turn = threads_ && !thread;  // on the thread that walks, when it comes to these steps
    const std::shared_ptr<thread_lease> lease = std::move(thread);
    ahead_.push_back(begun_scan{!in_turn, [state = state_, range, lease, asked = std::move(questions),
                                           kept = std::move(previous), faster = faster_[ahead_.size()]]() mutable {
                                    const auto working =
                                        std::move(lease);  // given back when this thread has done its work
                                    try {
                                        if (working) {
                                            working->begin();
                                        }
                                        return measuring_scan(state, range, asked, kept.get(), faster.get());
                                    } catch (const std::exception&) {  // comes again when the step is asked for
                                        return std::vector<measured_tensor>{};
                                    }
                                }});
}

SMDEBUG_INLINE shared_tensors::tensor_share& shared_tensors::share_of(const std::string& name) {
    const std::lock_guard lock{mutex_};
    tensor_share& share = shares_.try_emplace(name, *this).first->second;
    if (share.saves == nullptr) {
        share.name = name;
        share.saves = &memory_.saves_of(name);
    }
    return share;
}

SMDEBUG_INLINE std::optional<reduction_values> shared_tensors::reductions(tensor_share& of, step_number step,
                                                                          const std::string& worker) {
    const std::lock_guard lock{mutex_};
    const reduction_values* const known = known_reductions(of, step, worker);
    return known != nullptr ? std::optional{*known} : std::nullopt;
}

SMDEBUG_INLINE const reduction_values* shared_tensors::known_reductions(tensor_share& of, step_number step,
                                                                        const std::string& worker) {
    if (of.reduced_turn != turn_ || turn_ == 0) {
        files_.note_reduced(of.name);
        of.reduced_turn = turn_;
    }
    const known_tensor* known = of.saves->find(step, worker);
    if ((known == nullptr || !known->reduced) && !is_unreadable(step, worker)) {
        keep(measuring_scan(state_, {step, step + 1}, {{of.name, {.reductions = true}}}, nullptr));
        known = of.saves->find(step, worker);
    }
    return known != nullptr && known->reduced ? &known->found : nullptr;
}

SMDEBUG_INLINE void shared_tensors::expect(tensor_share& of) {
    const std::lock_guard lock{mutex_};
    note_read(of);
}

SMDEBUG_INLINE std::vector<step_number> shared_tensors::last_steps(const std::string& name, step_number step,
                                                                   std::size_t n, mode in,
                                                                   function_ref<std::vector<step_number>()> steps,
                                                                   function_ref<std::vector<step_number>()> slowly) {
    const std::lock_guard lock{mutex_};
    if (in == mode::global || !state_->current()->loaded_all_steps) {
        return slowly();
    }
    auto& known = steps_[name][catalog::place_of(in)];
    if (!known) {
        if (kept_steps_ > most_kept_steps) {
            return slowly();
        }
        known = steps();
        kept_steps_ += known->size();
    }
    const auto end = std::upper_bound(known->begin(), known->end(), step);
    const auto count = std::min(n, static_cast<std::size_t>(end - known->begin()));
    return {end - static_cast<std::ptrdiff_t>(count), end};
}

SMDEBUG_INLINE lookup<any_measure::answer> shared_tensors::answer(tensor_share& of, step_number step,
                                                                  const std::string& worker, step_number earlier,
                                                                  const any_measure& measure,
                                                                  function_ref<lookup<any_measure::answer>()> compute) {
    std::optional<measure_list::number> number;
    {
        const std::lock_guard lock{mutex_};
        note_read(of);
        number = measures_.number_of(measure);
        if (number) {
            note_asked(of, *number);
            if (const auto* known = find_answer(of, step, worker, *number, earlier)) {
                return known->bytes;
            }
        }
    }
    lookup<any_measure::answer> computed = compute();
    if (computed && number) {
        const std::lock_guard lock{mutex_};
        memory_.keep(of.name, step, worker).answers.push_back({*number, earlier, *computed});
    }
    return computed;
}

SMDEBUG_INLINE lookup<tensor_value> shared_tensors::value(const std::string& name, step_number step,
                                                          const std::string& worker,
                                                          function_ref<lookup<tensor_value>()> read) {
    {
        const std::lock_guard lock{mutex_};
        if (auto known = memory_.find_value(name, step, worker)) {
            return *std::move(known);
        }
    }
    lookup<tensor_value> answer = read();
    if (answer) {
        const std::lock_guard lock{mutex_};
        memory_.keep_value(name, step, worker, *answer);
    }
    return answer;
}

SMDEBUG_INLINE void shared_tensors::note_asked(tensor_share& of, measure_list::number number) {
    for (asked_measure& each : of.asked) {
        if (each.number == number) {
            each.turns += each.turn != turn_ ? 1 : 0;
            each.turn = turn_;
            return;
        }
    }
    of.asked.push_back({number, turn_, 1});
}

SMDEBUG_INLINE const remembered_answer* shared_tensors::find_answer(const tensor_share& of, step_number step,
                                                                    const std::string& worker,
                                                                    measure_list::number number,
                                                                    step_number earlier) const {
    if (const known_tensor* known = of.saves->find(step, worker)) {
        for (const remembered_answer& each : known->answers) {
            if (each.measure == number && each.earlier == earlier) {
                return &each;
            }
        }
    }
    return nullptr;
}

SMDEBUG_INLINE questions_by_tensor shared_tensors::asked_lately() const {
    questions_by_tensor questions;
    for (const std::string& name : files_.reduced_lately()) {
        questions[name].reductions = true;
    }
    for (const auto& [name, share] : shares_) {
        for (const asked_measure& each : share.asked) {
            if (each.turn + std::clamp(each.turns, least_remembered_turns, remembered_turns) >= turn_) {
                questions[name].measures.push_back({each.number, measures_[each.number]});
            }
        }
    }
    return questions;
}

SMDEBUG_INLINE void shared_tensors::keep(std::vector<measured_tensor> all) {
    for (measured_tensor& each : all) {
        if (each.file_failed) {
            if (unreadable_.size() == most_unreadable) {
                unreadable_.clear();
            }
            unreadable_.emplace(each.what.step, each.what.worker);
            continue;
        }
        known_tensor& kept = memory_.keep(each.name, each.what.step, each.what.worker);
        if (each.what.reduced) {
            kept.found = each.what.found;
            kept.reduced = true;
        }
        kept.answers.insert(kept.answers.end(), each.what.answers.begin(), each.what.answers.end());
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
