// A cache of the tensors that were read last, for rules that ask for the same again.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/read/measure_memory.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is known of a tensor that one worker saved at one step.
struct known_tensor {
    step_number step = -1;
    std::string worker;
    reduction_values found;  ///< saved ones as they were saved, the others computed, counts where there are values
    bool reduced = false;    ///< whether `found` is known
    std::vector<remembered_answer> answers = {};  ///< of measures
};

/// Reductions of the last few saves of each tensor, and values up to a number of bytes.
/// Memory: 16 saves (400 bytes each) of each tensor and worker that was asked for, and `value_bytes`.
/// Threads: one at a time.
class tensor_memory {
public:
    static constexpr std::size_t kept_saves = 16;

    /// What is known of one tensor's saves.  It stays where it is as long as the memory.
    class saves_of_tensor {
    public:
        /// Null where nothing is (any more) known.  Borrowed until the next keep().
        [[nodiscard]] const known_tensor* find(step_number step, std::string_view worker) const noexcept;

    private:
        friend tensor_memory;
        std::vector<known_tensor> saves_;  // a ring
        std::vector<step_number> steps_;   // those of saves_: a look-up walks over them
        std::size_t next_ = 0;
        std::vector<std::string> workers_;  // that have saved it
    };

    explicit tensor_memory(std::size_t value_bytes) : value_bytes_(value_bytes) {}

    [[nodiscard]] saves_of_tensor& saves_of(std::string_view name);

    /// Null where nothing is (any more) known.  Borrowed until the next keep().
    [[nodiscard]] const known_tensor* find(std::string_view name, step_number step, std::string_view worker) const;

    /// What is known of one tensor, to be filled; empty where nothing was known.  Borrowed until the next keep().
    [[nodiscard]] known_tensor& keep(std::string_view name, step_number step, std::string_view worker);

    [[nodiscard]] std::optional<tensor_value> find_value(std::string_view name, step_number step,
                                                         std::string_view worker) const;

    /// Forgets the values of steps before `step`: their memory is used again, which is faster than new memory.
    void forget_values_before(step_number step);

    /// Forgets older ones where there is no room; one that is too large by itself is not kept.
    void keep_value(std::string_view name, step_number step, std::string_view worker, const tensor_value& value);

private:
    static constexpr std::size_t most_values = 256;  // a look-up walks over them

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

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/tensor_memory.ipp>
#endif
