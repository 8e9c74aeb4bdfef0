// What trainings that went well have in common: the result of learning, its file, and what is read from it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

namespace detail::learn {

struct all_facts;
struct facts_access;

}  // namespace detail::learn

/// A number's range in healthy runs around a mode step, a to b, and the bounds beyond which the rule `learned` fires.
struct learned_envelope {
    double a = std::numeric_limits<double>::quiet_NaN();
    double b = std::numeric_limits<double>::quiet_NaN();
    double lower = -std::numeric_limits<double>::infinity();  ///< infinite: that side is not judged
    double upper = std::numeric_limits<double>::infinity();
};

/// Facts of each tensor and mode, joined over healthy runs: smdebug::learn() makes those of one run.
///
///     smd::learned_facts facts = smd::learn(smd::local_trial("runs/a"));
///     facts.join(smd::learn(smd::local_trial("runs/b")));
///     facts.save("normal.json");
///
/// Without any run there are no facts: joining that changes nothing.  Copies share their data.
/// Memory: 5 to 12 bytes for each of up to six numbers of a window, 8 for the window, whatever the number of runs, and
/// the runs' names.
class learned_facts {
public:
    learned_facts();

    /// The runs' names, sorted by bytes.
    [[nodiscard]] const std::vector<std::string>& runs() const noexcept;
    /// Those that would raise an alarm if the facts were learned from the others: a rough estimate of how often a new
    /// healthy run does, by envelopes alone.  Sorted.
    [[nodiscard]] const std::vector<std::string>& suspects() const noexcept;
    /// The tensors' names, sorted.
    [[nodiscard]] std::vector<std::string> tensors() const;
    /// A number's envelope at a mode step; `number`: "l2", "value", ... Nothing where it would not be judged: no such
    /// number, or fewer than two runs, or than half of them, around the step.
    /// `widen`: a factor of the margins, as the rule's parameter is.
    [[nodiscard]] std::optional<learned_envelope> envelope(std::string_view tensor, mode in, std::string_view number,
                                                           step_number mode_step, double widen = 1) const;

    /// Joins the facts of other runs; in any order the result is the same, to the bit.  Margins and suspects are found
    /// anew, even where they were edited by hand; `widen`, and facts that were deleted, stay as they are.
    /// Errors: value_error: a run is in both, or they keep other numbers; then nothing has changed.
    void join(learned_facts other);

    /// The file's text.
    [[nodiscard]] std::string to_json() const;
    /// Errors: value_error that says what is wrong, and where.  `source`: what the text is called in it.
    [[nodiscard]] static learned_facts from_json(std::string_view text, const std::string& source = "the text");
    /// Writes a file, which appears when it is whole.  Errors: access_denied, unavailable, not_found.
    void save(const std::string& path) const;
    /// Errors: not_found, access_denied, unavailable; value_error: see from_json().
    [[nodiscard]] static learned_facts load(const std::string& path);

private:
    friend struct detail::learn::facts_access;

    std::shared_ptr<const detail::learn::all_facts> data_;
};

namespace detail::learn {

/// The data themselves: for learning, and for the rule.
struct facts_access {
    [[nodiscard]] static const all_facts& data(const learned_facts& facts) noexcept { return *facts.data_; }
    [[nodiscard]] static learned_facts made_of(all_facts data);
};

}  // namespace detail::learn
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/impl/learned_facts.ipp>
#endif
