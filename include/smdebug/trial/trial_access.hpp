// What scans, and what calls rules, needs of a trial and of its handles, and what users do not.
#pragma once

#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <typeindex>
#include <typeinfo>

namespace smdebug::inline v1 {

class tensor_handle;
class trial;

namespace detail {

struct catalog;
class read_log;
class rule_view;
class trial_state;

/// A trial that rules can share: smdebug::trial and types derived from it.
template <class AnyTrial>
concept shareable_trial = std::derived_from<AnyTrial, trial> && std::copy_constructible<AnyTrial>;

/// A handle of such a trial.
template <class AnyHandle>
concept shareable_tensor = std::derived_from<AnyHandle, tensor_handle>;

/// The friend of trials and handles.  Its functions are defined with these.
struct trial_access {
    /// The state that the trial's handles share.
    [[nodiscard]] static const std::shared_ptr<const trial_state>& state(const trial& run) noexcept;

    /// `run`, and copies made from it afterwards, consult `view` first and log failed reads there: see
    /// view_for_rules().  Null: stops sharing.
    static void share_with_rules(trial& run, const std::shared_ptr<rule_view>& view);
    /// Announces that rules are about to evaluate a step that is available, and will not evaluate `end` or later ones.
    static void begin_rules(const trial& run, step_number step, std::optional<step_number> end = std::nullopt);
    /// The log of the rule that is being called; null where no rules share `run`.
    [[nodiscard]] static read_log* rule_log(const trial& run) noexcept;
    /// The result of make() for the tensors of some collections and regexes at the current step, cached while steps
    /// hold the same tensors; null for other steps, and where nothing is shared.  Errors: those of make().
    template <class Value, class Make>
    [[nodiscard]] static std::shared_ptr<const Value> cached_for_step(const trial& run, step_number step,
                                                                      const text_list& collections,
                                                                      const text_list& regexes, Make&& make) {
        const auto held = [&]() -> std::shared_ptr<const void> { return std::make_shared<const Value>(make()); };
        return std::static_pointer_cast<const Value>(
            cached_for_step(run, step, typeid(Value), collections, regexes, held));
    }

    /// Whether results of measures are cached: a measure that hashes then finds equal bytes without reading them again.
    [[nodiscard]] static bool remembers_measures(const tensor_handle& tensor) noexcept;
    /// Logs that a rule uses this handle, which another rule obtained.
    static void note_selected(const tensor_handle& tensor);

private:
    [[nodiscard]] static std::shared_ptr<const void> cached_for_step(const trial& run, step_number step,
                                                                     std::type_index type, const text_list& collections,
                                                                     const text_list& regexes,
                                                                     function_ref<std::shared_ptr<const void>()> make);
};

/// The state that a trial's handles share.
[[nodiscard]] inline const std::shared_ptr<const trial_state>& state_of(const trial& run) noexcept {
    return trial_access::state(run);
}

/// A trial's current catalog, for scans that walk the run in file order.  It is immutable.
[[nodiscard]] std::shared_ptr<const catalog> catalog_of(const trial& run);

}  // namespace detail
}  // namespace smdebug::inline v1
