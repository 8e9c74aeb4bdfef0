// The bodies of <smdebug/rules/built_in/confusion.hpp>.
#pragma once

#include <smdebug/rules/built_in/confusion.hpp>

#include <algorithm>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void confusion::check() const {
    detail::check_range(name(), "category_no", category_no, {.least = 2});
    detail::check_range(name(), "min_diag", min_diag, {.most = 1});
    detail::check_range(name(), "max_off_diag", max_off_diag, {.most = 1});
    detail::require_setting(name(), !labels.empty() || !labels_collection.empty(), "labels or labels_collection");
    detail::require_setting(name(), !predictions.empty() || !predictions_collection.empty(),
                            "predictions or predictions_collection");
}

SMDEBUG_INLINE confusion::pairs confusion::categories(const std::vector<double>& labelled,
                                                      const std::vector<double>& predicted) const {
    const double end = category_no ? static_cast<double>(*category_no) : 0x1p63;
    const auto is_category = [&](double number) { return number >= 0 && number < end; };  // NaN is none
    pairs kept;
    kept.reserve(labelled.size());
    for (std::size_t i = 0; i < labelled.size(); ++i) {
        if (is_category(labelled[i]) && is_category(predicted[i])) {
            const auto a = static_cast<std::int64_t>(predicted[i]);
            const auto b = static_cast<std::int64_t>(labelled[i]);
            kept.push_back(share_of == confusion_share::predictions ? std::pair{a, b} : std::pair{b, a});
        }
    }
    return kept;
}

SMDEBUG_INLINE std::vector<confusion::cell> confusion::cells_of(pairs kept) {
    std::vector<cell> found;
    const auto fits = [](const auto& one) { return one.first < small_matrix && one.second < small_matrix; };
    if (std::all_of(kept.begin(), kept.end(), fits)) {
        std::int64_t width = 0;
        for (const auto& [whole, part] : kept) {
            width = std::max({width, whole + 1, part + 1});
        }
        std::vector<std::uint64_t> matrix(static_cast<std::size_t>(width * width));
        for (const auto& [whole, part] : kept) {
            ++matrix[static_cast<std::size_t>(whole * width + part)];
        }
        for (std::int64_t i = 0; i < width * width; ++i) {
            if (const std::uint64_t count = matrix[static_cast<std::size_t>(i)]; count > 0) {
                found.push_back({i / width, i % width, count});
            }
        }
        return found;
    }
    std::sort(kept.begin(), kept.end());
    for (const auto& [whole, part] : kept) {
        if (found.empty() || found.back().whole != whole || found.back().part != part) {
            found.push_back({whole, part, 0});
        }
        ++found.back().count;
    }
    return found;
}

SMDEBUG_INLINE std::string confusion::words(const violation& bad) const {
    const bool by_prediction = share_of == confusion_share::predictions;
    return "of " + std::to_string(bad.sum) + (by_prediction ? " predicted" : " labelled") + " as category " +
           std::to_string(bad.of.whole) + ", " + std::to_string(bad.of.count) +
           (by_prediction ? " are labelled as " : " are predicted as ") + std::to_string(bad.of.part) +
           ", a share of " + short_text(bad.share);
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
