// The built-in rule learned: what is different from trainings that went well.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

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

    /// What was seen of the run, and the facts of the file.  A copy goes on from there by itself.
    class history {
    public:
        history();
        history(const history& other);
        history& operator=(const history& other);
        ~history();

    private:
        friend learned;
        struct state;  // the judge includes all of learning, which a program that names the rule need not read
        std::unique_ptr<state> state_;
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
        return look(run, step);
    }

    /// Notes about what was not looked at, for the end of a walk.
    [[nodiscard]] std::vector<finding> conclude(const std::derived_from<trial> auto& /*run*/) const { return notes(); }

    /// The envelopes of the tensors that the run has saved, at its steps, as the parameters have widened them.
    [[nodiscard]] std::vector<rule_outcome::band> bands() const;

private:
    [[nodiscard]] std::vector<finding> look(const trial& run, step_number step);
    [[nodiscard]] std::vector<finding> notes() const;
    [[nodiscard]] const learned_facts& known_facts() const;
};

}  // namespace smdebug::inline v1::rules

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/learned.ipp>
#endif
