// The bodies of <smdebug/rules/built_in/class_imbalance.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/built_in/class_imbalance.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <cstddef>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void class_imbalance::check() const {
    detail::check_range(name(), "threshold_imbalance", threshold_imbalance, {.infinite = true});
    detail::check_range(name(), "threshold_misprediction", threshold_misprediction, {.most = 1});
    detail::check_range(name(), "samples", samples);
    detail::require_setting(name(), !labels_regex.empty(), "labels_regex");
}

SMDEBUG_INLINE void class_imbalance::add_note(std::vector<finding>& findings, finding note) {
    if (!note.message.empty()) {
        findings.push_back(std::move(note));
    }
}

SMDEBUG_INLINE void class_imbalance::count(const std::vector<double>& labels, const std::vector<double>& predicted) {
    const bool paired = predicted.size() == labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const double label = labels[i];
        if (!(label >= 0 && label < 0x1p63)) {
            continue;
        }
        auto& of_class = so_far.classes[static_cast<std::int64_t>(label)];
        ++so_far.seen;
        ++of_class.labels;
        if (paired && is_finite(predicted[i])) {
            ++of_class.judged;
            of_class.wrong += predicted[i] == label ? 0U : 1U;
        }
    }
}

SMDEBUG_INLINE void class_imbalance::judge(const finding& met, std::vector<finding>& findings) const {
    using entry = std::pair<const std::int64_t, history::tally>;
    const entry* largest = nullptr;
    const entry* smallest = nullptr;
    const entry* worst = nullptr;
    const auto share = [](const entry& one) {
        return static_cast<double>(one.second.wrong) / static_cast<double>(one.second.judged);
    };
    const auto take = [](const entry*& best, const entry& one, const auto& order) {
        if (best == nullptr || order(one) < order(*best) || (order(one) == order(*best) && one.first < best->first)) {
            best = &one;
        }
    };
    for (const entry& one : so_far.classes) {
        take(largest, one, [](const entry& each) { return -static_cast<double>(each.second.labels); });
        take(smallest, one, [](const entry& each) { return static_cast<double>(each.second.labels); });
        if (one.second.judged > 0) {
            take(worst, one, [&](const entry& each) { return -share(each); });
        }
    }
    const auto add = [&](double value, double threshold, std::string message) {
        finding one = met;
        one.value = value;
        one.threshold = threshold;
        one.message = std::move(message);
        findings.push_back(std::move(one));
    };
    const double ratio =
        largest == nullptr ? 1
                           : static_cast<double>(largest->second.labels) / static_cast<double>(smallest->second.labels);
    if (ratio > threshold_imbalance) {
        add(ratio, threshold_imbalance,
            "class " + std::to_string(largest->first) + " has " + std::to_string(largest->second.labels) +
                " labels and class " + std::to_string(smallest->first) + " " + std::to_string(smallest->second.labels) +
                ", a ratio of " + short_text(ratio) + ", more than " + short_text(threshold_imbalance));
    }
    if (worst != nullptr && share(*worst) > threshold_misprediction) {
        add(share(*worst), threshold_misprediction,
            "of " + std::to_string(worst->second.judged) + " labels of class " + std::to_string(worst->first) + ", " +
                std::to_string(worst->second.wrong) + " were predicted wrongly, a share of " +
                short_text(share(*worst)) + ", more than " + short_text(threshold_misprediction));
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
