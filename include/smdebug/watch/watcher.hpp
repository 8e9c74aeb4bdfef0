// Rules on what a hook sees: an observer that keeps its steps and tensors, and evaluates rules when a step ends.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/erased_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/watch/watch_options.hpp>
#include <smdebug/watch/watched_names.hpp>
#include <smdebug/watch/watched_trial.hpp>

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <reduction_kernel Kernel>
class recent_steps;

}  // namespace detail

/// What watch() returns: counters, and a way to stop it.  The hook owns it, too.
/// Threads: that of the training.
class watcher {
public:
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    virtual ~watcher() = default;

    [[nodiscard]] const watch_counters& counters() const noexcept { return counters_; }

    /// Ends it: no rule and no callback is called any more, and the steps that were kept are given back.  May be
    /// called by the callback, which should capture a weak_ptr: the hook owns the callback.
    void stop() noexcept { stopped_ = true; }
    [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

protected:
    watcher() = default;

    watch_counters counters_;
    bool stopped_ = false;
};

/// Takes the findings.
template <class C>
concept finding_callback = std::invocable<C&, const watched_finding&>;

/// Keeps the last steps of a hook, calls rules and hands over what they find.
template <reduction_kernel Kernel>
class rule_watcher final : public watcher, public hook_observer {
public:
    using watched_rule = detail::erased_rule<detail::driven<detail::watched_trial<Kernel>>>;

    /// Errors: value_error (options).
    rule_watcher(const hook_options& watched, watch_options how, std::function<void(const watched_finding&)> callback,
                 std::vector<std::shared_ptr<watched_rule>> rules);

    [[nodiscard]] bool wants(const hook_step& step) override;
    [[nodiscard]] bool wants(std::string_view tensor) override { return !stopped_ && names_.contains(tensor, mode_); }

    void see(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> collections) override;

    void end_step(const hook_step& step) override;

private:
    void evaluate(watched_rule& each, const detail::watched_trial<Kernel>& run, const hook_step& now);

    void hand_over(const watched_finding& found);

    void skip(std::string_view name, step_number step, const error& missing);

    watch_options how_;
    std::array<save_config_mode, all_modes.size()> when_;  // by mode
    detail::watched_names names_;
    std::function<void(const watched_finding&)> callback_;
    std::vector<std::shared_ptr<watched_rule>> rules_;
    std::shared_ptr<detail::recent_steps<Kernel>> steps_;  // none after the end
    mode mode_ = mode::global;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/watcher.tpp>
#endif
