// The Python package's collections by name: their regexes, and which hold single numbers.
// Source: the collections files that the package writes for PyTorch and XGBoost, and its list of names for TensorFlow.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace known_collections {

/// A collection, and the regex of the tensors that belong to it; empty: those that are added by name.
struct known {
    std::string_view name;
    std::string_view include_regex;
    bool built_in;  ///< there from the start; the others once they are named
};

inline constexpr std::array<known, 14> list{{
    {"all", "", true},
    {"default", "", true},
    {"weights", "^(?!gradient).*weight", true},
    {"biases", "^(?!gradient).*bias", true},
    {"gradients", "^gradient", true},
    {"losses", "[Ll]oss_(?!input).*output", true},
    {"hyperparameters", "^hyperparameters/", false},
    {"metrics", "^[a-zA-z]+-[a-zA-z0-9]+$", false},
    {"predictions", "^predictions$", false},
    {"labels", "^labels$", false},
    {"feature_importance", "^feature_importance/", false},
    {"average_shap", "^average_shap/", false},
    {"full_shap", "^full_shap/", false},
    {"trees", "^trees/", false},
}};

/// Those that the package makes in one of its frameworks, without a regex.
inline constexpr std::array<std::string_view, 6> of_frameworks{
    "inputs", "outputs", "layers", "optimizer_variables", "sm_metrics", "tensorflow_summaries"};

/// The collection that is always saved.
inline constexpr std::string_view saved_by_default = "losses";

/// What is called a loss outside of the package's frameworks: "loss", "train_loss", "val/loss", "TripletLoss"; the
/// gradient of one is a gradient.
inline constexpr std::string_view loss_regex = "^(?!gradient)(?:(?:.*[^A-Za-z])?(?:loss|LOSS)|.*Loss)$";

/// The regexes of a collection of that name, none where it is not known.
[[nodiscard]] std::vector<std::string> regexes_of(std::string_view name);

/// Whether the package makes a collection of that name by itself, in one of the frameworks that it knows.
[[nodiscard]] constexpr bool is_known(std::string_view name) noexcept {
    return std::any_of(list.begin(), list.end(), [&](const known& k) { return k.name == name; }) ||
           std::find(of_frameworks.begin(), of_frameworks.end(), name) != of_frameworks.end();
}

/// The names of which is_known is true.
[[nodiscard]] std::vector<std::string> names();

/// Whether its tensors are single numbers: saved as they are, without reductions and histograms, whatever the config.
[[nodiscard]] constexpr bool holds_scalars(std::string_view name) noexcept {
    return name == "losses" || name == "metrics" || name == "feature_importance" || name == "average_shap" ||
           name == "sm_metrics" || name == "tensorflow_summaries";
}

/// Whether its tensors are left alone in EVAL and PREDICT: what there is of them is from the training before.
[[nodiscard]] constexpr bool is_of_training(std::string_view name) noexcept {
    return name == "gradients" || name == "optimizer_variables";
}

}  // namespace known_collections
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/known_collections.ipp>
#endif
