// Adds up what a rule looked at in a run, and what of that could not be read.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/trial/shared/read_log.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Adds up the look-ups of one rule over a run.  What could not be read counts once, though the rule may come
/// back to it at later steps.
/// Memory: a few bytes for each tensor that could not be read, of the last 100,000 or so.
class read_tally {
public:
    /// One call.  `skipped`: why it skipped the step, null if it did not.
    /// `asked` is null where look-ups cannot be logged, and it is always empty for a rule that is for one type of trial
    /// only.  Then its notes and errors count what could not be read, and a step without any of those counts for one
    /// tensor.
    void add(const read_log::entries* asked, const std::vector<finding>& findings, const error* skipped,
             rule_outcome& to);
    /// Whether any call took the handle of a tensor.
    [[nodiscard]] bool has_selected() const noexcept { return has_selected_; }

private:
    static constexpr std::size_t most_known = 100'000;

    [[nodiscard]] bool is_new(const record_key& one);
    [[nodiscard]] static record_key key_of_note(std::string_view tensor, std::string_view worker, std::string_view why);

    std::unordered_set<std::uint64_t> counted_;
    bool has_selected_ = false;
    bool watched_ = false;         // something was asked for
    std::size_t quiet_calls_ = 0;  // in which nobody saw anything
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/read_tally.ipp>
#endif
