// The bodies of <smdebug/trial/shared_trial.hpp> that are templates.
#pragma once

#include <smdebug/trial/shared/impl/measuring_scan.tpp>
#include <smdebug/trial/shared_trial.hpp>

#include <algorithm>
#include <exception>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial>
void shared_tensors<Trial>::begin_step(step_number step, std::optional<step_number> end) {
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
        keep(measuring_scan(run_, {step, step + 1}, questions, alone ? last_saves_.get() : nullptr,
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

template <class Trial>
void shared_tensors<Trial>::begin_ahead(questions_by_tensor questions) {
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

template <class Trial>
void shared_tensors<Trial>::begin_part(std::unique_ptr<thread_lease> thread, const step_range& range,
                                       questions_by_tensor questions, std::shared_ptr<last_saves> previous) {
    if (faster_.size() == ahead_.size()) {
        faster_.push_back(std::make_shared<faster_way>());
    }
    const bool in_turn = threads_ && !thread;  // on the thread that walks, when it comes to these steps
    const std::shared_ptr<thread_lease> lease = std::move(thread);
    ahead_.push_back(begun_scan{!in_turn, [run = run_, range, lease, asked = std::move(questions),
                                           kept = std::move(previous), faster = faster_[ahead_.size()]]() mutable {
                                    const auto working =
                                        std::move(lease);  // given back when this thread has done its work
                                    try {
                                        if (working) {
                                            working->begin();
                                        }
                                        return measuring_scan(run, range, asked, kept.get(), faster.get());
                                    } catch (const std::exception&) {  // comes again when the step is asked for
                                        return std::vector<measured_tensor>{};
                                    }
                                }});
}

template <class Trial>
typename shared_tensors<Trial>::tensor_share& shared_tensors<Trial>::share_of(const std::string& name) {
    const std::lock_guard lock{mutex_};
    tensor_share& share = shares_[name];
    if (share.saves == nullptr) {
        share.name = name;
        share.saves = &memory_.saves_of(name);
    }
    return share;
}

template <class Trial>
const reduction_values* shared_tensors<Trial>::reductions(tensor_share& of, step_number step,
                                                          const std::string& worker) {
    if (of.reduced_turn != turn_ || turn_ == 0) {
        files_.note_reduced(of.name);
        of.reduced_turn = turn_;
    }
    const known_tensor* known = of.saves->find(step, worker);
    if ((known == nullptr || !known->reduced) && !is_unreadable(step, worker)) {
        keep(measuring_scan(run_, {step, step + 1}, {{of.name, {.reductions = true}}}, nullptr));
        known = of.saves->find(step, worker);
    }
    return known != nullptr && known->reduced ? &known->found : nullptr;
}

template <class Trial>
void shared_tensors<Trial>::expect(tensor_share& of) {
    const std::lock_guard lock{mutex_};
    note_read(of);
}

template <class Trial>
std::vector<step_number> shared_tensors<Trial>::last_steps(const typename Trial::tensor_type& tensor, step_number step,
                                                           std::size_t n, mode in) {
    const std::lock_guard lock{mutex_};
    const auto slowly = [&] { return tensor.prev_steps(step, {.n = static_cast<std::int64_t>(n), .mode = in}); };
    if (in == mode::global || !run_.snapshot()->loaded_all_steps) {
        return slowly();
    }
    auto& known = steps_[tensor.name()][catalog::place_of(in)];
    if (!known) {
        if (kept_steps_ > most_kept_steps) {
            return slowly();
        }
        known = tensor.steps({.mode = in});
        kept_steps_ += known->size();
    }
    const auto end = std::upper_bound(known->begin(), known->end(), step);
    const auto count = std::min(n, static_cast<std::size_t>(end - known->begin()));
    return {end - static_cast<std::ptrdiff_t>(count), end};
}

template <class Trial>
void shared_tensors<Trial>::note_asked(tensor_share& of, measure_list::number number) {
    for (asked_measure& each : of.asked) {
        if (each.number == number) {
            each.turns += each.turn != turn_ ? 1 : 0;
            each.turn = turn_;
            return;
        }
    }
    of.asked.push_back({number, turn_, 1});
}

template <class Trial>
const remembered_answer* shared_tensors<Trial>::find_answer(const tensor_share& of, step_number step,
                                                            const std::string& worker, measure_list::number number,
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

template <class Trial>
questions_by_tensor shared_tensors<Trial>::asked_lately() const {
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

template <class Trial>
void shared_tensors<Trial>::keep(std::vector<measured_tensor> all) {
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

template <class Trial>
std::vector<step_number> detail::shared_tensor<Trial>::prev_steps(step_number step,
                                                                  const prev_steps_options& which) const {
    return which.n && *which.n >= 0 ? shared_->last_steps(*this, step, static_cast<std::size_t>(*which.n), which.mode)
                                    : base::prev_steps(step, which);
}

template <class Trial>
lookup<double> detail::shared_tensor<Trial>::find_reduction(step_number step, reduction what,
                                                            const reduction_options& how) const {
    if (how.mode == mode::global && how.worker) {
        const auto known =
            shared_->use_reductions(*share_, step, *how.worker, [&](const smdebug::reduction_values* all) {
                return all != nullptr && all->computed.contains(what, how.abs) ? std::optional{(*all)(what, how.abs)}
                                                                               : std::nullopt;
            });
        if (known) {
            return *known;
        }
    }
    shared_->expect(*share_);
    return base::find_reduction(step, what, how);
}

template <class Trial>
double detail::shared_tensor<Trial>::reduction_value(step_number step, reduction what,
                                                     const reduction_options& how) const {
    return detail::or_throw(find_reduction(step, what, how));
}

template <class Trial>
lookup<smdebug::reduction_values> detail::shared_tensor<Trial>::find_computed(step_number step, reduction_set wanted,
                                                                              const read_options& where) const {
    if (wanted == reduction_set::counts() && where.mode == mode::global && where.worker) {
        auto known = shared_->use_reductions(*share_, step, *where.worker, [](const smdebug::reduction_values* all) {
            return all != nullptr && all->computed.has_counts() ? std::optional{*all} : std::nullopt;
        });
        if (known) {
            return *std::move(known);
        }
    }
    shared_->expect(*share_);
    return base::find_computed(step, wanted, where);
}

template <class Trial>
std::map<reduction_key, double> detail::shared_tensor<Trial>::reduction_values(step_number step,
                                                                               const read_options& where) const {
    shared_->expect(*share_);
    return base::reduction_values(step, where);
}

template <class Trial>
lookup<tensor_value> detail::shared_tensor<Trial>::find_value(step_number step, const value_options& how) const {
    shared_->expect(*share_);
    const auto read = [&] { return base::find_value(step, how); };
    return how.mode == mode::global && how.worker ? shared_->value(base::name(), step, *how.worker, read) : read();
}

template <class Trial>
tensor_value detail::shared_tensor<Trial>::value(step_number step, const value_options& how) const {
    return detail::or_throw(find_value(step, how));
}

template <scannable_trial Trial>
void shared_trial<Trial>::begin_step(step_number step, std::optional<step_number> end) {
    shared_->begin_step(step, end);
    step_files now;
    if (const auto from = Trial::snapshot(); const auto* entry = from->find_step(step)) {
        now.job = from->job;
        for (const detail::catalog::file& written : entry->files()) {
            now.layouts.push_back(from->layouts[written.layout]);
            now.workers.push_back(written.worker);
        }
    }
    if (now != files_) {
        files_ = std::move(now);
        names_.lock()->clear();
        chosen_.lock()->clear();
    }
    step_ = step;
}

template <scannable_trial Trial>
void shared_trial<Trial>::read_ahead(step_number step) const {
    if constexpr (requires { Trial::read_ahead(step); }) {
        if (!shared_->brings_files()) {
            Trial::read_ahead(step);
        }
    }
}

template <scannable_trial Trial>
std::vector<std::string> shared_trial<Trial>::tensor_names(const tensor_names_options& which) const {
    if (!which.step || which.step != step_ || which.mode != mode::global) {
        return Trial::tensor_names(which);
    }
    const question asked{which.regex.given(), which.regex.texts(),
                         which.collection ? std::optional{which.collection->name()} : std::nullopt};
    {
        const auto cached = names_.lock();
        if (const auto known = cached->find(asked); known != cached->end()) {
            return known->second;
        }
    }
    std::vector<std::string> names = Trial::tensor_names(which);
    return names_.lock()->insert_or_assign(asked, std::move(names)).first->second;
}

}  // namespace v1
}  // namespace smdebug
