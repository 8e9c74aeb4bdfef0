// How a tensor's values are distributed, as a picture shows it: quartiles and a small histogram.
// Of a large tensor some elements stand for all of them: the picture is the same, and costs next to nothing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// How values are distributed: quartiles, and bins of equal width from the smallest to the largest.
struct distribution {
    static constexpr std::size_t bins = 32;

    std::array<double, 3> quartiles{};
    double low = 0;
    double high = 0;
    std::array<std::uint8_t, bins> counts{};  ///< 255: the fullest bin; 0: an empty one
};

/// A tensor of more elements is looked at in so many of them, evenly spaced.
inline constexpr std::size_t elements_looked_at = 4096;

/// The distribution of a tensor; none of strings, complex numbers, an empty one, or one with NaN or infinity in it
/// (or whose range no double holds).
/// `buffer` is used again from call to call.       Cost: about 30 us for 4096 elements.
[[nodiscard]] std::optional<distribution> distribution_of(const tensor_view& values, std::vector<std::byte>& buffer);

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/distribution.ipp>
#endif
