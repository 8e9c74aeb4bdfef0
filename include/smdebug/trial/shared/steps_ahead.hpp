// The steps that rules will evaluate next: scanned while they evaluate the current one, some steps at a time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/shared/rule_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug::inline v1::detail {

/// What is to be computed for one tensor.
struct tensor_questions {
    shared_tensor* of = nullptr;
    bool reductions = false;
    bool values = false;
    bool small_values = false;  ///< see shared_tensor::small_value
    std::vector<const any_measure*> measures = {};
};
using questions_by_tensor = std::unordered_map<std::string_view, tensor_questions>;

/// What is known of a tensor that one worker saved at one step.
struct known_save {
    struct answer {
        const any_measure* measure = nullptr;
        step_number earlier = -1;  ///< the step of the save that it was compared with; -1: none
        any_measure::answer result{};
    };
    shared_tensor* of = nullptr;  ///< null if the worker's whole file of that step is unreadable
    step_number step = -1;
    std::string worker;
    /// Saved ones as they were saved, the others computed; counts if there are values.
    std::optional<reduction_values> reductions = {};
    std::vector<answer> answers = {};
    std::optional<tensor_value> value = {};  ///< small values stay here; larger ones move to the cache of values
};

/// Scans given steps in their order, some of them in advance.  Questions may change meanwhile.
/// Threads: ask(), take() and the destructor on one; scans on others.
/// Memory: what was found in most_ahead() steps.
class steps_ahead {
public:
    /// One scan of consecutive steps, which fills the vector.  `compared`: measures that compare two saves may be
    /// computed: such scans take the steps in their order, one scan at a time.
    using scan =
        std::function<void(const step_range&, const questions_by_tensor&, bool compared, std::vector<known_save>&)>;

    /// `threads`: 0: scans run inside take().  With two and more, comparisons have a scan of their own, as each thread
    /// scans some of the steps.
    /// `permits`: returned when this is destroyed.
    /// Where a thread cannot be started there are none.
    steps_ahead(std::vector<step_number> steps, std::size_t at_once, unsigned threads,
                std::vector<thread_permit> permits, questions_by_tensor asked, scan work);
    steps_ahead(const steps_ahead&) = delete;
    steps_ahead& operator=(const steps_ahead&) = delete;
    /// Waits for running scans.
    ~steps_ahead() = default;

    /// What scans that begin from now on compute.
    void ask(questions_by_tensor asked);

    /// Whether the scan of a step, and of all before it, has begun or is about to.
    [[nodiscard]] bool reaches(step_number step) const noexcept;

    /// Whether the scan that is due has steps up to `step`: take() then waits for it.
    [[nodiscard]] bool has(step_number step) const noexcept { return taken_ < steps_.size() && steps_[taken_] <= step; }
    /// Calls keep(std::vector<known_save>&) with what the scan that is due has found, and returns its steps.
    template <class Keep>
    [[nodiscard]] std::vector<step_number> take(Keep&& keep) {
        for (const auto& each : scans_) {
            if (const auto found = each->pool.next()) {
                keep(found->part);
                found->part.clear();
            }
        }
        const auto [begin, end] = group(taken_);
        taken_ = end;
        return {steps_.begin() + static_cast<std::ptrdiff_t>(begin), steps_.begin() + static_cast<std::ptrdiff_t>(end)};
    }
    /// Whether everything was taken.
    [[nodiscard]] bool is_used_up() const noexcept { return taken_ == steps_.size(); }

    /// Ends; returns the last step of which a scan has begun, nothing if there is none.  Waits for running scans.
    [[nodiscard]] std::optional<step_number> stop();

private:
    enum class part : std::uint8_t { all, comparing, others };
    struct group_of_steps {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    struct task {
        group_of_steps steps;
        std::shared_ptr<const questions_by_tensor> asked;
    };
    // One pass over the steps.
    struct pass {
        pass(steps_ahead& of, unsigned threads, part which);

        std::size_t next = 0;  // the first step that was not begun; used by the pool
        ordered_thread_pool<task, std::vector<known_save>> pool;
    };

    [[nodiscard]] group_of_steps group(std::size_t begin) const noexcept;
    void begin(unsigned threads, bool apart);

    std::vector<step_number> steps_;
    std::size_t at_once_;
    std::vector<thread_permit> permits_;
    synchronized<std::shared_ptr<const questions_by_tensor>> asked_;
    scan work_;
    std::size_t taken_ = 0;
    std::vector<std::unique_ptr<pass>> scans_;  // last: their threads use everything else
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/steps_ahead.ipp>
#endif
