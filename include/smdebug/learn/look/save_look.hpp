// One save of one tensor by one worker, as learning and the rule `learned` see it: what it holds, whether that is finite,
// its numbers, and its content to compare.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

/// What is compared of two saves: values with dtype and shape, or else the saved reductions, their names and bits.
struct save_content {
    enum class kind : std::uint8_t { none, values, reductions };
    kind what = kind::none;
    std::uint32_t reductions = 0;  ///< which ones: a reduction_set's mask
    reduce::detail::tensor_hash hash = {};

    [[nodiscard]] bool is_comparable_with(const save_content& other) const noexcept {
        return what == other.what && reductions == other.reductions;
    }
    [[nodiscard]] bool is_same_as(const save_content& other) const noexcept { return hash == other.hash; }
};

/// What is found in the values in one pass over them; a measure that rules share.
struct values_look {
    dtype type = dtype::invalid;
    std::uint64_t count = 0;
    shape_type shape = {};
    double element = std::numeric_limits<double>::quiet_NaN();  ///< the only one, where there is one
    reduce::detail::tensor_hash hash = {};
};

struct values_measure {
    [[nodiscard]] values_look operator()(const tensor_view& values) const;
    [[nodiscard]] friend bool operator==(const values_measure&, const values_measure&) = default;
};

/// A save.
struct save_look {
    bool is_void = false;                    ///< text or complex numbers, of which no more is looked at
    bool has_values = false;                 ///< values of another dtype were saved
    dtype type = dtype::invalid;             ///< of the values
    bool has_shape = false;                  ///< of the values, else the saved one
    std::optional<std::uint64_t> size = {};  ///< elements
    std::optional<bool> bad = {};            ///< whether any value is NaN or infinite; nothing: unknown
    double bad_share = std::numeric_limits<double>::quiet_NaN();
    std::optional<double> least = {};  ///< of its values, finite
    std::optional<double> greatest = {};
    save_content content = {};
    number_set has = {};
    std::array<double, number_count> numbers{};  ///< those in `has`

    [[nodiscard]] double operator[](number which) const noexcept { return numbers[static_cast<std::size_t>(which)]; }
};

/// What was saved of a tensor, and what was computed of its values.
struct save_parts {
    std::string_view name = {};
    reduction_set saved = {};
    /// The saved reductions, by reduction_key::index().
    std::array<double, 2 * reduction_count> saved_value{};
    /// Null: there are no values.
    const values_look* values = nullptr;
    /// Of the values: reductions_for() those that are kept, and counts.
    const reduction_values* computed = nullptr;
    /// Of the values, else the saved one; null: neither.
    const shape_type* shape = nullptr;
};

/// The reductions to compute of values: for the kept numbers, and for the sign.
[[nodiscard]] reduction_set reductions_for(const number_set& kept) noexcept;

/// Whether saves of a dtype are void.
[[nodiscard]] constexpr bool is_void(dtype type) noexcept { return type == dtype::string || is_complex(type); }

/// Looks at a save.  Cost: that of its saved reductions.
[[nodiscard]] save_look look_at(const save_parts& parts, const number_set& kept);

/// The hash of what `so_far` is a hash of, followed by these 128 bits.
[[nodiscard]] reduce::detail::tensor_hash folded(const reduce::detail::tensor_hash& so_far, std::uint64_t low,
                                                 std::uint64_t high) noexcept;

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/look/impl/save_look.ipp>
#endif
