// The bodies of <smdebug/watch/watched_names.hpp>.
#pragma once

#include <smdebug/hook/known_collections.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/watch/watched_names.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE watched_names::watched_names(const hook_options& watched, const std::vector<std::string>& include_regex)
    : everything_(include_regex.empty()) {
    compile(include_regex);
    if (everything_) {
        learn_training(watched);
    }
}

SMDEBUG_INLINE bool watched_names::contains(std::string_view name, mode in) {
    if (everything_ && in != mode::eval && in != mode::predict) {
        return true;
    }
    auto decided = decided_.find(name);
    if (decided == decided_.end()) {
        decided = decided_.emplace(name, matches(name)).first;
    }
    return decided->second != everything_;  // where everything else is seen, a match is left out
}

SMDEBUG_INLINE bool watched_names::contains(std::string_view name, std::span<const std::string_view> collections,
                                            mode in) {
    const bool left_alone = everything_ && (in == mode::eval || in == mode::predict) &&
                            std::any_of(collections.begin(), collections.end(), known_collections::is_of_training);
    return !left_alone && contains(name, in);
}

SMDEBUG_INLINE void watched_names::compile(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
        patterns_.emplace_back(pattern);
    }
}

SMDEBUG_INLINE void watched_names::learn_training(const hook_options& watched) {
    bool has_gradients = false;
    for (const collection& group : watched.collections) {
        if (known_collections::is_of_training(group.name)) {
            const bool says = !group.include_regex.empty() || !group.tensor_names.empty();
            compile(says ? group.include_regex : known_collections::regexes_of(group.name));
            names_.insert(group.tensor_names.begin(), group.tensor_names.end());
            has_gradients = has_gradients || group.name == "gradients";
        }
    }
    if (!has_gradients) {
        compile(known_collections::regexes_of("gradients"));
    }
}

SMDEBUG_INLINE bool watched_names::matches(std::string_view name) const {
    return names_.contains(name) ||
           std::any_of(patterns_.begin(), patterns_.end(), [&](const regex& pattern) { return pattern.search(name); });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
