// The numbers that are learned of each save, by name, and the bounds that a margin puts around healthy ones.
#pragma once

#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

/// In the order of their names, which is that of files and findings.
enum class number : std::uint8_t { abs_max, abs_mean, l1, l2, max, mean, min, std, value, zeros };

inline constexpr std::array<std::string_view, 10> number_names{"abs_max", "abs_mean", "l1",  "l2",    "max",
                                                               "mean",    "min",      "std", "value", "zeros"};
inline constexpr std::size_t number_count = number_names.size();

[[nodiscard]] constexpr std::string_view name_of(number which) noexcept {
    return number_names[static_cast<std::size_t>(which)];
}
[[nodiscard]] constexpr std::optional<number> number_named(std::string_view name) noexcept {
    for (std::size_t i = 0; i < number_count; ++i) {
        if (number_names[i] == name) {
            return static_cast<number>(i);
        }
    }
    return std::nullopt;
}

/// A set of numbers.
struct number_set {
    std::uint16_t bits = 0;

    [[nodiscard]] constexpr bool contains(number which) const noexcept {
        return ((bits >> static_cast<unsigned>(which)) & 1U) != 0;
    }
    constexpr void insert(number which) noexcept {
        bits = static_cast<std::uint16_t>(bits | (1U << static_cast<unsigned>(which)));
    }
    [[nodiscard]] friend constexpr bool operator==(const number_set&, const number_set&) = default;
};

/// The reduction that a number is; nothing for the value of a tensor of one element, and for the share of zeros.
[[nodiscard]] constexpr std::optional<reduction_key> reduction_of(number which) noexcept {
    return reduction_key_named(name_of(which));
}

/// How a margin m widens the range [a, b] of healthy numbers.
enum class number_class : std::uint8_t {
    ratio,      ///< a / (1 + m), b * (1 + m)
    share,      ///< a - m, b + m
    magnitude,  ///< a - m * max(|a|, |b|), b + m * max(|a|, |b|)
};
[[nodiscard]] constexpr number_class class_of(number which) noexcept {
    switch (which) {
        case number::abs_max:
        case number::abs_mean:
        case number::l1:
        case number::l2:
        case number::std:
            return number_class::ratio;
        case number::zeros:
            return number_class::share;
        case number::max:
        case number::mean:
        case number::min:
        case number::value:
            break;
    }
    return number_class::magnitude;
}

/// The least and the greatest of some numbers.
struct number_range {
    double least = 0;
    double greatest = 0;

    [[nodiscard]] constexpr double magnitude() const noexcept {
        return std::max(least < 0 ? -least : least, greatest < 0 ? -greatest : greatest);
    }
};

[[nodiscard]] constexpr double lower_bound(number_class of, const number_range& healthy, double margin) noexcept {
    switch (of) {
        case number_class::ratio:
            return healthy.least / (1 + margin);
        case number_class::share:
            return healthy.least - margin;
        case number_class::magnitude:
            break;
    }
    return healthy.least - margin * healthy.magnitude();
}
[[nodiscard]] constexpr double upper_bound(number_class of, const number_range& healthy, double margin) noexcept {
    switch (of) {
        case number_class::ratio:
            return healthy.greatest * (1 + margin);
        case number_class::share:
            return healthy.greatest + margin;
        case number_class::magnitude:
            break;
    }
    return healthy.greatest + margin * healthy.magnitude();
}

/// Margins are rungs of a ladder, 0.05 * 2^k.
inline constexpr unsigned rung_count = 7;
[[nodiscard]] constexpr double margin_of_rung(unsigned rung) noexcept {
    return 0.05 * static_cast<double>(std::uint64_t{1} << rung);
}

/// The least rung at which `one` is not below, or not above, the bound around other numbers; rung_count: none.
[[nodiscard]] constexpr unsigned rung_below(number_class of, const number_range& others, double one) noexcept {
    unsigned rung = 0;
    while (rung < rung_count && one < lower_bound(of, others, margin_of_rung(rung))) {
        ++rung;
    }
    return rung;
}
[[nodiscard]] constexpr unsigned rung_above(number_class of, const number_range& others, double one) noexcept {
    unsigned rung = 0;
    while (rung < rung_count && one > upper_bound(of, others, margin_of_rung(rung))) {
        ++rung;
    }
    return rung;
}

/// The margin of a series whose runs need this rung when each is left out in turn; nothing: beyond the ladder.
[[nodiscard]] constexpr std::optional<double> margin_for(unsigned rung, std::uint64_t runs) noexcept {
    const unsigned wide = rung + (runs >= 20 ? 2U : 3U);
    return wide < rung_count ? std::optional{margin_of_rung(wide)} : std::nullopt;
}

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
