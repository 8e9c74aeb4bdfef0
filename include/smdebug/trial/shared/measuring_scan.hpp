// One pass over the files of some steps that reduces tensors and asks measures about them, while their bytes are in cache.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/measure_memory.hpp>
#include <smdebug/trial/read/tensor_memory.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a pass is to find out about one tensor.
struct tensor_questions {
    struct numbered {
        measure_list::number number = 0;
        std::shared_ptr<const any_measure> measure;
    };
    bool reductions = false;
    std::vector<numbered> measures = {};
};

using questions_by_tensor = std::unordered_map<std::string, tensor_questions, text_hash, std::equal_to<>>;

/// The values of each tensor's last save, for comparisons with the next one: of each worker, and mode by mode, as
/// training and evaluation alternate.  Memory: up to a number of bytes; what does not fit is not kept.
class last_saves {
public:
    explicit last_saves(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    struct save {
        std::string worker;
        smdebug::mode mode = smdebug::mode::global;
        step_number step = -1;  ///< -1: none
        dtype type = dtype::invalid;
        shape_type shape;
        std::vector<std::byte> bytes;

        [[nodiscard]] tensor_view view() const noexcept { return {type, shape, bytes, {}}; }
    };

    /// The save that stands for these, to be compared with and then replaced.
    [[nodiscard]] save& of(std::string_view name, std::string_view worker, mode in);

    void replace(save& kept, step_number step, const tensor_view& values);

private:
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::unordered_map<std::string, std::vector<std::unique_ptr<save>>, text_hash, std::equal_to<>> saves_;
};

class trial_state;
struct scanned_tensor;

/// The answers to all questions about a tensor, without those of measures that throw: they throw again when asked.
void answer_all(const tensor_questions& questions, const scanned_tensor& tensor, last_saves* previous,
                std::vector<remembered_answer>& answers);

/// What is known of a tensor by now.
struct measured_tensor {
    std::string name;
    known_tensor what;
    bool file_failed = false;  ///< nothing of that step and worker could be read; the name is left out
};

/// Reduces and measures the tensors that there are questions about, of the steps of a range.  What cannot be read is
/// left out, but that a file could not be.  `previous` is null where nothing is to be compared; else the range is behind what it has.
/// `faster`: see scan_options.
/// Cost: one pass over the files; comparisons copy the values of their tensors.
[[nodiscard]] std::vector<measured_tensor> measuring_scan(const std::shared_ptr<const trial_state>& state,
                                                          const step_range& range, const questions_by_tensor& questions,
                                                          last_saves* previous, faster_way* faster = nullptr);

/// A scan that was begun, and goes on on a thread of its own; or that is made when it is asked for.  Copies share it, and
/// the last of them waits for it.
class begun_scan {
public:
    /// `scan` is called once: now, or by get().
    begun_scan(bool now, std::function<std::vector<measured_tensor>()> scan);

    /// What it gives, once.  Errors: what it throws.
    [[nodiscard]] std::vector<measured_tensor> get() const;

private:
    struct task;
    std::shared_ptr<task> task_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/measuring_scan.ipp>
#endif
