// The bodies of <smdebug/reduce/allclose.hpp>.
#pragma once

#include <smdebug/reduce/allclose.hpp>
#include <smdebug/reduce/pair_blocks.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

SMDEBUG_INLINE bool tolerance::close(double value, double reference) const noexcept {
    const double apart = std::abs(value - reference);
    // An infinite reference allows everything by the formula, so a finite distance is asked for, too.
    return value == reference || (apart <= allowed(reference) && std::isfinite(apart)) ||
           (equal_nan && std::isnan(value) && std::isnan(reference));
}

SMDEBUG_INLINE bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                 double atol) noexcept {
    std::uint64_t far = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double beyond = std::abs(values[i] - references[i]) - (atol + rtol * std::abs(references[i]));
        far |= static_cast<std::uint64_t>(!(beyond <= 0));
    }
    return far == 0;
}

SMDEBUG_INLINE std::optional<std::size_t> first_difference(const tensor_view& values, const tensor_view& references,
                                                           const tolerance& within) {
    std::optional<std::size_t> found;
    for_each_pair_block(values, references,
                        [&](std::size_t begin, std::span<const double> value, std::span<const double> reference) {
                            if (surely_close(value, reference, within.rtol, within.atol)) {
                                return true;
                            }
                            for (std::size_t i = 0; !found && i < value.size(); ++i) {
                                if (!within.close(value[i], reference[i])) {
                                    found = begin + i;
                                }
                            }
                            return !found;
                        });
    return found;
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
