// The front door of watch/: rules inside the training process, on what a hook sees, without a disk.
#pragma once

#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/erased_rule.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/watch/watch_options.hpp>
#include <smdebug/watch/watcher.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A hook that lets others look: every basic_hook.
template <class H>
concept observable_hook =
    reduction_kernel<typename H::kernel_type> && std::default_initializable<typename H::kernel_type> &&
    requires(H& hook, const H& seen, std::shared_ptr<hook_observer> observer) {
        { hook.add_observer(observer) } -> std::same_as<void>;
        { seen.options() } -> std::same_as<const hook_options&>;
    };

/// Evaluates rules at the end of each step of a hook, on the tensors and scalars that the loop has saved in it, and
/// hands what they find to `callback`:
/// ```
/// auto watching = smd::watch(hook, {.save_config = {.save_interval = 100}, .include_regex = {"^gradient"}},
///                            [&](const smd::watched_finding& found) { stop = true; },
///                            smd::rules::vanishing_gradient{}, smd::rules::exploding_tensor{}, my_lambda);
/// ```
/// What can be done about a finding:
/// ```
/// [&](const smd::watched_finding&) { stop_training = true; }                  // the loop looks at its own flag
/// [&](const smd::watched_finding&) { learning_rate /= 2; }                    // the next step goes slower
/// [&](const smd::watched_finding&) { hook.save_everything_next_step(); }      // the next step is on disk, whole
/// ```
/// What is due for rules does not depend on what is due for the disk: should_save() is true for either; a rule sees
/// nothing that the loop has not offered, nor a step that is ended by close().  Rules run, too, where the hook writes
/// nothing (dry_run, a worker that does not write).
///
/// A rule is called as invoke_rule would call it, with a trial over the last steps (keep_steps): names,
/// collections, worker, modes and values are what a trial would read of the run on disk.  It may keep state, and look
/// back.  An older step is `StepUnavailable` at once, and nothing is waited for, as nothing can come meanwhile: a rule
/// that lacks something, be it a later step, counts as not evaluated at that step (on_skip).  Rules and callback are
/// moved in and stay where they are; what is to be seen outside is captured by reference.  Where set_step() goes back,
/// the steps from there on are forgotten.
///
/// Errors:   value_error (options), here.  What a rule or the callback throws comes out of hook.end_step(), which has
///           written the step and goes on counting; the rules behind it are not called at that step.
/// Cost:     a copy of what is seen (see watch_options::reduction_config), about 1 us a tensor and 15 us a step, and
///           the rules: what several of them ask of a tensor is computed once.  Where nothing is due, some nanoseconds.
/// Threads:  everything happens on the thread that calls the hook.
/// Lifetime: the hook holds it, to its own end or until stop(); the handle may be dropped.
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

/// The same at every step, on everything.
template <observable_hook Hook, finding_callback Callback, rule<trial>... Rules>
    requires(sizeof...(Rules) > 0)
std::shared_ptr<watcher> watch(Hook& observed, Callback callback, Rules... rules) {
    return watch(observed, watch_options{}, std::move(callback), std::move(rules)...);
}

}  // namespace v1
}  // namespace smdebug
