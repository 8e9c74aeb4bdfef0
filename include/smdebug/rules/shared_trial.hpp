// A trial as several rules see it at once: what one of them has had read and reduced, the others get for nothing.
// Used by: rules/any_rule.hpp, rules/invoke_rules.hpp.
// Whoever drives the rules says which step is next: all tensors that rules asked for at the steps before are then
// reduced in one walk over the step's files, in one pass each.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/steps_ahead.hpp>
#include <smdebug/rules/tensor_memory.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/for_each_tensor.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
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
    void begin_step(step_number step, std::optional<step_number> end) {
        const std::lock_guard lock{mutex_};
        memory_.forget_values_before(previous_step_);
        previous_step_ = step;
        files_.begin_step(step, end);
        std::vector<std::string> wanted = files_.reduced_lately();
        if (ahead_.valid() && step >= ahead_steps_.front()) {
            keep(ahead_.get());
            covered_ = std::exchange(ahead_steps_, {});
        }
        if (!wanted.empty() && !std::binary_search(covered_.begin(), covered_.end(), step)) {
            keep(reduced_by(run_, {step, step + 1}, wanted));
        }
        if (look_ahead_ && !wanted.empty() && !ahead_.valid()) {
            ahead_steps_ =
                files_.steps_to_reduce(covered_.empty() ? step : std::max(step, covered_.back()), end, most_ahead);
            if (!ahead_steps_.empty()) {
                const step_range range{ahead_steps_.front(), ahead_steps_.back() + 1};
                ahead_ = std::async(std::launch::async, [run = run_, range, names = std::move(wanted)] {
                    try {
                        return reduced_by(run, range, names);
                    } catch (const std::exception&) {  // who asks for a step itself is told
                        return std::vector<known_tensor>{};
                    }
                });
            }
        }
    }

    /// The reductions of a tensor, read now if they are not known; nothing where it cannot be read.
    [[nodiscard]] std::optional<reduction_values> reductions(const std::string& name, step_number step,
                                                             const std::string& worker) {
        const std::lock_guard lock{mutex_};
        files_.note_reduced(name);
        const known_reductions* known = memory_.find(name, step, worker);
        if (known == nullptr) {
            keep(reduced_by(run_, {step, step + 1}, {name}));
            known = memory_.find(name, step, worker);
        }
        return known != nullptr ? std::optional{known->found} : std::nullopt;
    }

    /// Is told that a tensor will be read, by whatever way.
    void expect(const std::string& name) {
        const std::lock_guard lock{mutex_};
        files_.note_read(name);
    }

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
        lookup<tensor_value> found = read();
        if (found) {
            const std::lock_guard lock{mutex_};
            memory_.keep_value(name, step, worker, *found);
        }
        return found;
    }

    /// The last steps of a mode up to `step` that have a tensor.
    [[nodiscard]] std::vector<step_number> last_steps(const typename Trial::tensor_type& tensor, step_number step,
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

private:
    struct known_tensor {
        std::string name;
        known_reductions what;
    };

    /// One walk over the files of some steps.
    [[nodiscard]] static std::vector<known_tensor> reduced_by(const Trial& run, const step_range& range,
                                                              const std::vector<std::string>& names) {
        std::vector<known_tensor> all;
        const tensor_selection which{.names = names, .range = range};
        for_each_tensor(run, which, reduction_set::all(), [&](const reduced_tensor& found) {
            if (found.failure == nullptr && !found.file_failed) {
                all.push_back({std::string{found.name}, {found.step, std::string{found.worker}, found.reductions}});
            }
        });
        return all;
    }
    void keep(const std::vector<known_tensor>& all) {
        for (const known_tensor& each : all) {
            memory_.keep(each.name, each.what.step, each.what.worker, each.what.found);
        }
    }

    Trial run_;  // a share of the trial's state: handles may outlive the trial
    bool look_ahead_;
    std::mutex mutex_;
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
    [[nodiscard]] std::vector<step_number> prev_steps(step_number step, const prev_steps_options& which = {}) const {
        return which.n && *which.n >= 0
                   ? shared_->last_steps(*this, step, static_cast<std::size_t>(*which.n), which.mode)
                   : base::prev_steps(step, which);
    }

    using base::find_reduction;
    using base::reduction_value;

    [[nodiscard]] lookup<double> find_reduction(step_number step, reduction what,
                                                const reduction_options& how = {}) const {
        if (how.mode == mode::global && how.worker) {
            if (const auto known = shared_->reductions(base::name(), step, *how.worker);
                known && known->computed.contains(what, how.abs)) {
                return (*known)(what, how.abs);
            }
        }
        shared_->expect(base::name());
        return base::find_reduction(step, what, how);
    }
    [[nodiscard]] double reduction_value(step_number step, reduction what, const reduction_options& how = {}) const {
        const auto found = find_reduction(step, what, how);
        if (!found) {
            throw_failure(found.failure(), base::name(), step, how.mode);
        }
        return *found;
    }
    [[nodiscard]] lookup<smdebug::reduction_values> find_computed(step_number step, reduction_set wanted,
                                                                  const read_options& where = {}) const {
        if (wanted == reduction_set::counts() && where.mode == mode::global && where.worker) {
            if (auto known = shared_->reductions(base::name(), step, *where.worker);
                known && known->computed.has_counts()) {
                return *std::move(known);
            }
        }
        shared_->expect(base::name());
        return base::find_computed(step, wanted, where);
    }
    [[nodiscard]] std::map<reduction_key, double> reduction_values(step_number step,
                                                                   const read_options& where = {}) const {
        shared_->expect(base::name());
        return base::reduction_values(step, where);
    }
    [[nodiscard]] lookup<tensor_value> find_value(step_number step, const value_options& how = {}) const {
        shared_->expect(base::name());
        const auto read = [&] { return base::find_value(step, how); };
        return how.mode == mode::global && how.worker ? shared_->value(base::name(), step, *how.worker, read) : read();
    }
    [[nodiscard]] tensor_value value(step_number step, const value_options& how = {}) const {
        auto found = find_value(step, how);
        if (!found) {
            throw_failure(found.failure(), base::name(), step, how.mode);
        }
        return *std::move(found);
    }
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

/// A trial that several rules share for a walk over its steps.  It is the trial (the same state), but its handles keep
/// what they read for each other.  A copy would be a second memory: hand out references.
/// Threads: const calls may run at once; begin_step not beside them.
template <scannable_trial Trial>
class shared_trial : public Trial {
public:
    explicit shared_trial(const Trial& run, const sharing_options& how = {})
        : Trial(run), shared_(std::make_shared<detail::shared_tensors<Trial>>(run, how)) {}
    shared_trial(const shared_trial&) = delete;
    shared_trial& operator=(const shared_trial&) = delete;

    /// Says that rules are about to look at a step that is there, and will not look at `end` or later ones.
    void begin_step(step_number step, std::optional<step_number> end = std::nullopt) {
        shared_->begin_step(step, end);
        step_files now;
        if (const auto from = Trial::snapshot(); const auto* held = from->find_step(step)) {
            now.job = from->job;
            for (const catalog::file& written : held->files()) {
                now.layouts.push_back(from->layouts[written.layout]);
                now.workers.push_back(written.worker);
            }
        }
        if (now != files_) {
            files_ = std::move(now);
            names_.clear();
        }
        step_ = step;
    }

    /// As the trial's, where begin_step does not see to it.
    void read_ahead(step_number step) const {
        if constexpr (requires { Trial::read_ahead(step); }) {
            if (!shared_->brings_files()) {
                Trial::read_ahead(step);
            }
        }
    }

    /// Errors: tensor_unavailable.
    [[nodiscard]] shared_tensor<Trial> tensor(std::string_view name) const { return {Trial::tensor(name), shared_}; }

    /// As the trial's; asked for the step at hand, it is not worked out again while steps hold the same tensors.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const {
        if (!which.step || which.step != step_ || which.mode != mode::global) {
            return Trial::tensor_names(which);
        }
        const question asked{which.regex.given(), which.regex.texts(),
                             which.collection ? std::optional{which.collection->name()} : std::nullopt};
        {
            const std::lock_guard lock{names_mutex_};
            if (const auto known = names_.find(asked); known != names_.end()) {
                return known->second;
            }
        }
        std::vector<std::string> found = Trial::tensor_names(which);
        const std::lock_guard lock{names_mutex_};
        return names_.insert_or_assign(asked, std::move(found)).first->second;
    }

private:
    // What decides which tensors a step has, and in which collections.
    struct step_files {
        std::shared_ptr<const catalog::job_description> job;
        std::vector<std::shared_ptr<const layout>> layouts;
        std::vector<worker_id> workers;
        [[nodiscard]] friend bool operator==(const step_files&, const step_files&) = default;
    };
    using question = std::tuple<bool, std::vector<std::string>, std::optional<std::string>>;

    std::shared_ptr<detail::shared_tensors<Trial>> shared_;
    std::optional<step_number> step_;
    step_files files_;
    mutable std::mutex names_mutex_;
    mutable std::map<question, std::vector<std::string>> names_;  // of steps whose files are like files_
};

}  // namespace v1
}  // namespace smdebug
