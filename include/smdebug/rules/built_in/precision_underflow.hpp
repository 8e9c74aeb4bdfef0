// The built-in rule precision_underflow: gradients that vanish in half precision.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// The measure behind it.
struct small_values_measure {
    [[nodiscard]] reduce::detail::small_counts operator()(const tensor_view& values) const {
        return reduce::detail::count_small(values);
    }
    [[nodiscard]] friend bool operator==(const small_values_measure&, const small_values_measure&) = default;
};

}  // namespace detail

/// Fires for each tensor of a 16-bit or 8-bit floating-point dtype that is low in `patience` saves of a mode in a row.
/// Of n elements Z are zero, U subnormal; a save is low if
///     (Z + U) / n > threshold, and U >= subnormal_share * (n - Z), or Z = n and an earlier save was not all zeros
/// Zeros alone are often sparsity: subnormal numbers must be among the rest.  A tensor that was always zero is frozen.
/// Edge cases: NaN and infinity are neither.  Other dtypes, text, complex numbers and empty tensors are skipped.  A
/// tensor of which only reductions were saved is a note.
/// Saves before the walk's start count.  Cost: one read and pass; at a late start up to `patience` more, and for
/// tensors that are all zeros those up to the last that was not.
struct precision_underflow {
    text_list collection_names = {};  ///< with tensor_regex the union; by default the collection "gradients"
    text_list tensor_regex = {};
    double threshold = 0.5;
    double subnormal_share = 0.1;
    std::int64_t patience = 3;
    bool all_workers = true;

    /// What is known about the saves of a series that are not all zeros.
    struct nonzero_saves {
        std::optional<step_number> at = {};                                    ///< the earliest that is known
        step_number none_before = std::numeric_limits<step_number>::lowest();  ///< there is none before this step
    };
    /// Whether earlier saves were low, so that each is read once; findings do not depend on it.
    mutable detail::history_table<detail::save_history<bool, nonzero_saves>> so_far = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "precision_underflow"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "gradients become subnormal or zero in half precision";
    }
    template <class Rule = precision_underflow>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"collection_names", &Rule::collection_names,
                                  "collections to look at; with tensor_regex: both; neither: \"gradients\""},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"threshold", &Rule::threshold,
                                  "fires if zeros and subnormal numbers are more than this share of the elements"},
                          setting{"subnormal_share", &Rule::subnormal_share,
                                  "at least this share of the other elements must be subnormal"},
                          setting{"patience", &Rule::patience, "in how many saves in a row it must be so"},
                          setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const mode in = run.mode(step).value_or(mode::global);
        const auto is_low = [&](const auto& tensor, const save& one, nonzero_saves& nonzero) {
            return one.what && is_low_at(run, in, tensor, *one.what, nonzero);
        };
        return detail::judge_series(
            run, step, detail::choice_or(collection_names, tensor_regex, "gradients"), all_workers, so_far,
            static_cast<std::size_t>(patience) - 1, [](const auto& tensor) { return counts_of(tensor); },
            [&](const auto& tensor, const save& one, nonzero_saves& nonzero) -> std::optional<bool> {
                const bool low = is_low(tensor, one, nonzero);
                if (one.what && one.what->zeros < one.what->elements) {
                    nonzero.at = nonzero.at && *nonzero.at < tensor.step() ? *nonzero.at : tensor.step();
                } else if (nonzero.none_before == tensor.step()) {
                    nonzero.none_before = tensor.step() + 1;
                }
                return low;
            },
            [&](const auto& tensor, const save& one, auto& history) {
                bool row = history.entries().size() + 1 == static_cast<std::size_t>(patience);
                for (const auto& each : history.entries()) {
                    row = row && each.what;
                }
                return row && is_low(tensor, one, history.more) ? met(tensor, *one.what) : one.note;
            });
    }

private:
    using small_counts = reduce::detail::small_counts;
    using save = detail::judged_save<small_counts>;

    [[nodiscard]] static save counts_of(const auto& tensor) {
        const auto counts = tensor.measured(detail::small_values_measure{});
        if (counts) {
            return counts->elements > 0 ? save::of(*counts) : save::none();
        }
        return save::unknown_or_none(detail::note_without_values(
            tensor, counts.error(), "its values were not saved, and reductions do not say how many are subnormal"));
    }

    [[nodiscard]] bool is_low_at(const auto& run, mode in, const auto& tensor, const small_counts& counts,
                                 nonzero_saves& nonzero) const {
        if (reduce::detail::least_normal(counts.type) == 0) {
            return false;
        }
        const auto rest = static_cast<double>(counts.elements - counts.zeros);
        if (!(share_of(counts) > threshold)) {
            return false;
        }
        return rest > 0 ? static_cast<double>(counts.subnormals) >= subnormal_share * rest
                        : was_nonzero_before(run, in, tensor, nonzero);
    }

    [[nodiscard]] static double share_of(const small_counts& counts) noexcept {
        return static_cast<double>(counts.zeros + counts.subnormals) / static_cast<double>(counts.elements);
    }

    [[nodiscard]] bool was_nonzero_before(const auto& run, mode in, const auto& tensor, nonzero_saves& nonzero) const {
        if (nonzero.at && *nonzero.at < tensor.step()) {
            return true;
        }
        bool found = false;
        detail::visit_steps_back(tensor.handle(), tensor.step() - 1, mode::global, [&](step_number earlier) {
            if (earlier < nonzero.none_before) {
                return false;
            }
            if (run.mode(earlier) == in) {
                const save one = detail::read_earlier(tensor, earlier, all_workers,
                                                      [](const auto& each) { return counts_of(each); });
                found = one.what && one.what->zeros < one.what->elements;
                nonzero.at = found ? std::optional{earlier} : nonzero.at;
            }
            return !found;
        });
        if (!found && nonzero.none_before < tensor.step()) {
            nonzero.none_before = tensor.step();
        }
        return found;
    }

    [[nodiscard]] finding met(const auto& tensor, const small_counts& counts) const {
        return tensor.met(share_of(counts), threshold,
                          std::to_string(counts.zeros) + " zeros and " + std::to_string(counts.subnormals) +
                              " subnormal numbers among " + std::to_string(counts.elements) + " of " +
                              std::string{name_of(counts.type)} + ", whose least normal number is " +
                              short_text(reduce::detail::least_normal(counts.type)) +
                              (patience > 1 ? "; so in " + std::to_string(patience) + " saves in a row" : ""));
    }
};

inline void precision_underflow::check() const {
    detail::check_range(name(), "threshold", threshold, {.most = 1});
    detail::check_range(name(), "subnormal_share", subnormal_share, {.most = 1});
    detail::check_range(name(), "patience", patience, {.least = 1});
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
