// Evaluates rules inside the training process, on the tensors that a hook sees, without a disk; start reading watch/
// here.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/trial.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// Options of rules inside the training process, findings with their steps, and counters.
// Separate from watch.hpp, so that callbacks can be declared without including the hook and the trial.
namespace smdebug::inline v1 {

/// A finding, and its step and rule.  Borrows everything, for the callback's call.
struct watched_finding {
    std::string_view rule;  ///< its name; "rule" if it has none
    const finding& what;
    step_number step = 0;  ///< the global one
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
};

/// When rules inside the training process are evaluated, and what they see.
struct watch_options {
    /// The steps at which rules are evaluated, independent of what the hook itself writes.
    smdebug::save_config save_config = {.save_interval = 1};
    /// Rules see the tensors whose names match one of these.  If empty, everything that the loop saves; in EVAL and
    /// PREDICT without gradients and optimizer variables, which are left from the training before.
    std::vector<std::string> include_regex = {};
    /// What is kept of a tensor.  If unset, its values, which are copied.  Without save_raw_tensor, only the named
    /// reductions, without a copy; a rule then has no others.  Scalars and losses are always kept whole.
    std::optional<smdebug::reduction_config> reduction_config = {};
    /// The number of steps that a rule can see, including the current one.  Up to a quarter more are kept, so that old
    /// ones are removed in batches.
    std::size_t keep_steps = 16;
    /// Called for each finding that is not met and has a message: a tensor could not be judged.
    std::function<void(const watched_finding&)> on_note = {};
    /// Called with a rule's name for each step that lacked something that the rule needs.
    std::function<void(std::string_view rule, step_number step, const error& missing)> on_skip = {};
};

/// Counters of a watcher.
struct watch_counters {
    std::uint64_t steps = 0;          ///< due steps with at least one visible tensor
    std::uint64_t evaluated = 0;      ///< calls of rules that returned
    std::uint64_t not_evaluated = 0;  ///< calls of rules at steps that lacked something
    std::uint64_t findings = 0;       ///< that were met
    std::uint64_t notes = 0;          ///< findings that were not met and had a message
};

/// Throws value_error, with a sentence that names the option and its value, for invalid options.
inline void check(const watch_options& options) {
    check(options.save_config, "save_config");
    detail::check_patterns(options.include_regex, "include_regex");
    if (options.reduction_config && detail::make_reduction_plan(*options.reduction_config).empty()) {
        throw value_error("reduction_config names nothing that is to be kept: rules would see no tensor");
    }
    if (options.keep_steps < 1) {
        throw value_error("keep_steps is 0: rules need at least the current step");
    }
}

namespace detail {

/// The tensors that match some regexes.  Without regexes that is all; in EVAL and PREDICT without those that are left
/// from the training before, as in a hook.
/// Not thread-safe.
class watched_names {
public:
    /// Errors: value_error for a bad regex.
    watched_names(const hook_options& watched, const std::vector<std::string>& include_regex);

    /// Cost: none if everything is seen, else one hash look-up once the name was matched.
    [[nodiscard]] bool contains(std::string_view name, mode in);

    /// Whether a tensor is seen that the training saves into these collections.
    [[nodiscard]] bool contains(std::string_view name, std::span<const std::string_view> collections, mode in);

private:
    void compile(const std::vector<std::string>& patterns);

    // Adds the names and patterns of training's collections, as the hook configures them.
    void learn_training(const hook_options& watched);

    [[nodiscard]] bool matches(std::string_view name) const;

    bool everything_;
    std::vector<regex> patterns_;
    std::set<std::string, std::less<>> names_;
    std::unordered_map<std::string, bool, text_hash, std::equal_to<>> decided_;
};

// Evaluates rules on a hook's tensors: an observer that keeps its steps, and calls rules when a step ends.

class recent_steps;

}  // namespace detail

/// Returned by watch(): counters, and a way to stop.  The hook shares its ownership.
/// Threads: that of the training.
class watcher {
public:
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    virtual ~watcher() = default;

    [[nodiscard]] const watch_counters& counters() const noexcept { return counters_; }

    /// Ends it: no rule and no callback is called any more, and the kept steps are freed.  May be called by the
    /// callback, which should capture a weak_ptr: the hook owns the callback.
    void stop() noexcept { stopped_ = true; }
    [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

protected:
    watcher() = default;

    watch_counters counters_;
    bool stopped_ = false;
};

/// Receives the findings.
template <class Callable>
concept finding_callback = std::invocable<Callable&, const watched_finding&>;

namespace detail {

/// Keeps the last steps of a hook, calls rules and passes on their findings.
class rule_watcher final : public watcher, public hook_observer {
public:
    using watched_rule = erased_rule<trial>;

    /// Errors: value_error (options).
    rule_watcher(const hook_options& watched, watch_options how, const any_kernel& kernel,
                 std::function<void(const watched_finding&)> callback,
                 std::vector<std::shared_ptr<watched_rule>> rules);

