// The bodies of <smdebug/trial/shared/shared_view.hpp>.
#pragma once

#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/shared/shared_view.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE shared_view::shared_view(const std::shared_ptr<const trial_state>& state, const sharing_options* sharing)
    : shared_(sharing != nullptr ? std::make_unique<shared_tensors>(state, *sharing) : nullptr) {}

SMDEBUG_INLINE shared_tensor* shared_view::share_of(const std::string& name) const {
    return shared_ != nullptr ? &shared_->share_of(name) : nullptr;
}

SMDEBUG_INLINE bool shared_view::brings_files() const noexcept { return shared_ != nullptr && shared_->brings_files(); }

SMDEBUG_INLINE void shared_view::begin_step(const catalog& from, step_number step, std::optional<step_number> end) {
    if (shared_ != nullptr) {
        shared_->begin_step(step, end);
    }
    step_files now;
    if (const auto* entry = from.find_step(step)) {
        now.job = from.job;
        for (const catalog::file& written : entry->files()) {
            now.layouts.push_back(from.layouts[written.layout]);
            now.workers.push_back(written.worker);
        }
    }
    if (now != files_) {
        files_ = std::move(now);
        names_.lock()->clear();
        choices_.lock()->clear();
    }
    step_ = step;
}

SMDEBUG_INLINE std::vector<std::string> shared_view::tensor_names(const tensor_names_options& which,
                                                                  function_ref<std::vector<std::string>()> ask) const {
    if (!which.step || which.step != step_ || which.mode != mode::global) {
        return ask();
    }
    const question asked{which.regex.given(), which.regex.texts(),
                         which.collection ? std::optional{which.collection->name()} : std::nullopt};
    {
        const auto cached = names_.lock();
        if (const auto known = cached->find(asked); known != cached->end()) {
            return known->second;
        }
    }
    std::vector<std::string> names = ask();
    return names_.lock()->insert_or_assign(asked, std::move(names)).first->second;
}

SMDEBUG_INLINE std::shared_ptr<const void> shared_view::kept_of_step(
    step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
    function_ref<std::shared_ptr<const void>()> make) const {
    if (step != step_ || shared_ == nullptr) {
        return nullptr;
    }
    {
        const auto known = choices_.lock();
        for (const step_choice& each : *known) {
            if (each.type == type && each.collections == collections.texts() && each.regexes == regexes.texts()) {
                return each.made;
            }
        }
    }
    std::shared_ptr<const void> made = make();
    choices_.lock()->push_back({type, collections.texts(), regexes.texts(), made});
    return made;
}

SMDEBUG_INLINE void shared_view::forget() noexcept {
    const std::vector<step_choice> dropped = std::exchange(*choices_.lock(), {});  // freed when the lock is
}

SMDEBUG_INLINE std::shared_ptr<rule_view> view_for_rules(const std::shared_ptr<const trial_state>& state,
                                                         const sharing_options* sharing) {
    return std::make_shared<shared_view>(state, sharing);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
