// Whether two saved tensors, of two steps or of two runs, are close: decided by reductions if they prove it, else by
// values.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/reduce/allclose.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
#include <smdebug/trial/trial_access.hpp>
namespace smdebug::inline v1::rules::detail {

using reduce::detail::tolerance;

/// Errors: value_error for a tolerance that is negative or not finite.
inline void check_tolerance(std::string_view rule, const tolerance& within) {
    check_range(rule, "rtol", within.rtol);
    check_range(rule, "atol", within.atol);
}

/// Reductions are saved as float32, with at most this relative error.
inline constexpr double saved_reduction_error = 0x1p-23;

/// Whether two maxima (or minima, or largest absolute values) prove that the tensors are not close: the maxima differ
/// by no more than the values do.  `abs_max` is the reference's.  Never wrong for reductions in float32; an infinite
/// one stands for anything beyond float32; NaN proves nothing.
[[nodiscard]] inline bool extrema_differ(double value, double reference, double abs_max,
                                         const tolerance& within) noexcept {
    constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());
    const double a = std::clamp(value, -largest, largest);
    const double b = std::clamp(reference, -largest, largest);
    const double rounding = saved_reduction_error * (std::abs(a) + std::abs(b));
    return std::abs(a - b) > within.allowed(abs_max * (1 + saved_reduction_error)) + rounding;
}

/// The result of comparing two saved tensors.
enum class likeness : std::uint8_t {
    same,
    different,
    not_comparable,  ///< text, complex numbers, or an empty tensor
    unknown,         ///< reductions do not decide, and the values cannot be read
};

struct comparison {
    likeness alike = likeness::unknown;
    std::string what = {};                                      ///< the difference: "max", "value 3 of 10", "shape"
    std::string value = {};                                     ///< as a text ...
    std::string reference = {};                                 ///< ... and what it was compared with
    double apart = std::numeric_limits<double>::quiet_NaN();    ///< |value - reference|
    double allowed = std::numeric_limits<double>::quiet_NaN();  ///< the tolerance for that difference
    finding note = {};                                          ///< why the result is unknown
    bool reference_missing = false;                             ///< the note is about the reference
};

[[nodiscard]] inline comparison differing(std::string what, double value, double reference, double allowed) {
    return {.alike = likeness::different,
            .what = std::move(what),
            .value = short_text(value),
            .reference = short_text(reference),
            .apart = std::abs(value - reference),
            .allowed = allowed};
}

/// The largest and the smallest values of a tensor.  Where nothing is cached or saved, they are computed in one read.
template <class Handle>
class extrema_of {
public:
    explicit extrema_of(const saved_tensor<Handle>& tensor) : tensor_(tensor) {}

    [[nodiscard]] lookup<double> operator()(reduction what, bool abs) {
        if constexpr (remembering_tensor<Handle> && countable_tensor<Handle>) {
            const read_options where{.worker = tensor_.worker()};
            const auto& handle = tensor_.handle();
            if (!smdebug::detail::trial_access::remembers_measures(handle) &&
                !handle.saved_reductions(tensor_.step(), where).contains(what, abs)) {
                if (!computed_) {
                    const reduction_set all = reduction_set{reduction::max} | reduction_set{reduction::max, true} |
                                              reduction_set{reduction::min};
                    computed_ = handle.find_computed(tensor_.step(), all, where);
                }
                if (*computed_ && (*computed_)->computed.contains(what, abs)) {
                    return (**computed_)(what, abs);
                }
            }
        }
        return tensor_.reduction_value(what, abs);
    }

private:
    const saved_tensor<Handle>& tensor_;
    std::optional<lookup<reduction_values>> computed_ = {};
};

