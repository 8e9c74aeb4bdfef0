// The built-in rule Confusion: a model's predictions match the labels too rarely.
// Source: the public description of SageMaker Debugger's rule Confusion.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// What the entries of a confusion matrix are divided by.
enum class confusion_share : std::uint8_t {
    predictions,  ///< number of predictions of a category: the diagonal is its precision
    labels,       ///< number of labels of a category: the diagonal is its recall
};

/// Counts at each step how often each category was predicted for each label, and fires if for some category that was
/// predicted the share with that label is below min_diag, or the share with some other label above max_off_diag.
/// Both tensors are flattened.  A step where one has a number with a fraction is skipped: it has no categories.  Pairs
/// with a value that is not finite or not a category, 0 to category_no - 1, are left out and noted; without category_no
/// every integer from 0 on is a category.  A step that lacks either tensor, or where they differ in size, is skipped.
/// A tensor is the one with the name; if the run has none, the only one of the collection.  Labels are compared with
/// the predictions of the same worker.
/// One finding a worker: the lowest share on the diagonal, else the highest off it.
/// Fast path: none.  Cost: reads both tensors whole.
struct confusion {
    std::optional<std::int64_t> category_no = {};
    std::string labels = "labels";
    std::string predictions = "predictions";
    std::string labels_collection = "labels";
    std::string predictions_collection = "predictions";
    double min_diag = 0.9;
    double max_off_diag = 0.1;
    bool all_workers = false;
    /// Decision: the public formulas contradict each other; no public text decides between these two.
    confusion_share share_of = confusion_share::predictions;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "confusion"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "Confusion"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "predictions agree with the labels too rarely";
    }
    template <class Rule = confusion>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"category_no", &Rule::category_no, "how many categories there are; unset: as many as are seen"},
            setting{"labels", &Rule::labels, "the tensor with the labels"},
            setting{"predictions", &Rule::predictions, "the tensor with the predicted categories"},
            setting{"labels_collection", &Rule::labels_collection,
                    "its only tensor has the labels, if none has the name"},
            setting{"predictions_collection", &Rule::predictions_collection,
                    "its only tensor has the predictions, if none has the name"},
            setting{"min_diag", &Rule::min_diag, "fires if the share of right predictions is below this, from 0 to 1"},
            setting{"max_off_diag", &Rule::max_off_diag,
                    "fires if the share of one wrong label is above this, from 0 to 1"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const auto labels_name = find_name(run, labels, labels_collection);
        const auto predictions_name = find_name(run, predictions, predictions_collection);
        if (!labels_name || !predictions_name) {
            return {};
        }
        const std::vector<std::string> saved = run.tensor_names({.step = step});
        if (!std::binary_search(saved.begin(), saved.end(), *labels_name) ||
            !std::binary_search(saved.begin(), saved.end(), *predictions_name)) {
            return {};
        }
        std::vector<finding> findings;
        const auto labels_handle = run.tensor(*labels_name);
        const auto predictions_handle = run.tensor(*predictions_name);
        for (const std::string& worker : workers_to_check(labels_handle, step, all_workers)) {
            compare(detail::saved_tensor{labels_handle, *labels_name, step, worker},
                    detail::saved_tensor{predictions_handle, *predictions_name, step, worker}, findings);
        }
        return findings;
    }

private:
    /// A pair of categories and its count.  Its share is relative to all pairs with the same `whole`.
    struct cell {
        std::int64_t whole;
        std::int64_t part;
        std::uint64_t count;
    };
    /// A share outside its limit.
    struct violation {
        cell of = {};
        std::uint64_t sum = 0;  ///< of all with the same whole
        double share = 0;
    };
    static constexpr std::int64_t small_matrix = 128;  ///< up to this many categories are counted in a full matrix
    using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

    /// The tensor, for the whole run: a step that lacks it must not select another one.
    [[nodiscard]] static std::optional<std::string> find_name(const std::derived_from<trial> auto& run,
                                                              const std::string& name, const std::string& collection) {
        if (run.has_tensor(name)) {
            return name;
        }
        if (collection.empty()) {
            return std::nullopt;
        }
        std::vector<std::string> names = run.tensor_names({.collection = collection});
        return names.size() == 1 ? std::optional{std::move(names.front())} : std::nullopt;
    }

    void compare(const auto& of_labels, const auto& of_predictions, std::vector<finding>& findings) const {
        const auto add = [&](finding one) { detail::add_if_said(findings, std::move(one)); };
        const auto labelled = of_labels.values();
        const auto predicted = of_predictions.values();
        if (!labelled || !predicted) {
            if (!labelled) {
                add(of_labels.note(labelled.error()));
            }
            if (!predicted && predicted.error().why != lookup_failure_kind::no_such_worker) {
                add(of_predictions.note(predicted.error()));
            }
            return;
        }
        if (!has_reals(labelled->type()) || !has_reals(predicted->type()) || labelled->size() != predicted->size()) {
            return;
        }
        const std::vector<double> label = reals_of(*labelled);
        const std::vector<double> prediction = reals_of(*predicted);
        detail::require_whole_numbers(label, of_labels.name(), of_labels.step());
        detail::require_whole_numbers(prediction, of_predictions.name(), of_predictions.step());
        const pairs kept = categories(label, prediction);
        if (const std::size_t dropped = labelled->size() - kept.size(); dropped > 0) {
            add(of_labels.note(std::to_string(dropped) + " of " + std::to_string(labelled->size()) +
                               " labels and predictions were left out, as one of the two is not a category"));
        }
        add(judge(of_labels, cells_of(kept)));
    }

    /// The valid pairs, beginning with the category that shares refer to.
    [[nodiscard]] pairs categories(const std::vector<double>& labelled, const std::vector<double>& predicted) const;

    /// The non-zero entries of the matrix, in order.  Counted in a full matrix while that is small, else sorted: values
    /// that are not categories may be huge.
    [[nodiscard]] static std::vector<cell> cells_of(pairs kept);

    [[nodiscard]] finding judge(const auto& tensor, const std::vector<cell>& cells) const {
        std::optional<violation> diagonal;
        std::optional<violation> beside;
        for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
            const std::int64_t whole = cells[begin].whole;
            std::uint64_t sum = 0;
            for (end = begin; end < cells.size() && cells[end].whole == whole; ++end) {
                sum += cells[end].count;
            }
            const auto share = [&](std::uint64_t count) {
                return static_cast<double>(count) / static_cast<double>(sum);
            };
            cell right{whole, whole, 0};
            for (std::size_t i = begin; i < end; ++i) {
                if (cells[i].part == whole) {
                    right = cells[i];
                } else if (share(cells[i].count) > max_off_diag && (!beside || share(cells[i].count) > beside->share)) {
                    beside = violation{cells[i], sum, share(cells[i].count)};
                }
            }
            if (share(right.count) < min_diag && (!diagonal || share(right.count) < diagonal->share)) {
                diagonal = violation{right, sum, share(right.count)};
            }
        }
        if (diagonal) {
            return tensor.met(diagonal->share, min_diag, words(*diagonal) + ", less than " + short_text(min_diag));
        }
        return beside
                   ? tensor.met(beside->share, max_off_diag, words(*beside) + ", more than " + short_text(max_off_diag))
                   : finding{};
    }

    [[nodiscard]] std::string words(const violation& bad) const;
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/confusion.ipp>
#endif
