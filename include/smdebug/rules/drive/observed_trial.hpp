// A trial that logs a rule's look-ups: what could not be read is counted, even where the rule ignores it.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/drive/read_log.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A tensor's handle that logs how each look-up ends.  Everything else is as the wrapped handle has it.
template <class Handle>
class observed_tensor : public Handle {
public:
    observed_tensor(Handle own, std::shared_ptr<detail::read_log> log)
        : Handle(std::move(own)), log_(std::move(log)), name_hash_(hash_of(Handle::name())) {}

    [[nodiscard]] lookup<tensor_value> find_value(step_number step, const value_options& how = {}) const {
        return logged(Handle::find_value(step, how), step, how);
    }
    template <class T>
    [[nodiscard]] auto find_value(step_number step, const value_options& how = {}) const {
        return logged(Handle::template find_value<T>(step, how), step, how);
    }
    [[nodiscard]] lookup<shape_type> find_shape(step_number step, const read_options& where = {}) const {
        return logged(Handle::find_shape(step, where), step, where);
    }
    /// By a reduction or its name.
    [[nodiscard]] lookup<double> find_reduction(step_number step, const auto& what,
                                                const reduction_options& how = {}) const {
        return logged(Handle::find_reduction(step, what, how), step, how);
    }
    [[nodiscard]] lookup<smdebug::reduction_values> find_computed(step_number step, reduction_set wanted,
                                                                  const read_options& where = {}) const {
        return logged(Handle::find_computed(step, wanted, where), step, where);
    }

    [[nodiscard]] auto find_measured(step_number step, const auto& measure, const read_options& where = {}) const {
        return logged(Handle::find_measured(step, measure, where), step, where);
    }
    [[nodiscard]] auto find_compared(step_number earlier, step_number step, const auto& comparison,
                                     const read_options& where = {}) const {
        return logged(Handle::find_compared(earlier, step, comparison, where), step, where);
    }

    [[nodiscard]] tensor_value value(step_number step, const value_options& how = {}) const {
        return watched(step, how, [&] { return Handle::value(step, how); });
    }
    template <class T>
    [[nodiscard]] auto value(step_number step, const value_options& how = {}) const {
        return watched(step, how, [&] { return Handle::template value<T>(step, how); });
    }
    [[nodiscard]] auto values(const values_options& how = {}) const {
        return watched(-1, how, [&] { return Handle::values(how); });
    }
    [[nodiscard]] shape_type shape(step_number step, const read_options& where = {}) const {
        return watched(step, where, [&] { return Handle::shape(step, where); });
    }
    [[nodiscard]] auto shapes(const values_options& how = {}) const {
        return watched(-1, how, [&] { return Handle::shapes(how); });
    }
    [[nodiscard]] double reduction_value(step_number step, const auto& what, const reduction_options& how = {}) const {
        return watched(step, how, [&] { return Handle::reduction_value(step, what, how); });
    }
    [[nodiscard]] auto measured(step_number step, const auto& measure, const read_options& where = {}) const {
        return watched(step, where, [&] { return Handle::measured(step, measure, where); });
    }
    [[nodiscard]] auto compared(step_number earlier, step_number step, const auto& comparison,
                                const read_options& where = {}) const {
        return watched(step, where, [&] { return Handle::compared(earlier, step, comparison, where); });
    }
    [[nodiscard]] std::map<reduction_key, double> reduction_values(step_number step,
                                                                   const read_options& where = {}) const {
        return watched(step, where, [&] { return Handle::reduction_values(step, where); });
    }

    /// A rule was given this handle, which another has taken.
    void note_selected() const { log_->was_selected(); }

private:
    template <class T>
    [[nodiscard]] lookup<T> logged(lookup<T> outcome, step_number step, const auto& how) const {
        if (outcome) {
            log_->was_read(name_hash_, step, how.mode, how.worker);
        } else {
            log_->was_looked_up(outcome.failure(), Handle::name(), step, how.mode, how.worker);
        }
        return outcome;
    }
    // For calls that throw.  `step` is -1 where they are about many: the error then says which it is.
    template <class Call>
    [[nodiscard]] auto watched(step_number step, const auto& how, Call&& call) const {
        try {
            auto outcome = call();
            log_->was_read(name_hash_, step, how.mode, how.worker);
            return outcome;
        } catch (const error& failed) {
            if (is_lost(failed)) {
                log_->was_lost(Handle::name(), step < 0 ? failed.step().value_or(-1) : step, how.mode, how.worker,
                               [&] { return std::string{failed.what()}; });
            }
            throw;
        }
    }

    std::shared_ptr<detail::read_log> log_;
    std::uint64_t name_hash_;
};

/// The trial (the same state) for one rule at a time: the rule's caller reads the log before and after the call.
/// Threads: as the trial's.
template <scannable_trial Trial>
class observed_trial : public Trial {
public:
    using tensor_type = observed_tensor<decltype(std::declval<const Trial&>().tensor(std::string_view{}))>;

    /// Makes the trial of these arguments.
    template <class... Arguments>
    explicit observed_trial(const Arguments&... arguments)
        : Trial(arguments...), log_(std::make_shared<detail::read_log>()) {}
    observed_trial(const observed_trial&) = delete;
    observed_trial& operator=(const observed_trial&) = delete;

    /// Errors: tensor_unavailable.
    [[nodiscard]] tensor_type tensor(std::string_view name) const {
        log_->was_selected();
        return {Trial::tensor(name), log_};
    }

    /// Of the rule that is being called.
    [[nodiscard]] read_log& log() const noexcept { return *log_; }

private:
    std::shared_ptr<detail::read_log> log_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
