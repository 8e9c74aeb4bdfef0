// Tensors for the tests of reduce/: every dtype, every kind of trouble, deterministic on every machine and compiler.
// Numbers are made of integers and powers of two only, so that no -ffp-contract changes them.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include "support/standard.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace reduce_test {

/// splitmix64: a few lines, the same numbers everywhere.
class random_bits {
public:
    explicit random_bits(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
        x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
        return x ^ (x >> 31U);
    }
    /// -1 to 1 in steps of 2^-52.
    double symmetric() { return std::ldexp(static_cast<double>(static_cast<std::int64_t>((*this)()) >> 11U), -52); }

private:
    std::uint64_t state_;
};

/// A tensor of one dimension over bytes of its own, which start `offset` bytes after a multiple of 16.
class owned_tensor {
public:
    template <class T>
    owned_tensor(smdebug::dtype type, const std::vector<T>& elements, std::size_t offset = 0)
        : type_(type), offset_(offset), bytes_(elements.size() * sizeof(T) + offset), extent_{elements.size()} {
        if (!elements.empty()) {
            std::memcpy(bytes_.data() + offset_, elements.data(), elements.size() * sizeof(T));
        }
    }
    [[nodiscard]] smdebug::tensor_view view() const { return {type_, extent_, std::span{bytes_}.subspan(offset_), {}}; }

private:
    smdebug::dtype type_;
    std::size_t offset_;
    std::vector<std::byte> bytes_;  // ends with the last element, so that sanitizers see a read beyond it
    std::size_t extent_[1];
};

/// What trouble the numbers are made of.
enum class kind {
    uniform,      ///< -1 to 1
    far_mean,     ///< mean about 2^20 times the deviation
    near_mean,    ///< mean about 4 times the deviation: where blocks begin to be centred
    one_sign,     ///< all negative
    cancelling,   ///< every number and, far behind it, its negative
    alternating,  ///< huge and tiny in turn
    all_huge,     ///< near the largest
    all_tiny,     ///< denormals
    wide_range,   ///< any exponent
    constant,     ///< one value, not a short binary fraction
    with_zeros,   ///< half of them 0 or -0
    stagnating,   ///< a row of ones, then numbers that each is lost beside a one, all together are not
    drifting,     ///< the mean jumps from block to block
};
inline constexpr kind kinds[] = {kind::uniform,    kind::far_mean,    kind::near_mean,  kind::one_sign,
                                 kind::cancelling, kind::alternating, kind::all_huge,   kind::all_tiny,
                                 kind::wide_range, kind::constant,    kind::with_zeros, kind::stagnating,
                                 kind::drifting};

/// Limits of a binary float type, for the generator.
struct float_range {
    int max_exponent;  ///< every finite number is below 2^max_exponent
    int min_exponent;  ///< the smallest denormal is 2^min_exponent
    int digits;
};
inline constexpr float_range half_range{16, -24, 11};
inline constexpr float_range bfloat_range{128, -133, 8};
inline constexpr float_range single_range{128, -149, 24};
inline constexpr float_range double_range{1024, -1074, 53};

/// `value` cut (toward 0) to what the type can say.
[[nodiscard]] inline double cut_to(double value, const float_range& range) {
    int exponent = 0;
    if (value == 0) {
        return value;
    }
    std::frexp(value, &exponent);
    const int last = std::max(exponent - range.digits, range.min_exponent);
    const double cut = std::ldexp(std::trunc(std::ldexp(value, -last)), last);
    const double largest = std::ldexp(std::ldexp(1.0, range.digits) - 1, range.max_exponent - range.digits);
    return cut > largest ? largest : (cut < -largest ? -largest : cut);
}

/// `count` finite numbers of a kind that the type can say exactly.
[[nodiscard]] inline std::vector<double> numbers(kind which, std::size_t count, const float_range& range) {
    random_bits random(0x5EED + static_cast<std::uint64_t>(which) * 977 + count);
    const int span = range.max_exponent - range.min_exponent;
    std::vector<double> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        double x = random.symmetric();
        switch (which) {
            case kind::uniform:
            case kind::cancelling:
                break;
            case kind::far_mean:
                x = 1 + std::ldexp(x, -std::min(20, range.digits - 3));
                break;
            case kind::near_mean:
                x = x + static_cast<double>(2 + (i / 512) % 3);
                break;
            case kind::one_sign:
                x = -std::abs(x);
                break;
            case kind::alternating:
                x = std::ldexp(x, (i % 2 == 0 ? 3 : -3) * (range.max_exponent / 4));
                break;
            case kind::all_huge:
                x = std::ldexp(1 + std::abs(x), range.max_exponent - 1);
                x = random() % 3 == 0 ? -x : x;
                break;
            case kind::all_tiny:
                x = std::ldexp(x, range.min_exponent + 5);
                break;
            case kind::wide_range:
                x = std::ldexp(x, range.min_exponent + static_cast<int>(random() % static_cast<unsigned>(span)));
                break;
            case kind::constant:
                x = 0.1;
                break;
            case kind::with_zeros:
                x = random() % 2 == 0 ? x : (random() % 2 == 0 ? 0.0 : -0.0);
                break;
            case kind::stagnating:
                x = i < 16 ? 1 : 0x1p-54;
                break;
            case kind::drifting:
                x = x + static_cast<double>((i / 2048) * 300) - 100;
                break;
        }
        values.push_back(cut_to(x, range));
    }
    if (which == kind::cancelling) {
        for (std::size_t i = 0; i < count / 2; ++i) {
            values[count - 1 - i] = -values[i];
        }
    }
    return values;
}

