// The built-in rule SimilarAcrossRuns: a tensor that differs from that of another run.
// Source: the public description of SageMaker Debugger's rule SimilarAcrossRuns.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/closeness.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/judge/shared_runs.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor that DIFFERS from the same tensor of another run at the same global step, despite the
/// rule's name: in shape, or by a value with |this - other| > atol + rtol * |other|.
/// A finding for each other run that differs.  If the other run lacks the tensor, or lacks it at this step or from this
/// worker: a note; with strict a tensor that the other run never saved counts as different.
/// Decision: the public description has no tolerances; ours are NumPy's, and NaN equals NaN.
/// Edge cases: text, complex numbers, and tensors that are empty in either run, are skipped.
/// Without all_workers the first worker by name of each run counts; with it, workers of the same name.
/// Fast path: min, max and abs_max can prove a difference, even if they are saved in one run and computed in the other;
/// equality needs the values.  If only reductions were saved, the tensor is noted.
/// Cost: see compare_saved.
struct similar_across_runs {
    std::vector<std::shared_ptr<const trial>> others = {};  ///< the runs to compare with; at least one
    text_list collection_names = {};                        ///< with tensor_regex the union; without either all tensors
    text_list tensor_regex = {};
    double rtol = 1e-5;
    double atol = 1e-8;
    bool equal_nan = true;
    bool strict = false;  ///< a tensor that the other run lacks is different
    bool all_workers = false;

    /// What was read of the other runs, so that each of their steps is read once; findings do not depend on it.
    mutable detail::shared_runs shared = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "similar_across_runs"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "SimilarAcrossRuns"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a tensor differs from the same tensor of another run";
    }
    template <class Rule = similar_across_runs>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: all tensors"},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"rtol", &Rule::rtol, "how far values may be apart, relative to the other run's"},
            setting{"atol", &Rule::atol, "how far values may be apart, in addition"},
            setting{"equal_nan", &Rule::equal_nan, "whether NaN is the same as NaN"},
            setting{"strict", &Rule::strict, "whether a tensor that the other run never saved is different"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    void check() const;

    /// The runs to compare with, for the caller of the rule, which switches off their refreshing, too.
    [[nodiscard]] std::vector<std::reference_wrapper<const trial>> other_runs() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        std::vector<finding> findings;
        for (const trial& given : other_runs()) {
            const std::optional<step_number> there = step_in(given, run, step);
            const trial& other = there ? shared.at(given, *there) : given;
            std::vector<finding> of_one =
                detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                   [&](const auto& tensor) { return judge(tensor, other, there); });
            findings.insert(findings.end(), std::make_move_iterator(of_one.begin()),
                            std::make_move_iterator(of_one.end()));
        }
        return findings;
    }

private:
    // The other run's global step; matched by mode and mode step if either run has no global steps of its own.
    [[nodiscard]] static std::optional<step_number> step_in(const trial& other, const auto& run, step_number step) {
        if (other.steps_are_synthetic() || run.steps_are_synthetic()) {
            const auto in = run.mode(step);
            const auto mode_step = run.mode_step(step);
            return in && mode_step ? other.global_step(*in, *mode_step) : std::nullopt;
        }
        return step;
    }

    // `step`: the other run's.
    [[nodiscard]] finding judge(const auto& tensor, const trial& other, std::optional<step_number> step) const {
        const std::string of_run = "run " + std::string{other.name()};
        if (!other.has_tensor(tensor.name())) {
            const std::string unknown = of_run + " does not have this tensor";
            return strict ? tensor.met(1, 0, unknown) : tensor.note(unknown);
        }
        const auto handle = other.tensor(tensor.name());
        const std::vector<step_number> saved = step ? detail::last_steps(handle, *step, 1) : std::vector<step_number>{};
        if (saved.empty() || saved.back() != *step) {
            return tensor.note(of_run + " did not save this tensor at " + tensor.step_words());
        }
        const std::vector<std::string> workers = handle.workers(*step, read_options{});
        const std::string* const worker = detail::worker_to_compare(workers, tensor.worker(), all_workers);
        if (worker == nullptr) {
            return tensor.note("worker " + tensor.worker() + " of " + of_run + " did not save this tensor at " +
                               tensor.step_words());
        }
        return verdict(tensor,
                       detail::compare_saved(tensor, detail::saved_tensor{handle, tensor.name(), *step, *worker},
                                             {rtol, atol, equal_nan}),
                       of_run);
    }

    [[nodiscard]] static finding verdict(const auto& tensor, detail::comparison compared, const std::string& of_run) {
        switch (compared.alike) {
            case detail::likeness::same:
            case detail::likeness::not_comparable:
                break;
            case detail::likeness::different:
                return tensor.met(compared.apart, compared.allowed,
                                  "its " + compared.what + " is " + compared.value + " here, and " +
                                      compared.reference + " in " + of_run);
            case detail::likeness::unknown:
                if (compared.reference_missing) {
                    compared.note.message = of_run + ": " + compared.note.message;
                    compared.note.worker = tensor.worker();
                }
                return compared.note;
        }
        return {};
    }
};

inline void similar_across_runs::check() const {
    detail::check_tolerance(name(), {rtol, atol, equal_nan});
    if (others.empty() || std::count(others.begin(), others.end(), nullptr) > 0) {
        throw detail::insufficient_information(name(), "other_trials is needed: the run or runs to compare with");
    }
}

inline std::vector<std::reference_wrapper<const trial>> similar_across_runs::other_runs() const {
    std::vector<std::reference_wrapper<const trial>> runs;
    for (const auto& other : others) {
        if (other != nullptr) {
            runs.emplace_back(*other);
        }
    }
    return runs;
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
