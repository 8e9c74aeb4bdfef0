// Scope guards that switch the refreshing of trials off or on, and put back what was before, whatever flies past.
#pragma once

#include <smdebug/core/iterable.hpp>

#include <concepts>
#include <iterator>
#include <memory>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A trial whose refreshing can be set.
template <class T>
concept refreshable_trial = requires(const T& trial) {
    { trial.set_refresh(true) } -> std::same_as<std::shared_ptr<void>>;
};

/// A vector, array or span of such trials.
template <class R>
concept refreshable_trials = detail::input_iterable<const R> && refreshable_trial<detail::value_in<R>>;

namespace detail {

/// Sets refreshing on some trials for a scope.  Of several guards on one trial the newest that is alive decides, so
/// that guards may end in any order, on any thread.  May outlive the trials.
class refresh_setting {
public:
    refresh_setting(const refresh_setting&) = delete;
    refresh_setting& operator=(const refresh_setting&) = delete;

protected:
    refresh_setting() = default;
    ~refresh_setting() = default;

    template <refreshable_trial Trial>
    void set(bool on, const Trial& run) {
        endings_.push_back(run.set_refresh(on));
    }
    template <refreshable_trials Trials>
    void set(bool on, const Trials& trials) {
        for (const auto& run : trials) {
            set(on, run);
        }
    }

private:
    std::vector<std::shared_ptr<void>> endings_;  // the settings end with them
};

}  // namespace detail

/// While it lives, queries on the trials answer from what is loaded: `no_refresh guard{trial, other};`
class no_refresh : public detail::refresh_setting {
public:
    template <class... Trials>
        requires((refreshable_trial<Trials> || refreshable_trials<Trials>) && ...)
    explicit no_refresh(const Trials&... trials) {
        (set(false, trials), ...);
    }
};

/// While it lives, queries look for new steps, even inside a no_refresh: `refresh guard{trial};`
class refresh : public detail::refresh_setting {
public:
    template <class... Trials>
        requires((refreshable_trial<Trials> || refreshable_trials<Trials>) && ...)
    explicit refresh(const Trials&... trials) {
        (set(true, trials), ...);
    }
};

}  // namespace v1
}  // namespace smdebug
