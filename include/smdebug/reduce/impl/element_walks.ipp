// The bodies of <smdebug/reduce/element_walks.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1::reduce::detail {

/// Added in several chains: the compiler may not reorder a sum of doubles itself.
template <class T>
[[nodiscard]] double sum_of(std::span<const T> elements) noexcept {
    constexpr std::size_t chains = 8;
    std::array<double, chains> sums{};
    std::size_t i = 0;
    for (; i + chains <= elements.size(); i += chains) {
        for (std::size_t k = 0; k < chains; ++k) {
            sums[k] += to_double(elements[i + k]);
        }
    }
    double sum = 0;
    for (; i < elements.size(); ++i) {
        sum += to_double(elements[i]);
    }
    for (const double part : sums) {
        sum += part;
    }
    return sum;
}

SMDEBUG_INLINE std::optional<std::vector<double>> channel_sums(const tensor_value& tensor, std::size_t channels,
                                                               std::size_t inner) {
    std::vector<double> sums(channels);
    const bool real = visit_reals(tensor, [&]<class T>(std::span<const T> elements) {
        for (std::size_t begin = 0, at = 0; begin < elements.size(); begin += inner, ++at) {
            sums[at % channels] += sum_of(elements.subspan(begin, inner));
        }
    });
    return real ? std::optional{std::move(sums)} : std::nullopt;
}

SMDEBUG_INLINE std::vector<double> row_argmax(const tensor_value& values) {
    std::vector<double> found;
    const std::size_t width = values.shape().empty() ? 0 : values.shape().back();
    if (width == 0) {
        return found;
    }
    visit_reals(values, [&]<class T>(std::span<const T> elements) {
        found.reserve(elements.size() / width);
        for (std::size_t row = 0; row + width <= elements.size(); row += width) {
            std::size_t best = 0;
            bool has_nan = false;
            for (std::size_t i = 0; i < width; ++i) {
                has_nan = has_nan || std::isnan(to_double(elements[row + i]));
                best = elements[row + i] > elements[row + best] ? i : best;
            }
            found.push_back(has_nan ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(best));
        }
    });
    return found;
}

/// The number of elements equal to `value` as doubles.  Compares in T if the result is the same: it is faster.
template <class T>
[[nodiscard]] std::size_t count_in(std::span<const T> elements, double value) {
    const auto equal = [&](T wanted) {
        return static_cast<std::size_t>(std::count(elements.begin(), elements.end(), wanted));
    };
    constexpr double exact_integers = 0x1p53;  // below it double and int64 agree
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        if (std::abs(value) < exact_integers) {
            const bool fits = value == std::trunc(value) &&
                              value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                              value <= static_cast<double>(std::numeric_limits<T>::max());
            return fits ? equal(static_cast<T>(value)) : 0;
        }
    } else if constexpr (std::same_as<T, double>) {
        return equal(value);
    }
    return static_cast<std::size_t>(
        std::count_if(elements.begin(), elements.end(), [&](T each) { return to_double(each) == value; }));
}

SMDEBUG_INLINE std::size_t count_equal(const tensor_value& tensor, double value) {
    std::size_t found = 0;
    visit_reals(tensor, [&]<class T>(std::span<const T> elements) { found = count_in(elements, value); });
    return found;
}

/// The largest value of T that is not above a number, which is not NaN.
template <std::floating_point T>
[[nodiscard]] inline T largest_not_above(double number) noexcept {
    if constexpr (sizeof(T) < sizeof(double)) {
        const T nearest = smdebug::detail::nearest_float(number);
        return static_cast<double>(nearest) > number ? std::nextafter(nearest, -std::numeric_limits<T>::infinity())
                                                     : nearest;
    } else {
        return number;
    }
}

/// Whether elements of type T are active: two comparisons, in T for floats, else in double.
template <class T>
class activity_test {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(largest_not_above<limit>(range.above)),
          last_(range.below ? largest_not_above<limit>(std::nextafter(*range.below, -infinity)) : infinity_of_limit) {}

    [[nodiscard]] bool operator()(T value) const noexcept {
        const auto number = static_cast<limit>(value);
        return (number > above_) & (number <= last_);
    }

private:
    using limit = std::conditional_t<std::same_as<T, float>, float, double>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr limit infinity_of_limit = std::numeric_limits<limit>::infinity();

    limit above_;
    limit last_;  // the largest active value
};

