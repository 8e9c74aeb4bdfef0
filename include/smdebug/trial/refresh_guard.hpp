// Scope guards that switch a trial's refreshing off or on, and put back what was before, whatever flies past.
// Used by: rules/invoke.hpp, users.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// A trial whose refreshing can be set.
template <class T>
concept refreshable_trial = requires(const T& trial) {
    typename T::state_type;
    { trial.state()->set_dynamic_refresh(true) } -> std::same_as<bool>;
};

/// Sets refreshing on one trial or several for a scope.  Not copyable: there is one to put back.
/// Threads: guards of several threads on one trial would put back each other's settings; give each thread a trial.
template <bool On, refreshable_trial... Trials>
class refresh_setting {
public:
    explicit refresh_setting(const Trials&... trials)
        : states_(trials.state()...), before_{trials.state()->set_dynamic_refresh(On)...} {}
    refresh_setting(const refresh_setting&) = delete;
    refresh_setting& operator=(const refresh_setting&) = delete;
    ~refresh_setting() { put_back(std::index_sequence_for<Trials...>{}); }

private:
    // Backwards, so that a trial that is named twice ends as it began.
    template <std::size_t... I>
    void put_back(std::index_sequence<I...> /*places*/) noexcept {
        constexpr std::size_t count = sizeof...(Trials);
        (static_cast<void>(std::get<count - 1 - I>(states_)->set_dynamic_refresh(before_[count - 1 - I])), ...);
    }
    std::tuple<std::shared_ptr<const typename Trials::state_type>...> states_;
    std::array<bool, sizeof...(Trials)> before_;
};

/// While it lives, queries on the trials answer from what is loaded: `no_refresh guard{trial, other};`
template <refreshable_trial... Trials>
class no_refresh : public refresh_setting<false, Trials...> {
public:
    using refresh_setting<false, Trials...>::refresh_setting;
};
template <refreshable_trial... Trials>
no_refresh(const Trials&...) -> no_refresh<Trials...>;

/// While it lives, queries look for new steps, even inside a no_refresh: `refresh guard{trial};`
template <refreshable_trial... Trials>
class refresh : public refresh_setting<true, Trials...> {
public:
    using refresh_setting<true, Trials...>::refresh_setting;
};
template <refreshable_trial... Trials>
refresh(const Trials&...) -> refresh<Trials...>;

}  // namespace v1
}  // namespace smdebug
