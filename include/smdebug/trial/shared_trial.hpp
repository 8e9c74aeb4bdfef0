// A trial as several rules see it at once: what one of them has had read and reduced, the others get for nothing.
// Whoever drives the rules says which step is next: all tensors that rules asked for at the steps before are then
// reduced in one walk over the step's files, in one pass each.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/for_each_tensor.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/steps_ahead.hpp>
#include <smdebug/trial/read/tensor_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How much a shared_trial keeps.
struct sharing_options {
    /// Values of tensors, in bytes: of those asked for last, at this step and the one before.  Reductions of the last
    /// 16 saves are kept besides.
    std::size_t value_bytes = std::size_t{256} << 20U;
    /// Whether a thread reduces the next steps, up to 8 that are there already, while rules look at the one at hand.
    bool look_ahead = true;
    /// Event files of a storage far away, in bytes: half for those of the next steps, a quarter for those of the last
    /// ones.  Of a step that is larger the rest is read when it is asked for.
    std::uint64_t file_bytes = std::uint64_t{256} << 20U;
};

namespace detail {

/// What the handles of a shared trial have in common.  Threads: const calls may run at once.
template <class Trial>
class shared_tensors {
public:
    shared_tensors(Trial run, const sharing_options& how)
        : run_(std::move(run)), look_ahead_(how.look_ahead), memory_(how.value_bytes), files_(run_, how.file_bytes) {}

    /// Whether the event files of the next steps are brought from here.
    [[nodiscard]] bool brings_files() const noexcept { return files_.brings(); }

    /// Reduces what rules asked for lately, of one step; begins with the next ones that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end);

    /// The reductions of a tensor, read now if they are not known; nothing where it cannot be read.
    [[nodiscard]] std::optional<reduction_values> reductions(const std::string& name, step_number step,
                                                             const std::string& worker);

    /// Is told that a tensor will be read, by whatever way.
    void expect(const std::string& name);

    /// Values that are kept, else those that `read` gives.
    template <class Read>
    [[nodiscard]] lookup<tensor_value> value(const std::string& name, step_number step, const std::string& worker,
                                             Read&& read) {
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

    /// The last steps of a mode up to `step` that have a tensor.
    [[nodiscard]] std::vector<step_number> last_steps(const typename Trial::tensor_type& tensor, step_number step,
                                                      std::size_t n, mode in);

private:
    struct known_tensor {
        std::string name;
        known_reductions what;
    };

    /// One walk over the files of some steps.
    [[nodiscard]] static std::vector<known_tensor> reduced_by(const Trial& run, const step_range& range,
                                                              const std::vector<std::string>& names);
    void keep(const std::vector<known_tensor>& all);

    Trial run_;  // a share of the trial's state: handles may outlive the trial
    bool look_ahead_;
    std::mutex mutex_;  // protects everything below
    tensor_memory memory_;
    step_number previous_step_ = 0;
    using steps_by_mode = std::array<std::optional<std::vector<step_number>>, 4>;
    // Of a run that has ended: where a tensor has no step of a mode, the run would be walked to find out.
    static constexpr std::size_t most_kept_steps = std::size_t{1} << 22U;
    std::unordered_map<std::string, steps_by_mode> steps_;
    std::size_t kept_steps_ = 0;
    static constexpr std::size_t most_ahead = tensor_memory::kept_saves / 2;
    steps_ahead<Trial> files_;
    std::vector<step_number> covered_;  // the steps that were reduced ahead last
    std::vector<step_number> ahead_steps_;
    std::future<std::vector<known_tensor>> ahead_;  // of those; its destructor waits
};

}  // namespace detail

/// A tensor's handle that asks the others first.  Everything else is as the trial's own handle has it.
template <class Trial>
class shared_tensor : public Trial::tensor_type {
    using base = typename Trial::tensor_type;

public:
    shared_tensor(base own, std::shared_ptr<detail::shared_tensors<Trial>> shared)
        : base(std::move(own)), shared_(std::move(shared)) {}

    /// As the trial's.  Of a run that has ended steps of modes are kept, so that rules may ask at each.
    [[nodiscard]] std::vector<step_number> prev_steps(step_number step, const prev_steps_options& which = {}) const;

    using base::find_reduction;
    using base::reduction_value;

    [[nodiscard]] lookup<double> find_reduction(step_number step, reduction what,
                                                const reduction_options& how = {}) const;
    [[nodiscard]] double reduction_value(step_number step, reduction what, const reduction_options& how = {}) const;
    [[nodiscard]] lookup<smdebug::reduction_values> find_computed(step_number step, reduction_set wanted,
                                                                  const read_options& where = {}) const;
    [[nodiscard]] std::map<reduction_key, double> reduction_values(step_number step,
                                                                   const read_options& where = {}) const;
    [[nodiscard]] lookup<tensor_value> find_value(step_number step, const value_options& how = {}) const;
    [[nodiscard]] tensor_value value(step_number step, const value_options& how = {}) const;
    template <class T>
    [[nodiscard]] auto find_value(step_number step, const value_options& how = {}) const {
        shared_->expect(base::name());
        return base::template find_value<T>(step, how);
    }
    template <class T>
    [[nodiscard]] auto value(step_number step, const value_options& how = {}) const {
        shared_->expect(base::name());
        return base::template value<T>(step, how);
    }

private:
    std::shared_ptr<detail::shared_tensors<Trial>> shared_;
};

/// A trial that several rules share for a walk over its steps.  It is the trial (the same state), also for rules that
/// name its type, const local_trial&, or deduce it, const basic_trial<S>&; but its handles keep what they read for each
/// other.  A copy would be a second memory: hand out references.
/// Threads: const calls may run at once; begin_step not beside them.
template <scannable_trial Trial>
class shared_trial : public Trial {
public:
    explicit shared_trial(const Trial& run, const sharing_options& how = {})
        : Trial(run), shared_(std::make_shared<detail::shared_tensors<Trial>>(run, how)) {}
    shared_trial(const shared_trial&) = delete;
    shared_trial& operator=(const shared_trial&) = delete;

    /// Says that rules are about to look at a step that is there, and will not look at `end` or later ones.
    void begin_step(step_number step, std::optional<step_number> end = std::nullopt);

    /// As the trial's, where begin_step does not see to it.
    void read_ahead(step_number step) const;

    /// Errors: tensor_unavailable.
    [[nodiscard]] shared_tensor<Trial> tensor(std::string_view name) const { return {Trial::tensor(name), shared_}; }

    /// As the trial's; asked for the step at hand, it is not worked out again while steps hold the same tensors.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const;

private:
    // What decides which tensors a step has, and in which collections.
    struct step_files {
        std::shared_ptr<const detail::catalog::job_description> job;
        std::vector<std::shared_ptr<const detail::layout>> layouts;
        std::vector<detail::worker_id> workers;
        [[nodiscard]] friend bool operator==(const step_files&, const step_files&) = default;
    };
    using question = std::tuple<bool, std::vector<std::string>, std::optional<std::string>>;

    std::shared_ptr<detail::shared_tensors<Trial>> shared_;
    std::optional<step_number> step_;
    step_files files_;
    // Of steps whose files are like files_.
    mutable detail::guarded<std::map<question, std::vector<std::string>>> names_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/shared_trial.tpp>
#endif
