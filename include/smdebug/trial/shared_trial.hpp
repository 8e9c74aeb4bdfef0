// A trial as several rules see it at once: what one of them has had read and reduced, the others get for nothing.
// Whoever drives the rules says which step is next: all tensors that rules asked for at the steps before are then
// reduced, and measured, in one walk over the step's files, in one pass each.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/spare_threads.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/measure.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/measure_memory.hpp>
#include <smdebug/trial/read/steps_ahead.hpp>
#include <smdebug/trial/read/tensor_memory.hpp>
#include <smdebug/trial/shared/measuring_scan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How much a shared_trial keeps.
struct sharing_options {
    /// Values of tensors, in bytes: of those asked for last, at this step and the one before; and as much again for the
    /// last saves of tensors that comparisons were asked about.  Reductions and answers of measures are kept besides, of
    /// the last 16 saves.
    std::size_t value_bytes = std::size_t{256} << 20U;
    /// Whether a thread reduces the next steps, up to 8 that are there already, while rules look at the one at hand.
    bool look_ahead = true;
    /// Event files of a storage far away, in bytes: half for those of the next steps, a quarter for those of the last
    /// ones.  Of a step that is larger the rest is read when it is asked for.
    std::uint64_t file_bytes = std::uint64_t{256} << 20U;
    /// Where there are many runs at once: who lends threads for the next steps, up to 8, each for some of them; where
    /// none is free, the thread that walks reduces them.  Null: one thread beside it, which is always to be had.
    /// Findings and numbers are the same whatever it lends.
    std::shared_ptr<detail::spare_threads> threads = {};
};

namespace detail {

/// What the handles of a shared trial have in common.  Threads: const calls may run at once.
template <class Trial>
class shared_tensors {
    struct asked_measure {
        measure_list::number number = 0;
        std::uint64_t turn = 0;   // in which it was asked last
        std::uint64_t turns = 0;  // in how many it was asked
    };

public:
    shared_tensors(Trial run, const sharing_options& how)
        : run_(std::move(run)),
          look_ahead_(how.look_ahead),
          threads_(how.threads),
          memory_(how.value_bytes),
          files_(run_, how.file_bytes),
          last_saves_(std::make_shared<last_saves>(how.value_bytes)) {}

    /// Whether the event files of the next steps are brought from here.
    [[nodiscard]] bool brings_files() const noexcept { return files_.brings(); }

    /// Reduces what rules asked for lately, of one step; begins with the next ones that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end);

    /// One tensor, by its name, so that it is looked up once.  It stays where it is as long as this.
    class tensor_share {
        friend shared_tensors;
        std::string name;
        tensor_memory::saves_of_tensor* saves = nullptr;
        std::vector<asked_measure> asked = {};
        std::uint64_t reduced_turn = 0;  // in which reductions were asked for last; turns count from 1
        std::uint64_t read_turn = 0;     // or anything else
    };
    [[nodiscard]] tensor_share& share_of(const std::string& name);

    /// Gives the reductions of a tensor, read now if they are not known, to use(const reduction_values*), null where it
    /// cannot be read, and what that returns.
    template <class Use>
    auto use_reductions(tensor_share& of, step_number step, const std::string& worker, Use&& use) {
        const std::lock_guard lock{mutex_};
        return use(reductions(of, step, worker));
    }

    /// Is told that a tensor will be read, by whatever way.
    void expect(tensor_share& of);

