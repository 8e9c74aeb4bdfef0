// Lists of numbers that take few bytes while they can: most of what is learned is numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

/// A list of numbers of the last of these types, all kept as the first one that loses no bit of any of them.
template <class... Kept>
class packed_list {
public:
    using number = std::tuple_element_t<sizeof...(Kept) - 1, std::tuple<Kept...>>;

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / width(); }
    [[nodiscard]] number operator[](std::size_t place) const noexcept {
        number one{};
        for_kept([&]<class As>(std::type_identity<As>) {
            As kept;
            std::memcpy(&kept, bytes_.data() + place * sizeof(As), sizeof(As));
            one = static_cast<number>(kept);
        });
        return one;
    }

    void insert(std::size_t place, number one) {
        widen(level_for(one));
        if (bytes_.size() + width() > bytes_.capacity()) {  // there are many lists: doubling would waste a third
            bytes_.reserve(bytes_.size() + std::max(bytes_.size() / 4, 8 * width()));
        }
        bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(place * width()), width(), std::byte{});
        write(place, one);
    }
    void push_back(number one) { insert(size(), one); }
    void set(std::size_t place, number one) {
        widen(level_for(one));
        write(place, one);
    }

    /// Of which of the types a number needs at least to be.
    [[nodiscard]] static unsigned level_for(number one) noexcept {
        unsigned level = 0;
        static_cast<void>(((fits<Kept>(one) || (++level, false)) || ...));
        return level;
    }
    /// Makes room for so many in all, none of which needs a higher level.
    void reserve(std::size_t count, unsigned level) {
        widen(level);
        bytes_.reserve(count * width());
    }

private:
    template <class As>
    [[nodiscard]] static bool fits(number one) noexcept {
        if constexpr (std::same_as<As, number>) {
            return true;
        } else if constexpr (std::integral<As>) {
            return one <= std::numeric_limits<As>::max();
        } else {
            using bits = std::uint64_t;
            return one >= number{std::numeric_limits<As>::lowest()} && one <= number{std::numeric_limits<As>::max()} &&
                   std::bit_cast<bits>(static_cast<number>(static_cast<As>(one))) == std::bit_cast<bits>(one);
        }
    }

    [[nodiscard]] std::size_t width() const noexcept { return std::array{sizeof(Kept)...}[level_]; }

    /// Calls act with the type that is kept.
    template <class Act>
    void for_kept(Act act) const {
        unsigned level = 0;
        static_cast<void>(((level++ == level_ && (act(std::type_identity<Kept>{}), true)) || ...));
    }
    void write(std::size_t place, number one) noexcept {
        for_kept([&]<class As>(std::type_identity<As>) {
            const auto kept = static_cast<As>(one);
            std::memcpy(bytes_.data() + place * sizeof(As), &kept, sizeof(As));
        });
    }
    void widen(unsigned level) {
        if (level <= level_) {
            return;
        }
        packed_list wide;
        wide.level_ = static_cast<std::uint8_t>(level);
        wide.bytes_.resize(size() * wide.width());
        for (std::size_t i = 0; i < size(); ++i) {
            wide.write(i, (*this)[i]);
        }
        *this = std::move(wide);
    }

    std::vector<std::byte> bytes_;
    std::uint8_t level_ = 0;
};

/// Numbers of saves: those of 32-bit floats, such as an abs_max, need four bytes.
using packed_numbers = packed_list<float, double>;

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