/// The two 16-bit floats are compared by keys, integers in the order of the numbers: nothing is converted.  The keys of
/// NaN lie beyond those of the infinities.
template <class T>
    requires std::same_as<T, float16> || std::same_as<T, bfloat16>
class activity_test<T> {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(key_not_above(range.above)),
          last_(key_not_above(range.below ? std::nextafter(*range.below, -infinity) : infinity)) {}

    [[nodiscard]] bool operator()(T value) const noexcept {
        const std::int16_t order = key(value);
        return (order > above_) & (order <= last_);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    [[nodiscard]] static std::int16_t key(T value) noexcept {
        const auto bits = static_cast<std::int16_t>(value.bits);
        return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
    }
    // The key of the largest value that is not above a number; of the two zeros, 0.0 has the larger key.
    [[nodiscard]] static std::int16_t key_not_above(double number) noexcept {
        const T nearest{number + 0.0};
        const int step = static_cast<double>(static_cast<float>(nearest)) > number ? 1 : 0;
        return static_cast<std::int16_t>(key(nearest) - step);
    }

    std::int16_t above_;
    std::int16_t last_;
};

/// Adds to counts[j] the number of active elements among rows of `width` elements.  Works on a band of columns at a
/// time: its counters stay in the L1 cache, and rows are read in pieces of some KB.
template <class T>
void count_active(const T* rows, std::size_t row_count, std::size_t width, const activity_test<T>& active,
                  std::uint32_t* counts) {
    constexpr std::size_t band = 1024;
    constexpr std::size_t lanes = 32;  // a constant count: compilers vectorise it at any level
    const activity_test<T> test = active;
    std::array<std::uint32_t, band> counters;  // aliases nothing
    for (std::size_t first = 0; first < width; first += band) {
        const std::size_t columns = std::min(band, width - first);
        std::copy_n(counts + first, columns, counters.begin());
        const T* row = rows + first;
        for (std::size_t i = 0; i < row_count; ++i, row += width) {
            std::size_t j = 0;
            for (; j + lanes <= columns; j += lanes) {
                for (std::size_t k = 0; k < lanes; ++k) {
                    counters[j + k] += test(row[j + k]) ? 1U : 0U;
                }
            }
            for (; j < columns; ++j) {
                counters[j] += test(row[j]) ? 1U : 0U;
            }
        }
        std::copy_n(counters.begin(), columns, counts + first);
    }
}

template <class T>
[[nodiscard]] std::size_t inactive_nodes_among(const tensor_view& values, layer_size layer, const active_range& range,
                                               std::size_t needed, std::size_t enough) {
    constexpr std::size_t short_row = 512;
    const activity_test<T> active{range};
    // Short rows are joined to longer ones.
    const std::size_t joined = std::clamp<std::size_t>(short_row / layer.nodes, 1, layer.samples);
    std::vector<std::uint32_t> counts(joined * layer.nodes);
    std::vector<std::byte> room;
    std::size_t first = 0;  // first element of the next block
    const auto block_of = [&](std::size_t samples) {
        return aligned_elements<T>(values, first, samples * layer.nodes, room).data();
    };
    std::size_t left = layer.samples;
    std::size_t inactive = layer.nodes;
    for (std::size_t block = 4; left > 0; block *= 2) {
        const std::size_t rows = std::min(block, left / joined);
        const std::size_t samples = rows == 0 ? left : rows * joined;
        if (rows == 0) {
            count_active(block_of(samples), left, layer.nodes, active, counts.data());
        } else {
            count_active(block_of(samples), rows, joined * layer.nodes, active, counts.data());
        }
        first += samples * layer.nodes;
        left -= samples;
        for (std::size_t i = layer.nodes; i < counts.size(); ++i) {
            counts[i % layer.nodes] += std::exchange(counts[i], 0U);
        }
        const auto nodes = std::span{counts}.first(layer.nodes);
        inactive = static_cast<std::size_t>(
            std::count_if(nodes.begin(), nodes.end(), [&](std::uint32_t count) { return count < needed; }));
        if (inactive < enough) {  // the count can only fall
            return inactive;
        }
    }
    return inactive;
}

SMDEBUG_INLINE std::size_t inactive_nodes(const tensor_view& values, layer_size layer, const active_range& range,
                                          std::size_t needed, std::size_t enough) {
    std::size_t inactive = 0;
    visit_dtype(values.type, [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            inactive = inactive_nodes_among<T>(values, layer, range, needed, enough);
        }
    });
    return inactive;
}

