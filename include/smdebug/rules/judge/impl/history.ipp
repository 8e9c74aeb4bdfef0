// The bodies of <smdebug/rules/judge/history.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/judge/history.hpp>

#include <algorithm>
#include <cmath>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

SMDEBUG_INLINE tensor_choice choice_or(const text_list& collection_names, const text_list& tensor_regex,
                                       std::string_view collection) {
    if (collection_names.empty() && tensor_regex.empty() && !collection.empty()) {
        return {.collection_names = collection};
    }
    return {collection_names, tensor_regex};
}

/// The middle of some numbers, or half the sum of the two middle ones; orders them.
[[nodiscard]] inline double median_of(std::vector<double>& numbers) {
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    if (numbers.size() % 2 != 0) {
        return *middle;
    }
    const double below = *std::max_element(numbers.begin(), middle);
    const double sum = below + *middle;
    return is_finite(sum) ? sum / 2 : below / 2 + *middle / 2;
}

SMDEBUG_INLINE robust_statistics robust_statistics_of(std::vector<double> numbers) {
    if (numbers.empty()) {
        return {};
    }
    constexpr double deviations_of_median = 1.4826;  // of a normal distribution
    const double largest = *std::max_element(numbers.begin(), numbers.end());
    const double median = median_of(numbers);
    for (double& each : numbers) {
        each = std::abs(each - median);
    }
    return {median, deviations_of_median * median_of(numbers), largest};
}

SMDEBUG_INLINE save_facts facts_of(const saved_tensor& tensor, reduction_set wanted) {
    save_facts found;
    const read_options where{.worker = tensor.worker()};
    found.saved = tensor.handle().saved_reductions(tensor.step(), where);
    const reduction_set all = wanted | reduction_set{reduction::max} | reduction_set::counts();
    const auto computed = tensor.handle().find_computed(tensor.step(), all - found.saved, where);
    if (computed) {
        const bool has_order = found.saved.contains(reduction::max) || computed->computed.contains(reduction::max);
        found.what = has_order && computed->count > 0 ? save_facts::kind::values : save_facts::kind::not_a_save;
        found.size = computed->count;
        found.computed = *computed;
        return found;
    }
    if (computed.error().why == lookup_failure_kind::wrong_dtype) {
        found.what = save_facts::kind::not_a_save;
    } else if (computed.error().why != lookup_failure_kind::tensor_not_saved) {
        found.what = save_facts::kind::unreadable;
        found.failure = computed.error();
    } else if (const auto shape = tensor.shape()) {
        found.size = element_count(*shape);
        found.what = found.size == 0U ? save_facts::kind::not_a_save : save_facts::kind::no_values;
    }
    return found;
}

SMDEBUG_INLINE lookup<double> reduction_of(const saved_tensor& tensor, const save_facts& facts, reduction_key key) {
    if (!facts.saved.contains(key) && facts.computed.computed.contains(key)) {
        return facts.computed(key.what, key.abs);
    }
    return tensor.reduction_value(key.what, key.abs);
}

SMDEBUG_INLINE lookup<double> l2_of(const saved_tensor& tensor, const save_facts& facts) {
    const bool abs = !facts.saved.contains(reduction::l2) && facts.saved.contains(reduction::l2, true);
    return detail::reduction_of(tensor, facts, {reduction::l2, abs});
}

SMDEBUG_INLINE lookup<double> abs_max_of(const saved_tensor& tensor, const save_facts& facts) {
    const reduction_set saved = facts.saved;
    if (saved.contains(reduction::max, true) || !saved.contains(reduction::min) || !saved.contains(reduction::max)) {
        return detail::reduction_of(tensor, facts, {reduction::max, true});
    }
    const lookup<double> min = tensor.reduction_value(reduction::min);
    const lookup<double> max = tensor.reduction_value(reduction::max);
    if (!min || !max) {
        return min ? max : min;
    }
    const double low = *min < 0 ? -*min : *min;
    const double high = *max < 0 ? -*max : *max;
    return low != low || low > high ? low : high;
}

SMDEBUG_INLINE std::optional<finding> note_without_values(const saved_tensor& tensor, const lookup_error& why,
                                                          const char* text) {
    if (why.why != lookup_failure_kind::tensor_not_saved) {
        return tensor.note(why);
    }
    const auto shape = tensor.shape();
    return shape && element_count(*shape) == 0U ? std::nullopt : std::optional{tensor.note(text)};
}

SMDEBUG_INLINE judged_save<double> l2_in_save(const saved_tensor& tensor) {
    return detail::number_in_save(tensor, l2_reductions,
                                  [](const auto& of, const save_facts& facts) { return detail::l2_of(of, facts); });
}

SMDEBUG_INLINE std::optional<robust_statistics> usual_numbers(const std::deque<number_history::entry>& earlier,
                                                              const std::optional<std::int64_t>& min_history,
                                                              std::int64_t window) {
    if (earlier.size() < static_cast<std::size_t>(min_history.value_or(std::min<std::int64_t>(10, window)))) {
        return std::nullopt;
    }
    std::vector<double> numbers;
    for (const number_history::entry& each : earlier) {
        numbers.push_back(each.what);
    }
    return robust_statistics_of(std::move(numbers));
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
