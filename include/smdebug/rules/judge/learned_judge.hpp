// Compares a run, step by step, with what was learned from healthy ones.  The judge knows nothing of trials: the
// rule `learned` feeds it the saves of each step.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/facts/all_facts.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/learn/look/run_learner.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug::inline v1::rules::detail {

/// The ways in which a run can differ, in the order of findings.
enum class learned_kind : std::uint8_t {
    missing,
    dtype,
    shape,
    non_finite,
    negative,
    positive,
    changed,
    unchanged,
    replicas,
    tied,
    low,
    high,
};
inline constexpr std::array<std::string_view, 12> learned_kind_names{"missing",  "dtype",    "shape",   "non_finite",
                                                                     "negative", "positive", "changed", "unchanged",
                                                                     "replicas", "tied",     "low",     "high"};

/// What a judge looks at, and how strictly.
struct learned_settings {
    text_list kinds = {};
    text_list tensor_regex = {};
    text_list exclude_regex = {};
    std::int64_t patience = 1;
    std::int64_t unchanged_for = 2;
    double widen = 1;
    std::int64_t min_support = 8;
};

/// A save and its shape.
struct learned_save {
    smdebug::detail::learn::save_look look = {};
    std::optional<shape_type> shape = {};  ///< of the values, else the saved one
};

/// Reads a save.  `kept`: the numbers that are compared.  Fails if any part of it cannot be read.
[[nodiscard]] lookup<learned_save> look_at_save(const saved_tensor& tensor,
                                                const smdebug::detail::learn::number_set& kept);

/// A save of a tensor at the current step.
struct judged_save_of {
    std::string tensor = {};
    std::string worker = {};
    learned_save save = {};
};

/// A judge of one walk over one run.  At each step: begin_step(); see() each tensor; then judge() the saves that could be
/// read.
class learned_judge {
public:
    /// Errors: value_error for a bad regex, and for a kind that there is not.
    learned_judge(learned_facts facts, const learned_settings& settings);

    /// Begins the next step.
    void begin_step(mode in, step_number mode_step);
    /// Notes that a tensor was saved at this step, whether it can be read or not, or that it has no entry.  The numbers
    /// to compare; nothing if it is not looked at.
    [[nodiscard]] std::optional<smdebug::detail::learn::number_set> see(const std::string& tensor);
    /// The findings about the saves of this step, which are in the order of tensor and worker.
    [[nodiscard]] std::vector<finding> judge(const std::vector<judged_save_of>& saves);

    /// What was not looked at, at the end of the walk.
    [[nodiscard]] std::vector<finding> conclude() const;
    /// The envelopes of the tensors that were saved, at the steps that were judged.
    [[nodiscard]] std::vector<rule_outcome::band> bands() const;

private:
    using entry_facts = smdebug::detail::learn::entry_facts;
    using number = smdebug::detail::learn::number;

    struct number_rows {
        std::int64_t below = 0;
        std::int64_t above = 0;
    };
    struct worker_state {
        std::int64_t same_in_a_row = 0;
        std::map<number, number_rows> rows = {};
    };
    struct entry_state {
        const entry_facts* facts = nullptr;
        smdebug::detail::learn::number_set kept = {};  // of these facts
        std::size_t last_save = 0;                     // counted in steps of the mode; 0 if never
        smdebug::detail::learn::newest_contents newest = {};
        std::map<std::string, worker_state, std::less<>> workers = {};
    };
    struct mode_state {
        smdebug::detail::learn::mode_count steps = {};
        std::map<std::string, entry_state, std::less<>> entries = {};  // those selected
        bool has_saves = false;                                        // of any of them
        bool is_beyond = false;                                        // saves after the last healthy step
    };
    struct ordered_finding {
        learned_kind kind;
        std::size_t place = 0;  // of the number
        finding what = {};
        [[nodiscard]] auto order() const { return std::tie(what.tensor, what.worker, kind, place); }
    };

    [[nodiscard]] bool is_selected(const std::string& tensor) const;
    [[nodiscard]] bool has_support(const std::optional<std::uint64_t>& count) const noexcept {
        return count && *count >= static_cast<std::uint64_t>(settings_.min_support);
    }
    /// Whether a finding of a kind is wanted, and is the first one.  Notes that it was.
    [[nodiscard]] bool begins(learned_kind kind, const std::string& tensor, std::string_view in,
                              const std::string& worker, std::size_t place = 0);
    void add(learned_kind kind, const std::string& tensor, const std::string& worker, double value, double threshold,
             const std::string& message, std::size_t place = 0);

    void judge_missing();
    void judge_save(const judged_save_of& save, entry_state& entry);
    void judge_form(const judged_save_of& save, const entry_facts& facts);
    void judge_pair(const judged_save_of& save, entry_state& entry, worker_state& worker);
    void judge_numbers(const judged_save_of& save, const entry_facts& facts, worker_state& worker);
    void judge_replicas(const judged_save_of* begin, const judged_save_of* end, const entry_facts& facts);
    void judge_tied(const std::vector<judged_save_of>& saves);

    [[nodiscard]] mode_state& now() { return modes_[smdebug::detail::learn::index_of(mode_)]; }
    [[nodiscard]] std::string healthy_runs(std::uint64_t runs) const;

    learned_facts facts_;
    learned_settings settings_;
    std::array<bool, learned_kind_names.size()> asked_ = {};
    smdebug::detail::name_filter chosen_;
    smdebug::detail::name_filter excluded_;
    std::array<mode_state, 4> modes_ = {};
    std::map<std::string, std::vector<std::size_t>, std::less<>> classes_ = {};  // of selected tensors
    std::map<std::string, bool, std::less<>> is_selected_ = {};                  // of the run, asked before
    std::set<std::pair<std::string, mode>> without_entry_ = {};
    std::set<std::tuple<learned_kind, std::string, std::string, std::string, std::size_t>> told_ = {};
    mode mode_ = mode::global;
    step_number mode_step_ = 0;
    std::vector<ordered_finding> found_ = {};
};

/// Errors: value_error: no such kind.
[[nodiscard]] learned_kind learned_kind_named(std::string_view name);

}  // namespace smdebug::inline v1::rules::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/learned_judge.ipp>
#endif
