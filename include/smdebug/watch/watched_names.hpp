// Which tensors rules inside the training process see, by their names: a name is looked at once.
// Used by: watch/watcher.hpp.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/regex.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The tensors that match some regexes.  Where there are none: all; in EVAL and PREDICT without those that are of the
/// training before, as a hook has it.
/// Not for several threads at once.
class watched_names {
public:
    /// Errors: value_error for a bad regex.
    watched_names(const hook_options& watched, const std::vector<std::string>& include_regex)
        : everything_(include_regex.empty()) {
        compile(include_regex);
        if (everything_) {
            learn_training(watched);
        }
    }

    /// Cost: none where everything is seen, else one hash look-up once the name is known.
    [[nodiscard]] bool contains(std::string_view name, mode in) {
        if (everything_ && in != mode::eval && in != mode::predict) {
            return true;
        }
        auto at = known_.find(name);
        if (at == known_.end()) {
            at = known_.emplace(name, matches(name)).first;
        }
        return at->second != everything_;  // a match is of the training, where everything else is seen
    }

    /// The same of a tensor that is put into collections.
    [[nodiscard]] bool contains(std::string_view name, std::span<const std::string_view> collections, mode in) {
        const bool left_alone = everything_ && (in == mode::eval || in == mode::predict) &&
                                std::any_of(collections.begin(), collections.end(), known_collections::is_of_training);
        return !left_alone && contains(name, in);
    }

private:
    void compile(const std::vector<std::string>& patterns) {
        for (const std::string& pattern : patterns) {
            patterns_.emplace_back(pattern);
        }
    }

    // The tensors of such collections, as the hook has these configured.
    void learn_training(const hook_options& watched) {
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

    [[nodiscard]] bool matches(std::string_view name) const {
        return names_.contains(name) || std::any_of(patterns_.begin(), patterns_.end(),
                                                    [&](const regex& pattern) { return pattern.search(name); });
    }

    bool everything_;
    std::vector<regex> patterns_;
    std::set<std::string, std::less<>> names_;
    std::unordered_map<std::string, bool, text_hash, std::equal_to<>> known_;
};

}  // namespace v1
}  // namespace smdebug