/// Lengths around everything that has a boundary: vectors, rows, groups, blocks.
[[nodiscard]] inline std::vector<std::size_t> lengths() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i <= 70; ++i) {
        all.push_back(i);
    }
    for (const std::size_t edge : {128U, 256U, 2048U, 4096U}) {
        for (std::size_t i = edge - 1; i <= edge + 1; ++i) {
            all.push_back(i);
        }
    }
    all.push_back(129 + 15);
    all.push_back(2048 + 17);
    all.push_back(7001);
    return all;
}

/// A number that a type can say, as the type's bits.
[[nodiscard]] inline std::uint16_t half_bits(double value) {
    const std::uint16_t sign = __builtin_signbit(value) ? 0x8000U : 0U;
    const double size = std::abs(value);
    if (size == 0) {
        return sign;
    }
    int exponent = 0;
    std::frexp(size, &exponent);
    const int biased = std::max(exponent + 14, 0);
    const auto mantissa = static_cast<unsigned>(std::ldexp(size, biased == 0 ? 24 : 11 - exponent));
    return static_cast<std::uint16_t>(
        sign | (biased == 0 ? mantissa : (static_cast<unsigned>(biased) << 10U) | (mantissa & 0x3FFU)));
}
[[nodiscard]] inline std::uint16_t bfloat_bits(double value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}

/// The numbers as elements of a float dtype.
[[nodiscard]] inline owned_tensor float_tensor(smdebug::dtype type, const std::vector<double>& values,
                                               std::size_t offset = 0) {
    std::vector<std::uint16_t> halves;
    switch (type) {
        case smdebug::dtype::float64:
            return {type, values, offset};
        case smdebug::dtype::float32:
            return {type, std::vector<float>(values.begin(), values.end()), offset};
        case smdebug::dtype::bfloat16:
            for (const double value : values) {
                halves.push_back(bfloat_bits(value));
            }
            return {type, halves, offset};
        default:
            for (const double value : values) {
                halves.push_back(half_bits(value));
            }
            return {type, halves, offset};
    }
}

struct float_type {
    smdebug::dtype type;
    float_range range;
};
inline constexpr float_type float_types[] = {{smdebug::dtype::float16, half_range},
                                             {smdebug::dtype::bfloat16, bfloat_range},
                                             {smdebug::dtype::float32, single_range},
                                             {smdebug::dtype::float64, double_range}};

/// Integers of every size, small ones, limits, or all bits random.
template <class Integer>
[[nodiscard]] std::vector<Integer> integers(std::size_t count, unsigned which) {
    random_bits random(count * 31 + which);
    std::vector<Integer> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        switch (which) {
            case 0:
                values.push_back(static_cast<Integer>(bits));
                break;
            case 1:
                values.push_back(static_cast<Integer>(bits % 5));
                break;
            case 2:
                values.push_back(bits % 2 == 0 ? std::numeric_limits<Integer>::max()
                                               : std::numeric_limits<Integer>::min());
                break;
            default:
                values.push_back(static_cast<Integer>(std::numeric_limits<Integer>::max() - bits % 100));
                break;
        }
    }
    return values;
}
inline constexpr unsigned integer_kinds = 4;

/// Calls visit(owned_tensor) for floats, integers, booleans and complex numbers of every kind and of these lengths, without
/// NaN and infinities.
template <class Lengths, class Visit>
void for_each_tensor(const Lengths& lengths, const Visit& visit) {
    for (const auto& [type, range] : float_types) {
        for (const auto which : kinds) {
            for (const std::size_t length : lengths) {
                visit(float_tensor(type, numbers(which, length, range), length % 4));
            }
        }
    }
    const auto visit_integers = [&]<class Integer>(smdebug::dtype type, Integer /*of this type*/) {
        for (unsigned which = 0; which < integer_kinds; ++which) {
            for (const std::size_t length : lengths) {
                visit(owned_tensor(type, integers<Integer>(length, which), length % 4));
            }
        }
    };
    visit_integers(smdebug::dtype::int8, std::int8_t{});
    visit_integers(smdebug::dtype::int16, std::int16_t{});
    visit_integers(smdebug::dtype::int32, std::int32_t{});
    visit_integers(smdebug::dtype::int64, std::int64_t{});
    visit_integers(smdebug::dtype::uint8, std::uint8_t{});
    visit_integers(smdebug::dtype::uint16, std::uint16_t{});
    visit_integers(smdebug::dtype::uint32, std::uint32_t{});
    visit_integers(smdebug::dtype::uint64, std::uint64_t{});
    visit_integers(smdebug::dtype::boolean, std::uint8_t{});
    for (const auto which : kinds) {
        for (const std::size_t length : lengths) {
            const auto floats = numbers(which, 2 * length, single_range);
            const auto doubles = numbers(which, 2 * length, double_range);
            const std::vector<float> parts(floats.begin(), floats.end());
            visit(owned_tensor(smdebug::dtype::complex64, parts, length % 4));
            visit(owned_tensor(smdebug::dtype::complex128, doubles, length % 4));
        }
    }
}