    [[nodiscard]] SMDEBUG_INLINE bool wants(const hook_step& step) override;
    [[nodiscard]] bool wants(std::string_view tensor) override { return !stopped_ && names_.contains(tensor, mode_); }

    SMDEBUG_INLINE void see(std::string_view name, const tensor_view& tensor,
                            std::span<const std::string_view> collections) override;

    SMDEBUG_INLINE void end_step(const hook_step& step) override;

private:
    void evaluate(watched_rule& each, const trial& run, const hook_step& now);

    void hand_over(const watched_finding& found);

    void skip(std::string_view name, step_number step, const error& missing);

    watch_options how_;
    std::array<save_config_mode, all_modes.size()> when_;  // by mode
    watched_names names_;
    std::function<void(const watched_finding&)> callback_;
    std::vector<std::shared_ptr<watched_rule>> rules_;
    std::shared_ptr<recent_steps> steps_;  // none after the end
    mode mode_ = mode::global;
};

}  // namespace detail

/// A hook that accepts observers: every basic_hook.
template <class WatchedHook>
concept observable_hook =
    reduction_kernel<typename WatchedHook::kernel_type> &&
    std::default_initializable<typename WatchedHook::kernel_type> &&
    requires(WatchedHook& hook, const WatchedHook& seen, std::shared_ptr<hook_observer> observer) {
        { hook.add_observer(observer) } -> std::same_as<void>;
        { seen.options() } -> std::same_as<const hook_options&>;
    };

/// Evaluates rules at the end of each step of a hook, on the tensors and scalars that the loop has saved in it, and
/// passes their findings to `callback`:
/// ```
/// auto watching = smd::watch(hook, {.save_config = {.save_interval = 100}, .include_regex = {"^gradient"}},
///                            [&](const smd::watched_finding& found) { stop = true; },
///                            smd::rules::vanishing_gradient{}, smd::rules::exploding_tensor{}, my_lambda);
/// ```
/// Possible reactions to a finding:
/// ```
/// [&](const smd::watched_finding&) { stop_training = true; }                  // the loop looks at its own flag
/// [&](const smd::watched_finding&) { learning_rate /= 2; }                    // the next step goes slower
/// [&](const smd::watched_finding&) { hook.save_everything_next_step(); }      // the next step is on disk, whole
/// ```
/// What rules see is independent of what is due for the disk: should_save() is true for either; a rule sees only what
/// the loop has saved in the hook, and no step that is ended by close().  Rules also run if the hook writes nothing
/// (dry_run, a worker that does not write).
///
/// A rule is called as by invoke_rule, with a trial over the last steps (keep_steps): names, collections, worker, modes
/// and values are those that a trial would read from the run on disk.  It may keep state, and look back.  An older step
/// throws `StepUnavailable` at once, without waiting, as no data can arrive meanwhile: a rule that lacks something,
/// even a later step, counts as not evaluated at that step (on_skip).  Rules and callback are moved in and not moved
/// again; capture by reference what must be visible outside.  If set_step() goes back, the steps from there on are
/// forgotten.
///
/// Errors:   value_error (options), here.  An exception of a rule or the callback leaves hook.end_step(), which has
///           written the step and continues counting; the remaining rules are not called at that step.
/// Cost:     a copy of what is seen (see watch_options::reduction_config), about 1 us a tensor and 15 us a step, and
///           the rules: what several of them need of a tensor is computed once.  If nothing is due, some nanoseconds.
/// Threads:  all work is done on the thread that calls the hook.
/// Lifetime: the hook owns it, to its own end or until stop(); the handle may be dropped.
template <observable_hook Hook, finding_callback Callback, rule<trial>... Rules>
    requires(sizeof...(Rules) > 0)
std::shared_ptr<watcher> watch(Hook& observed, watch_options options, Callback callback, Rules... rules) {
    std::vector<std::shared_ptr<detail::rule_watcher::watched_rule>> all;
    (all.push_back(std::make_shared<detail::held_rule<Rules, trial>>(std::move(rules))), ...);
    auto made = std::make_shared<detail::rule_watcher>(
        observed.options(), std::move(options), detail::any_kernel{typename Hook::kernel_type{}},
        [shared = std::make_shared<Callback>(std::move(callback))](const watched_finding& found) {
            static_cast<void>(std::invoke(*shared, found));
        },
        std::move(all));
    observed.add_observer(made);
    return made;
}

/// Watches with the default options: at every step, everything.
template <observable_hook Hook, finding_callback Callback, rule<trial>... Rules>
    requires(sizeof...(Rules) > 0)
std::shared_ptr<watcher> watch(Hook& observed, Callback callback, Rules... rules) {
    return watch(observed, watch_options{}, std::move(callback), std::move(rules)...);
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/watch.ipp>
#endif
