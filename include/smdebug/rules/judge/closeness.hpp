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

/// Whether two maxima (or minima, or largest absolute values) prove that the tensors are not close: the maxima differ
/// by no more than the values do.  `abs_max` is the reference's.  Never wrong for reductions in float32; an infinite
/// one stands for anything beyond float32; NaN proves nothing.
[[nodiscard]] bool extrema_differ(double value, double reference, double abs_max, const tolerance& within) noexcept;

/// The result of comparing two saved tensors.
enum class likeness : std::uint8_t {
    same,
    different,
    not_comparable,  ///< text, complex numbers, or an empty tensor
    unknown,         ///< reductions do not decide, and the values cannot be read
};

struct comparison {
    likeness alike = likeness::unknown;
    std::string what = {};       ///< what differs: "largest value", "value 3 of 10", "shape"
    std::string value = {};      ///< as a text ...
    std::string reference = {};  ///< ... and what it was compared with
    double apart = std::numeric_limits<double>::quiet_NaN();    ///< |value - reference|
    double allowed = std::numeric_limits<double>::quiet_NaN();  ///< the tolerance for that difference
    finding note = {};                                          ///< why the result is unknown
    bool reference_missing = false;                             ///< the note is about the reference
};

/// The measure that identifies tensors with the same bytes; nothing for an empty tensor or one without reals.
struct content_measure {
    struct answer {
        reduce::detail::tensor_hash hash = {};
        bool comparable = false;
    };
    [[nodiscard]] answer operator()(const tensor_view& values) const {
        return {reduce::detail::tensor_hash_of(values), has_reals(values.type) && values.count() > 0};
    }
    [[nodiscard]] friend bool operator==(const content_measure&, const content_measure&) = default;
};

/// Compares two tensors: by min, max and abs_max if these prove that they differ, else by their values.  Tensors of
/// different shapes differ; an empty tensor is not comparable.
/// Cost: small reads if the reductions were saved and prove it; else up to one pass over each tensor for each of the
///       three, which invoke_rules merges into one, and a pass over both that ends at the first difference.  If
///       measures are cached, tensors with the same bytes are recognised by a hash.
[[nodiscard]] comparison compare_saved(const saved_tensor& value, const saved_tensor& reference,
                                       const tolerance& within);

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/closeness.ipp>
#endif
