// What several rules share of a trial: a tensor that one of them has read or reduced is there for the others.
// Whoever drives the rules says which step is next: all tensors that rules asked for at the steps before are then
// reduced, and measured, in one walk over the step's files, in one pass each.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/spare_threads.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/measure_memory.hpp>
#include <smdebug/trial/read/steps_ahead.hpp>
#include <smdebug/trial/read/tensor_memory.hpp>
#include <smdebug/trial/shared/measuring_scan.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/sharing_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What the handles of a shared trial have in common.  Threads: const calls may run at once.
class shared_tensors {
    struct asked_measure {
        measure_list::number number = 0;
        std::uint64_t turn = 0;   // in which it was asked last
        std::uint64_t turns = 0;  // in how many it was asked
    };

public:
    shared_tensors(std::shared_ptr<const trial_state> state, const sharing_options& how)
        : state_(std::move(state)),
          look_ahead_(how.look_ahead),
          threads_(how.threads),
          memory_(how.value_bytes),
          files_(state_, how.file_bytes),
          last_saves_(std::make_shared<last_saves>(how.value_bytes)) {}

    /// Whether the event files of the next steps are brought from here.
    [[nodiscard]] bool brings_files() const noexcept { return files_.brings(); }

    /// Reduces what rules asked for lately, of one step; begins with the next ones that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end);

    /// One tensor, by its name, so that it is looked up once.  It stays where it is as long as this.
    class tensor_share final : public shared_tensor {
    public:
        explicit tensor_share(shared_tensors& all) noexcept : all_(all) {}

        void expect() override { all_.expect(*this); }
        [[nodiscard]] std::optional<reduction_values> reductions(step_number step, const std::string& worker) override {
            return all_.reductions(*this, step, worker);
        }
        [[nodiscard]] lookup<any_measure::answer> answer(step_number step, const std::string& worker,
                                                         step_number earlier, const any_measure& measure,
                                                         function_ref<lookup<any_measure::answer>()> compute) override {
            return all_.answer(*this, step, worker, earlier, measure, compute);
        }
        [[nodiscard]] lookup<tensor_value> value(step_number step, const std::string& worker,
                                                 function_ref<lookup<tensor_value>()> read) override {
            return all_.value(name, step, worker, read);
        }
        [[nodiscard]] std::vector<step_number> last_steps(step_number step, std::size_t n, mode in,
                                                          function_ref<std::vector<step_number>()> steps,
                                                          function_ref<std::vector<step_number>()> slowly) override {
            return all_.last_steps(name, step, n, in, steps, slowly);
        }

    private:
        friend shared_tensors;
        shared_tensors& all_;
        std::string name;
        tensor_memory::saves_of_tensor* saves = nullptr;
        std::vector<asked_measure> asked = {};
        std::uint64_t reduced_turn = 0;  // in which reductions were asked for last; turns count from 1
        std::uint64_t read_turn = 0;     // or anything else
    };
    [[nodiscard]] tensor_share& share_of(const std::string& name);

private:
    /// The reductions of a tensor, read now if they are not known; nothing where it cannot be read.
    [[nodiscard]] std::optional<reduction_values> reductions(tensor_share& of, step_number step,
                                                             const std::string& worker);

    /// Is told that a tensor will be read, by whatever way.
    void expect(tensor_share& of);

    /// What a measure answers, or a comparison with the save at `earlier`; compute() gives it where it is not known.
    [[nodiscard]] lookup<any_measure::answer> answer(tensor_share& of, step_number step, const std::string& worker,
                                                     step_number earlier, const any_measure& measure,
                                                     function_ref<lookup<any_measure::answer>()> compute);

    /// Values that are kept, else those that `read` gives.
    [[nodiscard]] lookup<tensor_value> value(const std::string& name, step_number step, const std::string& worker,
                                             function_ref<lookup<tensor_value>()> read);

    /// The last steps of a mode up to `step` that have a tensor: of a run that has ended out of all, which steps() gives
    /// once; else as slowly() gives them.
    [[nodiscard]] std::vector<step_number> last_steps(const std::string& name, step_number step, std::size_t n, mode in,
                                                      function_ref<std::vector<step_number>()> steps,
                                                      function_ref<std::vector<step_number>()> slowly);

    // A measure that was not asked about a tensor during so many steps, or as many as it was asked at, is not asked
    // ahead any more: rules that look at the first steps alone are to cost nothing afterwards.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::uint64_t least_remembered_turns = 8;

    void note_asked(tensor_share& of, measure_list::number number);
    void note_read(tensor_share& of) {
        if (of.read_turn != turn_ || turn_ == 0) {
            files_.note_read(of.name);
            of.read_turn = turn_;
        }
    }
    [[nodiscard]] const reduction_values* known_reductions(tensor_share& of, step_number step,
                                                           const std::string& worker);
    [[nodiscard]] const remembered_answer* find_answer(const tensor_share& of, step_number step,
                                                       const std::string& worker, measure_list::number number,
                                                       step_number earlier) const;
    [[nodiscard]] questions_by_tensor asked_lately() const;
    void keep(std::vector<measured_tensor> all);

    // Begins to reduce and measure the steps of ahead_steps_.
    void begin_ahead(questions_by_tensor questions);
    void begin_part(std::unique_ptr<thread_lease> thread, const step_range& range, questions_by_tensor questions,
                    std::shared_ptr<last_saves> previous);

    // Whether a walk found a worker's event file unreadable.  Its other tensors are then read from the trial, one by one,
    // as the file may have come since: no further walk is made for them.
    [[nodiscard]] bool is_unreadable(step_number step, const std::string& worker) const {
        return unreadable_.contains({step, worker});
    }

    std::shared_ptr<const trial_state> state_;
    bool look_ahead_;
    std::shared_ptr<spare_threads> threads_;
    std::mutex mutex_;  // protects everything below
    tensor_memory memory_;
    static constexpr std::size_t most_unreadable = 1024;
    std::set<std::pair<step_number, std::string>> unreadable_;  // files, of the last steps
    step_number previous_step_ = 0;
    using steps_by_mode = std::array<std::optional<std::vector<step_number>>, 4>;
    // Steps of tensors by mode, of a run that has ended: to find that there are none takes a walk over the run.
    static constexpr std::size_t most_kept_steps = std::size_t{1} << 22U;
    std::unordered_map<std::string, steps_by_mode> steps_;
    std::size_t kept_steps_ = 0;
    static constexpr std::size_t most_ahead = tensor_memory::kept_saves / 2;
    steps_ahead files_;
    measure_list measures_;
    std::unordered_map<std::string, tensor_share> shares_;  // by tensor
    std::uint64_t turn_ = 0;
    std::shared_ptr<last_saves> last_saves_;  // used by the scan that goes on: one of them at a time
    // Of each of the scans that go on at once.
    std::vector<std::shared_ptr<faster_way>> faster_{std::make_shared<faster_way>()};
    std::vector<step_number> covered_;  // the steps that were reduced ahead last
    std::vector<step_number> ahead_steps_;
    std::vector<begun_scan> ahead_;  // of those
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/shared_tensors.ipp>
#endif