/// The bits of a narrow float: exponent and fraction.
template <class T>
struct float_bits;
template <>
struct float_bits<float16> {
    static constexpr unsigned exponent = 0x7C00;
    static constexpr unsigned fraction = 0x03FF;
    static constexpr double least_normal = 0x1p-14;
};
template <>
struct float_bits<bfloat16> {
    static constexpr unsigned exponent = 0x7F80;
    static constexpr unsigned fraction = 0x007F;
    static constexpr double least_normal = 0x1p-126;
};
template <>
struct float_bits<float8_e5m2> {
    static constexpr unsigned exponent = 0x7C;
    static constexpr unsigned fraction = 0x03;
    static constexpr double least_normal = 0x1p-14;
};
template <>
struct float_bits<float8_e4m3fn> {
    static constexpr unsigned exponent = 0x78;
    static constexpr unsigned fraction = 0x07;
    static constexpr double least_normal = 0x1p-6;
};

SMDEBUG_INLINE small_counts count_small(const tensor_view& tensor) {
    small_counts found{.type = tensor.type};
    for_each_real_block(tensor, [&]<class T>(std::span<const T> elements) {
        found.elements += elements.size();
        std::uint64_t zeros = 0;
        std::uint64_t subnormals = 0;
        for (const T each : elements) {
            if constexpr (requires { float_bits<T>::exponent; }) {
                const bool is_small = (each.bits & float_bits<T>::exponent) == 0;
                const bool has_digits = (each.bits & float_bits<T>::fraction) != 0;
                zeros += is_small && !has_digits ? 1U : 0U;
                subnormals += is_small && has_digits ? 1U : 0U;
            } else {
                zeros += each == T{} ? 1U : 0U;
            }
        }
        found.zeros += zeros;
        found.subnormals += subnormals;
        return true;
    });
    return found;
}

SMDEBUG_INLINE double least_normal(dtype type) noexcept {
    switch (type) {
        case dtype::float16:
            return float_bits<float16>::least_normal;
        case dtype::bfloat16:
            return float_bits<bfloat16>::least_normal;
        case dtype::float8_e5m2:
            return float_bits<float8_e5m2>::least_normal;
        case dtype::float8_e4m3fn:
            return float_bits<float8_e4m3fn>::least_normal;
        default:
            return 0;
    }
}

/// Collects the entropies of rows, element by element.
class entropy_walk {
public:
    /// The tensor has axes and elements, and those that the options need.
    entropy_walk(std::span<const std::size_t> shape, const entropy_options& how)
        : width_(shape.back()), queries_(shape.size() > 1 ? shape[shape.size() - 2] : 1), how_(how) {
        if (how.head_axis) {
            const auto axis = static_cast<std::size_t>(*how.head_axis);
            groups_.resize(shape[axis]);
            for (std::size_t i = axis + 1; i + 1 < shape.size(); ++i) {
                rows_of_a_head_ *= shape[i];
            }
        } else {
            groups_.resize(1);
        }
    }

    /// False: that row is not one of probabilities.
    template <class T>
    [[nodiscard]] bool add(std::span<const T> elements) {
        for (const T each : elements) {
            const double p = to_double(each);
            row_.sum += p;
            row_.finite = row_.finite && std::isfinite(p);
            row_.zero = row_.zero && p == 0;
            row_.negative = row_.negative || p < -how_.tolerance;
            if (p > 0) {
                row_.entropy -= p * std::log(p);
            }
            if (++at_ == width_ && !end_row()) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] row_entropies finish() const {
        row_entropies found{.what = row_entropies::outcome::no_rows};
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            const group& each = groups_[i];
            if (each.rows == 0) {
                continue;
            }
            const double mean = each.sum / static_cast<double>(each.rows);
            const bool is_first = std::exchange(found.what, row_entropies::outcome::found) != found.what;
            if (is_first || mean < found.least) {
                found.least = mean;
                found.least_group = static_cast<std::uint32_t>(i);
                found.rows_of_least = each.rows;
            }
            if (is_first || mean > found.greatest) {
                found.greatest = mean;
                found.greatest_group = static_cast<std::uint32_t>(i);
                found.rows_of_greatest = each.rows;
            }
        }
        return found;
    }
    /// The row that ended the walk.
    [[nodiscard]] row_entropies wrong_row() const {
        return {.least = row_.sum, .rows_of_least = number_, .what = row_entropies::outcome::not_a_row};
    }

private:
    struct row {
        double sum = 0;
        double entropy = 0;
        bool finite = true;
        bool zero = true;
        bool negative = false;
    };
    struct group {
        double sum = 0;
        std::uint64_t rows = 0;
    };

