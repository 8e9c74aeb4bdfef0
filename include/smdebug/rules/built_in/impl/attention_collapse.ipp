// The bodies of <smdebug/rules/built_in/attention_collapse.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/built_in/attention_collapse.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void attention_collapse::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "min_entropy", min_entropy, {.most = 1});
    detail::check_range(name(), "max_entropy", max_entropy, {.most = 1});
    detail::check_range(name(), "head_axis", head_axis);
    detail::check_range(name(), "tolerance", tolerance, {.above_least = true});
}

SMDEBUG_INLINE attention_collapse::verdict attention_collapse::verdict_of(const reduce::detail::row_entropies& found,
                                                                          const std::string& where) const {
    const auto rows = [&](std::uint64_t count, std::uint32_t group) {
        return (head_axis ? "of the " + std::to_string(count) + " rows of head " + std::to_string(group)
                          : "of " + std::to_string(count) + " rows") +
               " is ";
    };
    switch (found.what) {
        case outcome::not_a_row:
            throw value_error("attention_collapse: row " + std::to_string(found.rows_of_least) + " of tensor " + where +
                              " is not one of probabilities: its sum is " + short_text(found.least) +
                              ", or an element is below 0; choose tensors of attention by tensor_regex");
        case outcome::no_axes:
            return {.message = "it has no axes, so that it has no rows of probabilities"};
        case outcome::no_head_axis:
            return {.message = "it has no axis " + std::to_string(head_axis.value_or(0)) +
                               " before its last one: head_axis does not fit"};
        case outcome::no_causal_axis:
            return {.message = "it has one axis: `causal` needs one more, of positions that look"};
        case outcome::no_rows:
        case outcome::not_real:
            return {.message = "it has no row to judge: each has one position, is all zeros, or is not finite"};
        case outcome::found:
            break;
    }
    if (found.least < min_entropy) {
        return {true, found.least, min_entropy,
                "the mean entropy " + rows(found.rows_of_least, found.least_group) + short_text(found.least) +
                    ", below min_entropy, " + short_text(min_entropy) + ": the attention is on few positions"};
    }
    if (max_entropy && found.greatest > *max_entropy) {
        return {true, found.greatest, *max_entropy,
                "the mean entropy " + rows(found.rows_of_greatest, found.greatest_group) + short_text(found.greatest) +
                    ", above max_entropy, " + short_text(*max_entropy) + ": the attention is on all positions alike"};
    }
    return {};
}

}  // namespace smdebug::inline v1::rules