    /// What a measure answers, or a comparison with the save at `earlier`; compute() gives it where it is not known.
    template <class Answer, bool Compares, class M, class Compute>
    [[nodiscard]] lookup<Answer> answer(tensor_share& of, step_number step, const std::string& worker,
                                        step_number earlier, const M& measure, Compute&& compute) {
        std::optional<measure_list::number> number;
        {
            const std::lock_guard lock{mutex_};
            note_read(of);
            number = measures_.template number_of<Compares>(measure);
            if (number) {
                note_asked(of, *number);
                if (const auto* known = find_answer(of, step, worker, *number, earlier)) {
                    return unpacked<Answer>(known->bytes);
                }
            }
        }
        lookup<Answer> computed = compute();
        if (computed && number) {
            const std::lock_guard lock{mutex_};
            memory_.keep(of.name, step, worker).answers.push_back({*number, earlier, packed(*computed)});
        }
        return computed;
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
    [[nodiscard]] const reduction_values* reductions(tensor_share& of, step_number step, const std::string& worker);
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

    Trial run_;  // a share of the trial's state: handles may outlive the trial
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
    steps_ahead<Trial> files_;
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

/// A tensor's handle that asks the others first.  Everything else is as the trial's own handle has it.
template <class Trial>
class shared_tensor : public Trial::tensor_type {
    using base = typename Trial::tensor_type;

public:
    shared_tensor(base own, std::shared_ptr<detail::shared_tensors<Trial>> shared)
        : base(std::move(own)), shared_(std::move(shared)), share_(&shared_->share_of(base::name())) {}

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
    template <tensor_measure M>
    [[nodiscard]] lookup<measured_by<M>> find_measured(step_number step, const M& measure,
                                                       const read_options& where = {}) const {
        const auto compute = [&] { return measure_values(*this, step, measure, where); };
        if (where.mode != mode::global || !where.worker) {
            return compute();
        }
        return shared_->template answer<measured_by<M>, false>(*share_, step, *where.worker,
                                                               remembered_answer::compares_nothing, measure, compute);
    }
    template <tensor_measure M>
    [[nodiscard]] measured_by<M> measured(step_number step, const M& measure, const read_options& where = {}) const {
        return detail::or_throw(find_measured(step, measure, where));
    }
    template <tensor_comparison M>
    [[nodiscard]] lookup<compared_by<M>> find_compared(step_number earlier, step_number step, const M& comparison,
                                                       const read_options& where = {}) const {
        const auto compute = [&] { return compare_values(*this, earlier, step, comparison, where); };
        if (where.mode != mode::global || !where.worker) {
            return compute();
        }
        return shared_->template answer<compared_by<M>, true>(*share_, step, *where.worker, earlier, comparison,
                                                              compute);
    }
    template <tensor_comparison M>
    [[nodiscard]] compared_by<M> compared(step_number earlier, step_number step, const M& comparison,
                                          const read_options& where = {}) const {
        return detail::or_throw(find_compared(earlier, step, comparison, where));
    }
    /// Whether measures' answers are remembered: a measure of a hash then tells equal bytes without reading them again.
    static constexpr bool remembers_measures = true;

    [[nodiscard]] lookup<tensor_value> find_value(step_number step, const value_options& how = {}) const;
    [[nodiscard]] tensor_value value(step_number step, const value_options& how = {}) const;
    template <class T>
    [[nodiscard]] auto find_value(step_number step, const value_options& how = {}) const {
        shared_->expect(*share_);
        return base::template find_value<T>(step, how);
    }
    template <class T>
    [[nodiscard]] auto value(step_number step, const value_options& how = {}) const {
        shared_->expect(*share_);
        return base::template value<T>(step, how);
    }

private:
    std::shared_ptr<detail::shared_tensors<Trial>> shared_;
    typename detail::shared_tensors<Trial>::tensor_share* share_;
};

}  // namespace detail

/// A trial that several rules share for a walk over its steps.  It is the trial (the same state), also for rules that
/// name its type, `const local_trial&`, or deduce it, `const basic_trial<S>&`; but its handles keep what they read for each
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

    /// As the trial's; does nothing where begin_step() prefetches.
    void read_ahead(step_number step) const;

    /// Errors: tensor_unavailable.
    [[nodiscard]] detail::shared_tensor<Trial> tensor(std::string_view name) const {
        return {Trial::tensor(name), shared_};
    }

    /// As the trial's; asked for the step at hand, it is not worked out again while steps hold the same tensors.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const;

    /// What make() says of the tensors of some collections and regexes at the step at hand, kept like tensor_names();
    /// null for other steps.  Errors: those of make().
    template <class T, class Make>
    [[nodiscard]] std::shared_ptr<const T> kept_of_step(step_number step, const text_list& collections,
                                                        const text_list& regexes, Make&& make) const {
        if (step != step_) {
            return nullptr;
        }
        {
            const auto known = chosen_.lock();
            for (const chosen& each : *known) {
                if (each.type == std::type_index{typeid(T)} && each.collections == collections.texts() &&
                    each.regexes == regexes.texts()) {
                    return std::static_pointer_cast<const T>(each.made);
                }
            }
        }
        auto made = std::make_shared<const T>(make());
        chosen_.lock()->push_back({typeid(T), collections.texts(), regexes.texts(), made});
        return made;
    }

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
    struct chosen {
        std::type_index type;
        std::vector<std::string> collections;
        std::vector<std::string> regexes;
        std::shared_ptr<const void> made;
    };
    mutable detail::guarded<std::vector<chosen>> chosen_;  // the same
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/shared_trial.tpp>
#endif