/// Different, if reductions prove it; not comparable, if the dtype has no reductions; else unknown.
template <class First, class Second>
[[nodiscard]] comparison compare_extrema(const saved_tensor<First>& value, const saved_tensor<Second>& reference,
                                         const tolerance& within) {
    struct pair {
        lookup<double> value;
        lookup<double> reference;
        [[nodiscard]] explicit operator bool() const { return value && reference; }
    };
    extrema_of values{value};
    extrema_of references{reference};
    const auto look = [&](reduction what, bool abs) { return pair{values(what, abs), references(what, abs)}; };
    const auto no_such = [](const lookup<double>& found) {
        return !found && found.error().why == lookup_failure_kind::wrong_dtype;
    };
    const pair max = look(reduction::max, false);  // first: complex numbers have abs_max, but no order
    if (no_such(max.value) || no_such(max.reference)) {
        return {.alike = likeness::not_comparable};
    }
    const pair abs_max = look(reduction::max, true);
    if (abs_max && extrema_differ(*abs_max.value, *abs_max.reference, *abs_max.reference, within)) {
        return differing("largest absolute value", *abs_max.value, *abs_max.reference,
                         within.allowed(*abs_max.reference));
    }
    const pair min = look(reduction::min, false);
    double largest = std::numeric_limits<double>::quiet_NaN();
    if (abs_max.reference) {
        largest = *abs_max.reference;
    } else if (min.reference && max.reference) {
        largest = std::max(std::abs(*min.reference), std::abs(*max.reference));
    }
    if (max && extrema_differ(*max.value, *max.reference, largest, within)) {
        return differing("largest value", *max.value, *max.reference, within.allowed(largest));
    }
    if (min && extrema_differ(*min.value, *min.reference, largest, within)) {
        return differing("smallest value", *min.value, *min.reference, within.allowed(largest));
    }
    return {};
}

/// The measure that identifies tensors with the same bytes; nothing for an empty tensor or one without reals.
struct content_measure {
    struct answer {
        reduce::detail::content_hash hash = {};
        bool comparable = false;
    };
    [[nodiscard]] answer operator()(const tensor_view& values) const {
        return {reduce::detail::content_hash_of(values), has_reals(values.type) && values.count() > 0};
    }
    [[nodiscard]] friend bool operator==(const content_measure&, const content_measure&) = default;
};

/// Whether two tensors have the same bytes, and no NaN that must differ from itself: by cached hashes, without reading
/// the values if the hashes are known.
template <class First, class Second>
[[nodiscard]] bool surely_same(const saved_tensor<First>& value, const saved_tensor<Second>& reference,
                               const tolerance& within) {
    if constexpr (remembering_tensor<First> && remembering_tensor<Second>) {
        if (!smdebug::detail::trial_access::remembers_measures(value.handle()) ||
            !smdebug::detail::trial_access::remembers_measures(reference.handle())) {
            return false;
        }
        const auto of_value = value.measured(content_measure{});
        const auto of_reference = of_value ? reference.measured(content_measure{}) : of_value;
        if (!of_reference || !of_value->comparable || of_value->hash != of_reference->hash) {
            return false;
        }
        const auto counts = within.equal_nan ? lookup<reduction_values>{reduction_values{}} : value.counts();
        return within.equal_nan || (counts && counts->nan == 0);
    } else {
        static_cast<void>(within);
        return false;
    }
}

/// Compares two tensors: by min, max and abs_max if these prove that they differ, else by their values.  Tensors of
/// different shapes differ; an empty tensor is not comparable.
/// Cost: small reads if the reductions were saved and prove it; else up to one pass over each tensor for each of the
///       three, which invoke_rules merges into one, and a pass over both that ends at the first difference.  If
///       measures are cached, tensors with the same bytes are recognised by a hash.
template <class First, class Second>
[[nodiscard]] comparison compare_saved(const saved_tensor<First>& value, const saved_tensor<Second>& reference,
                                       const tolerance& within) {
    comparison found = detail::compare_extrema(value, reference, within);
    if (found.alike != likeness::unknown) {
        return found;
    }
    if (surely_same(value, reference, within)) {
        return {.alike = likeness::same};
    }
    const auto values = value.values();
    const auto references = reference.values();
    for (const auto* each : {&values, &references}) {
        if (!*each) {
            found.reference_missing = each == &references;
            found.note = found.reference_missing ? reference.note(each->error()) : value.note(each->error());
            return found;
        }
        if (!has_reals((*each)->type()) || (*each)->size() == 0) {
            return {.alike = likeness::not_comparable};
        }
    }
    if (values->shape() != references->shape()) {
        return {.alike = likeness::different,
                .what = "shape",
                .value = '(' + shape_text(values->shape()) + ')',
                .reference = '(' + shape_text(references->shape()) + ')'};
    }
    const auto place = reduce::detail::first_difference(*values, *references, within);
    if (!place) {
        return {.alike = likeness::same};
    }
    const auto number = [&](const tensor_value& tensor) {
        std::array<double, reduce::detail::pair_block> room;
        return reduce::detail::widened(tensor, *place, 1, room)[0];
    };
    return detail::differing("value " + std::to_string(*place) + " of " + std::to_string(values->size()),
                             number(*values), number(*references), within.allowed(number(*references)));
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