    [[nodiscard]] bool end_row() {
        // Signed: there may be more queries than positions.
        const auto positions = static_cast<std::int64_t>(width_);
        const auto last = static_cast<std::int64_t>(number_ % queries_) + 1 - static_cast<std::int64_t>(queries_);
        const std::int64_t size = how_.causal ? positions + last : positions;
        if (size >= 2 && row_.finite && !row_.zero) {
            if (row_.negative || !(std::abs(row_.sum - 1) <= how_.tolerance)) {
                return false;
            }
            group& of = groups_[number_ / rows_of_a_head_ % groups_.size()];
            of.sum += std::clamp(row_.entropy / std::log(static_cast<double>(size)), 0.0, 1.0);
            ++of.rows;
        }
        row_ = {};
        at_ = 0;
        ++number_;
        return true;
    }

    std::size_t width_;
    std::size_t queries_;
    entropy_options how_;
    std::vector<group> groups_;
    std::size_t rows_of_a_head_ = 1;  // rows with one index on head_axis that follow each other
    row row_;
    std::size_t at_ = 0;        // in the row
    std::uint64_t number_ = 0;  // of the row
};

SMDEBUG_INLINE row_entropies entropies_of_rows(const tensor_view& tensor, const entropy_options& how) {
    using outcome = row_entropies::outcome;
    if (!has_reals(tensor.type) || tensor.count() == 0) {
        return {.what = outcome::not_real};
    }
    const auto axes = static_cast<std::int64_t>(tensor.shape.size());
    if (axes == 0) {
        return {.what = outcome::no_axes};
    }
    if (how.head_axis && *how.head_axis >= axes - 1) {
        return {.what = outcome::no_head_axis};
    }
    if (how.causal && axes == 1) {
        return {.what = outcome::no_causal_axis};
    }
    entropy_walk walk{tensor.shape, how};
    bool are_rows = true;
    for_each_real_block(tensor, [&]<class T>(std::span<const T> elements) { return are_rows = walk.add(elements); });
    return are_rows ? walk.finish() : walk.wrong_row();
}

__extension__ using wide_product = unsigned __int128;

/// Both halves of a product of 128 bits: every bit of either factor reaches every bit of the answer.
[[nodiscard]] inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    const wide_product product = static_cast<wide_product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Lanes of folded products: each takes every fourth pair of words, so that none waits for another.
class lane_hash {
public:
    void add(std::uint64_t word) noexcept { states_[0] = folded_product(states_[0] ^ word, keys[1]); }

    void add(byte_view bytes) noexcept {
        const std::byte* from = bytes.data();
        std::size_t left = bytes.size();
        for (; left >= block; left -= block, from += block) {
            add_block(from);
        }
        std::array<std::byte, block> rest{};
        if (left > 0) {
            std::memcpy(rest.data(), from, left);
        }
        add_block(rest.data());
    }

    [[nodiscard]] content_hash finish() const noexcept {
        content_hash whole{keys[0], keys[1]};
        for (const std::uint64_t state : states_) {
            whole.low = folded_product(whole.low ^ state, keys[2]);
            whole.high = folded_product(whole.high + state, keys[3]);
        }
        return whole;
    }

private:
    static constexpr std::size_t lanes = 4;
    static constexpr std::size_t block = lanes * 2 * sizeof(std::uint64_t);
    // Fractions of the square roots of 2, 3, 5 and 7.
    static constexpr std::array<std::uint64_t, lanes> keys{0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B,
                                                           0xA54FF53A5F1D36F1};

    void add_block(const std::byte* from) noexcept {
        for (std::size_t lane = 0; lane < lanes; ++lane, from += 2 * sizeof(std::uint64_t)) {
            states_[lane] = folded_product(states_[lane] ^ load_le<std::uint64_t>(from),
                                           keys[lane] ^ load_le<std::uint64_t>(from + sizeof(std::uint64_t)));
        }
    }

    std::array<std::uint64_t, lanes> states_ = keys;
};

SMDEBUG_INLINE content_hash content_hash_of(const tensor_view& tensor) noexcept {
    lane_hash hash;
    hash.add(static_cast<std::uint64_t>(tensor.type));
    hash.add(tensor.shape.size());
    for (const std::size_t extent : tensor.shape) {
        hash.add(extent);
    }
    hash.add(tensor.bytes.size());
    hash.add(tensor.bytes);
    return hash.finish();
}

}  // namespace smdebug::inline v1::reduce::detail
