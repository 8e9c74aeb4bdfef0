// What has been read of a run's tensors lately, for rules that ask for the same again.
// Used by: rules/shared_trial.hpp.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is known of a tensor that one worker saved at one step.
struct known_reductions {
    step_number step = -1;
    std::string worker;
    reduction_values found;  ///< saved ones as they were saved, the others computed, counts where there are values
};

/// Reductions of the last few saves of each tensor, and values up to a number of bytes.
/// Memory: 16 saves (400 bytes each) of each tensor and worker that was asked for, and `value_bytes`.
/// Threads: one at a time.
class tensor_memory {
public:
    static constexpr std::size_t kept_saves = 16;

    explicit tensor_memory(std::size_t value_bytes) : value_bytes_(value_bytes) {}

    /// Null where it is not (any more) known.  Borrowed until the next keep().
    [[nodiscard]] const known_reductions* find(std::string_view name, step_number step, std::string_view worker) const {
        const auto held = reductions_.find(name);
        if (held == reductions_.end()) {
            return nullptr;
        }
        for (const known_reductions& each : held->second.saves) {
            if (each.step == step && each.worker == worker) {
                return &each;
            }
        }
        return nullptr;
    }

    void keep(std::string_view name, step_number step, std::string_view worker, const reduction_values& found) {
        auto held = reductions_.find(name);
        if (held == reductions_.end()) {
            held = reductions_.emplace(std::string{name}, saves_of_tensor{}).first;
        }
        saves_of_tensor& of = held->second;
        if (std::find(of.workers.begin(), of.workers.end(), worker) == of.workers.end()) {
            of.workers.emplace_back(worker);
        }
        if (of.saves.size() < kept_saves * of.workers.size()) {
            of.saves.emplace_back();
            of.next = of.saves.size() - 1;
        }
        known_reductions& place = of.saves[of.next];
        of.next = (of.next + 1) % of.saves.size();
        place.step = step;
        place.worker.assign(worker);
        place.found = found;
    }

    [[nodiscard]] std::optional<tensor_value> find_value(std::string_view name, step_number step,
                                                         std::string_view worker) const {
        for (auto held = values_.rbegin(); held != values_.rend(); ++held) {
            if (held->step == step && held->name == name && held->worker == worker) {
                return held->value;
            }
        }
        return std::nullopt;
    }

    /// Forgets the values of steps before `step`: their memory is used again, which is faster than new memory.
    void forget_values_before(step_number step) {
        std::erase_if(values_, [&](const kept_value& held) {
            const bool old = held.step < step;
            bytes_kept_ -= old ? held.value.bytes().size() : 0;
            return old;
        });
    }

    /// Forgets older ones where there is no room; one that is too large by itself is not kept.
    void keep_value(std::string_view name, step_number step, std::string_view worker, const tensor_value& value) {
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

private:
    static constexpr std::size_t most_values = 256;  // a look-up walks over them

    struct saves_of_tensor {
        std::vector<known_reductions> saves;  // a ring
        std::size_t next = 0;
        std::vector<std::string> workers;  // that have saved it
    };
    struct kept_value {
        std::string name;
        step_number step = 0;
        std::string worker;
        tensor_value value;
    };

    std::size_t value_bytes_;
    std::unordered_map<std::string, saves_of_tensor, text_hash, std::equal_to<>> reductions_;
    std::deque<kept_value> values_;
    std::size_t bytes_kept_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
