// The built-in rule learned: what is different from trainings that went well.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/learned_judge.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires where a run breaks what smdebug::learn() found in healthy ones: a tensor that is missing, of another dtype or
/// shape, not finite, of another sign, changed or unchanged, different in replicas or from a tensor that it was equal
/// to, or a number below or above its envelope.  Each kind once for a tensor, mode and worker: at the onset.
/// Every worker is judged by its own saves.  What is not in the file, or has too little support, is not judged; notes at
/// the end of the walk say what was not looked at, as that is not healthy.
/// Text and complex numbers are not looked at, but that they are there.  An unreadable save: a note.
/// It begins with the first step that it is called with: use a new rule for a new walk.
/// Cost: one read and pass for each save of a tensor that the file has.
/// Memory: the facts; of each tensor and worker a hash.
struct learned {
    std::string file = {};  ///< of the facts; not needed where `facts` are given
    std::optional<learned_facts> facts = {};
    text_list kinds = {};         ///< all if empty
    text_list tensor_regex = {};  ///< all names of the facts if empty
    text_list exclude_regex = {};
    std::int64_t patience = 1;
    std::int64_t unchanged_for = 2;
    double widen = 1;
    std::int64_t min_support = 8;

    /// What was seen of the run, and the facts of the file.
    class history {
        friend learned;
        mutable std::optional<learned_facts> loaded_ = {};
        std::optional<detail::learned_judge> judge_ = {};
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "learned"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a run differs from what was learned of healthy ones";
    }
    template <class Rule = learned>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"file", &Rule::file, "what healthy runs have in common: the file that `smdebug learn` wrote"},
            setting{"kinds", &Rule::kinds,
                    "what to look for, of missing, dtype, shape, non_finite, negative, positive, changed, unchanged, "
                    "replicas, tied, low, high; none: all"},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"exclude_regex", &Rule::exclude_regex, exclude_regex_meaning, setting_kind::regexes},
            setting{"patience", &Rule::patience, "how many saves in a row must be outside an envelope"},
            setting{"unchanged_for", &Rule::unchanged_for,
                    "how many saves in a row must be the same as the one before"},
            setting{"widen", &Rule::widen, "a factor of all margins: 2 doubles them"},
            setting{"min_support", &Rule::min_support,
                    "how often a fact must have been seen in healthy runs to be judged"}};
    }

    /// Reads the file.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        detail::learned_judge& judge = begun();
        judge.begin_step(run.mode(step).value_or(mode::global), run.mode_step(step).value_or(step));
        std::vector<finding> notes;
        std::vector<detail::judged_save_of> saves;
        std::vector<std::string> names = run.tensor_names({.step = step});
        detail::leave_out_histogram_tables(run, step, names);  // as learning does
        for (const std::string& tensor : names) {
            const std::optional<smdebug::detail::learn::number_set> kept = judge.see(tensor);
            if (!kept) {
                continue;
            }
            const auto handle = run.tensor(tensor);
            for (const std::string& worker : handle.workers(step, read_options{})) {
                const detail::saved_tensor save{handle, tensor, step, worker};
                auto look = detail::look_at_save(save, *kept);
                if (look) {
                    saves.push_back({tensor, worker, std::move(*look)});
                } else {
                    detail::add_if_said(notes, save.note(look.error()));
                }
            }
        }
        std::vector<finding> findings = judge.judge(saves);
        findings.insert(findings.end(), std::make_move_iterator(notes.begin()), std::make_move_iterator(notes.end()));
        return findings;
    }

    /// Notes about what was not looked at, for the end of a walk.
    [[nodiscard]] std::vector<finding> conclude(const std::derived_from<trial> auto& /*run*/) const {
        return so_far.judge_ ? so_far.judge_->conclude() : std::vector<finding>{};
    }

    /// The envelopes of the tensors that the run has saved, at its steps, as the parameters have widened them.
    [[nodiscard]] std::vector<rule_outcome::band> bands() const {
        return so_far.judge_ ? so_far.judge_->bands() : std::vector<rule_outcome::band>{};
    }

private:
    [[nodiscard]] const learned_facts& known_facts() const;
    [[nodiscard]] detail::learned_judge& begun();
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/learned.ipp>
#endif
