// The bodies of <smdebug/rules/built_in/learned.hpp>.
#pragma once

#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE const learned_facts& learned::known_facts() const {
    if (facts) {
        return *facts;
    }
    if (!so_far.loaded_) {
        so_far.loaded_ = learned_facts::load(file);
    }
    return *so_far.loaded_;
}

SMDEBUG_INLINE void learned::check() const {
    detail::require_setting(name(), facts.has_value() || !file.empty(), "file");
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "unchanged_for", unchanged_for, {.least = 1});
    detail::check_range(name(), "widen", widen, {.least = 0, .above_least = true});
    detail::check_range(name(), "min_support", min_support, {.least = 1});
    for (const std::string& kind : kinds.texts()) {
        static_cast<void>(detail::learned_kind_named(kind));
    }
    static_cast<void>(known_facts());
}

SMDEBUG_INLINE detail::learned_judge& learned::begun() {
    if (!so_far.judge_) {
        so_far.judge_.emplace(known_facts(), detail::learned_settings{.kinds = kinds,
                                                                      .tensor_regex = tensor_regex,
                                                                      .exclude_regex = exclude_regex,
                                                                      .patience = patience,
                                                                      .unchanged_for = unchanged_for,
                                                                      .widen = widen,
                                                                      .min_support = min_support});
    }
    return *so_far.judge_;
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
