// Whether two tensors are close, value by value.
// Source: NumPy's allclose, with tensor b as the reference.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// How far a value may be from its reference: atol + rtol * |reference|.  Equal infinities are close; NaN is close to
/// NaN only with equal_nan.
struct tolerance {
    double rtol = 1e-5;
    double atol = 1e-8;
    bool equal_nan = false;

    [[nodiscard]] double allowed(double reference) const noexcept { return atol + rtol * std::abs(reference); }

    [[nodiscard]] bool close(double value, double reference) const noexcept;
};

/// Whether all are close and finite: tolerance::close with one comparison, which infinities and NaN fail.
[[nodiscard]] bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                double atol) noexcept;

/// The first element that is not close; nothing where all are.  Both are of reals and equally large.
/// Cost: one pass, which ends at the block with the first difference.
[[nodiscard]] std::optional<std::size_t> first_difference(const tensor_view& values, const tensor_view& references,
                                                          const tolerance& within);

/// NumPy's allclose for two tensors of reals; tensors of different shapes are not close.
[[nodiscard]] inline bool allclose(const tensor_view& values, const tensor_view& references,
                                   const tolerance& within = {}) {
    return std::ranges::equal(values.shape, references.shape) && !first_difference(values, references, within);
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/allclose.ipp>
#endif
