// Which tensors rules inside the training process see, by their names: each name is matched once.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/regex.hpp>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The tensors that match some regexes.  Where there are none: all; in EVAL and PREDICT without those that are of the
/// training before, as a hook has it.
/// Not for several threads at once.
class watched_names {
public:
    /// Errors: value_error for a bad regex.
    watched_names(const hook_options& watched, const std::vector<std::string>& include_regex);

    /// Cost: none where everything is seen, else one hash look-up once the name was matched.
    [[nodiscard]] bool contains(std::string_view name, mode in);

    /// The same of a tensor that is put into collections.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/watched_names.ipp>
#endif
