// The bodies of <smdebug/rules/judge/closeness.hpp>.
#pragma once

#include <smdebug/rules/judge/closeness.hpp>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// Reductions are saved as float32, with at most this relative error.
inline constexpr double saved_reduction_error = 0x1p-23;

SMDEBUG_INLINE bool extrema_differ(double value, double reference, double abs_max, const tolerance& within) noexcept {
    constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());
    const double a = std::clamp(value, -largest, largest);
    const double b = std::clamp(reference, -largest, largest);
    const double rounding = saved_reduction_error * (std::abs(a) + std::abs(b));
    return std::abs(a - b) > within.allowed(abs_max * (1 + saved_reduction_error)) + rounding;
}

[[nodiscard]] inline comparison differing(std::string what, double value, double reference, double allowed) {
    return {.alike = likeness::different,
            .what = std::move(what),
            .value = short_text(value),
            .reference = short_text(reference),
            .apart = std::abs(value - reference),
            .allowed = allowed};
}

/// The largest and the smallest values of a tensor.  Where nothing is cached or saved, they are computed in one read.
class extrema_of {
public:
    explicit extrema_of(const saved_tensor& tensor) : tensor_(tensor) {}

    [[nodiscard]] lookup<double> operator()(reduction what, bool abs) {
        const read_options where{.worker = tensor_.worker()};
        const auto& handle = tensor_.handle();
        if (!smdebug::detail::trial_access::remembers_measures(handle) &&
            !handle.saved_reductions(tensor_.step(), where).contains(what, abs)) {
            if (!computed_) {
                const reduction_set all =
                    reduction_set{reduction::max} | reduction_set{reduction::max, true} | reduction_set{reduction::min};
                computed_ = handle.find_computed(tensor_.step(), all, where);
            }
            if (*computed_ && (*computed_)->computed.contains(what, abs)) {
                return (**computed_)(what, abs);
            }
        }
        return tensor_.reduction_value(what, abs);
    }

private:
    const saved_tensor& tensor_;
    std::optional<lookup<reduction_values>> computed_ = {};
};

/// Different, if reductions prove it; not comparable, if the dtype has no reductions; else unknown.
[[nodiscard]] inline comparison compare_extrema(const saved_tensor& value, const saved_tensor& reference,
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

/// Whether two tensors have the same bytes, and no NaN that must differ from itself: by cached hashes, without reading
/// the values if the hashes are known.
[[nodiscard]] inline bool surely_same(const saved_tensor& value, const saved_tensor& reference,
                                      const tolerance& within) {
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
}

SMDEBUG_INLINE comparison compare_saved(const saved_tensor& value, const saved_tensor& reference,
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
