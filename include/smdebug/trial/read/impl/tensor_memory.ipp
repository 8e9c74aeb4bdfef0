// The bodies of <smdebug/trial/read/tensor_memory.hpp>.
#pragma once

#include <smdebug/trial/read/tensor_memory.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE const known_tensor* tensor_memory::saves_of_tensor::find(step_number step,
                                                                        std::string_view worker) const noexcept {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (steps_[i] == step && saves_[i].worker == worker) {
            return &saves_[i];
        }
    }
    return nullptr;
}

SMDEBUG_INLINE tensor_memory::saves_of_tensor& tensor_memory::saves_of(std::string_view name) {
    const auto tensor = reductions_.find(name);
    return tensor != reductions_.end() ? tensor->second
                                       : reductions_.emplace(std::string{name}, saves_of_tensor{}).first->second;
}

SMDEBUG_INLINE const known_tensor* tensor_memory::find(std::string_view name, step_number step,
                                                       std::string_view worker) const {
    const auto tensor = reductions_.find(name);
    return tensor != reductions_.end() ? tensor->second.find(step, worker) : nullptr;
}

SMDEBUG_INLINE known_tensor& tensor_memory::keep(std::string_view name, step_number step, std::string_view worker) {
    saves_of_tensor& of = saves_of(name);
    for (std::size_t i = 0; i < of.steps_.size(); ++i) {
        if (of.steps_[i] == step && of.saves_[i].worker == worker) {
            return of.saves_[i];
        }
    }
    if (std::find(of.workers_.begin(), of.workers_.end(), worker) == of.workers_.end()) {
        of.workers_.emplace_back(worker);
    }
    if (of.saves_.size() < kept_saves * of.workers_.size()) {
        of.steps_.push_back(step);
        of.saves_.emplace_back();
        of.next_ = of.saves_.size() - 1;
    }
    known_tensor& place = of.saves_[of.next_];
    of.steps_[of.next_] = step;
    of.next_ = (of.next_ + 1) % of.saves_.size();
    place.step = step;
    place.worker.assign(worker);
    place.reduced = false;
    place.answers.clear();
    return place;
}

SMDEBUG_INLINE std::optional<tensor_value> tensor_memory::find_value(std::string_view name, step_number step,
                                                                     std::string_view worker) const {
    for (auto kept = values_.rbegin(); kept != values_.rend(); ++kept) {
        if (kept->step == step && kept->name == name && kept->worker == worker) {
            return kept->value;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE void tensor_memory::forget_values_before(step_number step) {
    std::erase_if(values_, [&](const kept_value& kept) {
        const bool old = kept.step < step;
        bytes_kept_ -= old ? kept.value.bytes().size() : 0;
        return old;
    });
}

SMDEBUG_INLINE void tensor_memory::keep_value(std::string_view name, step_number step, std::string_view worker,
                                              const tensor_value& value) {
    const std::size_t size = value.bytes().size();
    if (size > value_bytes_) {
        return;
    }
    while (!values_.empty() && (bytes_kept_ + size > value_bytes_ || values_.size() == most_values)) {
        bytes_kept_ -= values_.front().value.bytes().size();
        values_.pop_front();
    }
    bytes_kept_ += size;
    values_.push_back({std::string{name}, step, std::string{worker}, value});
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