/// Values of a type at which something may go another way: fractions, signs, zeros, ends of the range, no numbers.
template <class T>
struct values_of {
    static std::vector<T> odd() {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_floating_point_v<T>) {
            return {static_cast<T>(0.1),
                    static_cast<T>(-0.1),
                    T{0},
                    -T{0},
                    T{1},
                    T{-1},
                    limits::infinity(),
                    -limits::infinity(),
                    limits::quiet_NaN(),
                    limits::max(),
                    limits::denorm_min()};
        } else {
            return {T{1}, T{0}, static_cast<T>(-3), limits::max(), limits::min()};
        }
    }
};
template <class T>
struct values_of<std::complex<T>> {
    static std::vector<std::complex<T>> odd() {
        std::vector<std::complex<T>> pairs;
        for (const T part : values_of<T>::odd()) {
            pairs.emplace_back(part, static_cast<T>(0.5));
        }
        return pairs;
    }
};
template <>
struct values_of<smdebug::float16> {
    static std::vector<std::uint16_t> odd() {
        return {0x2E66, 0xAE66, 0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7BFF, 1};
    }
};
template <>
struct values_of<smdebug::float8_e4m3fn> {
    static std::vector<std::uint8_t> odd() { return {0x1D, 0x9D, 0, 0x80, 0x38, 0xB8, 0x7F, 0xFF, 0x7E, 0xFE, 1}; }
};
template <>
struct values_of<smdebug::float8_e5m2> {
    static std::vector<std::uint8_t> odd() { return {0x2E, 0xAE, 0, 0x80, 0x3C, 0xBC, 0x7C, 0xFC, 0x7E, 0x7B, 1}; }
};
template <>
struct values_of<smdebug::bfloat16> {
    static std::vector<std::uint16_t> odd() {
        return {0x3DCD, 0xBDCD, 0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 1};
    }
};

/// A tensor whose last value repeats: as a whole, and in two parts as repeated_block has it.
struct repeated_tensor {
    smdebug::dtype type;
    std::vector<std::byte> bytes;  ///< of all elements
    std::size_t held;              ///< elements in the first part
    [[nodiscard]] std::size_t count() const { return bytes.size() / size_of(type); }
    [[nodiscard]] std::size_t repeats() const { return count() - held; }
    [[nodiscard]] smdebug::tensor_view whole() const { return {type, {}, bytes, {}}; }
    /// In a block of its own, so that sanitizers see a read beyond it.
    [[nodiscard]] std::vector<std::byte> held_bytes() const {
        return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(held * size_of(type))};
    }
};

/// Calls visit(repeated_tensor) for every dtype, odd value, and lengths around the borders of blocks.
template <class Visit>
void for_each_repeated(const Visit& visit) {
    constexpr std::size_t block = smdebug::repeated_block;
    for (std::uint64_t code = 0; code < 32; ++code) {
        const smdebug::dtype type = smdebug::dtype_from_code(code);
        if (!is_numeric(type)) {
            continue;
        }
        smdebug::visit_dtype(type, [&]<class T>() {
            const auto odd = values_of<T>::odd();
            for (const auto last : odd) {
                const auto tensor = [&](std::size_t values, std::size_t held, std::size_t repeats) {
                    std::vector<std::byte> bytes((held + repeats) * sizeof(T));
                    for (std::size_t i = 0; i < held + repeats; ++i) {
                        const auto value = i + 1 < values ? odd[i % 2] : last;
                        std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
                    }
                    visit(repeated_tensor{type, std::move(bytes), held});
                };
                tensor(1, block, 1);
                tensor(1, block, 3 * block + 7);  // a product that becomes 0 does so on the way
                tensor(5, 2 * block, block);
                const auto first = odd[0];
                if (std::memcmp(&last, &first, sizeof(T)) == 0) {
                    tensor(0, block, 0);
                    tensor(5, 2 * block, block - 1);
                    tensor(5, 2 * block, block + 1);
                    tensor(1, block, 100'003 - block);
                }
            }
        });
    }
}

}  // namespace reduce_test
#include <smdebug/core/strict_math/end.ipp>
