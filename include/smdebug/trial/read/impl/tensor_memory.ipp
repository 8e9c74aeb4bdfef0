// The bodies of <smdebug/trial/read/tensor_memory.hpp>.
#pragma once

#include <smdebug/trial/read/tensor_memory.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE const known_tensor* tensor_memory::find(std::string_view name, step_number step,
                                                       std::string_view worker) const {
    const auto tensor = reductions_.find(name);
    if (tensor == reductions_.end()) {
        return nullptr;
    }
    for (const known_tensor& each : tensor->second.saves) {
        if (each.step == step && each.worker == worker) {
            return &each;
        }
    }
    return nullptr;
}

SMDEBUG_INLINE known_tensor& tensor_memory::keep(std::string_view name, step_number step, std::string_view worker) {
    auto tensor = reductions_.find(name);
    if (tensor == reductions_.end()) {
        tensor = reductions_.emplace(std::string{name}, saves_of_tensor{}).first;
    }
    saves_of_tensor& of = tensor->second;
    for (known_tensor& each : of.saves) {
        if (each.step == step && each.worker == worker) {
            return each;
        }
    }
    if (std::find(of.workers.begin(), of.workers.end(), worker) == of.workers.end()) {
        of.workers.emplace_back(worker);
    }
    if (of.saves.size() < kept_saves * of.workers.size()) {
        of.saves.emplace_back();
        of.next = of.saves.size() - 1;
    }
    known_tensor& place = of.saves[of.next];
    of.next = (of.next + 1) % of.saves.size();
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
