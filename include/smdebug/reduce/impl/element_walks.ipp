// The bodies of <smdebug/reduce/element_walks.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/subnormals.hpp>
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
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// Calls look(i, lane) for each i below `count`: Lanes at a time, one in each lane, and the rest in lane 0.  What the
/// lanes keep in a local array waits for no other lane, and compilers make vectors of it if this is inlined early.
template <std::size_t Lanes, class Look>
[[gnu::always_inline]] inline void in_lanes(std::size_t count, const Look& look) {
    std::size_t i = 0;
    for (; i + Lanes <= count; i += Lanes) {
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            look(i + lane, lane);
        }
    }
    for (; i < count; ++i) {
        look(i, 0);
    }
}

/// The sum of a run of elements that comes in pieces: added in several chains, as the compiler may not reorder a sum of
/// doubles itself, by the elements' places in the run.
class run_sum {
public:
    explicit run_sum(std::size_t length) noexcept : in_chains_(length / chains * chains) {}

    template <class Element>
    void add(std::span<const Element> piece) noexcept {
        std::size_t i = 0;
        const auto add_one = [&](double& sum) {
            sum += to_double(piece[i]);
            ++i;
            ++at_;
        };
        while (i < piece.size() && at_ < in_chains_ && at_ % chains != 0) {
            add_one(sums_[at_ % chains]);
        }
        std::array<double, chains> sums = sums_;  // aliases nothing
        const std::size_t left = at_ < in_chains_ ? std::min(piece.size() - i, in_chains_ - at_) : 0;
        const std::size_t whole = left / chains * chains;
        in_lanes<chains>(whole, [&](std::size_t k, std::size_t chain) { sums[chain] += to_double(piece[i + k]); });
        sums_ = sums;
        i += whole;
        at_ += whole;
        while (i < piece.size()) {
            add_one(at_ < in_chains_ ? sums_[at_ % chains] : rest_);
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return at_; }
    [[nodiscard]] double total() const noexcept { return std::accumulate(sums_.begin(), sums_.end(), rest_); }

private:
    static constexpr std::size_t chains = 8;
    std::size_t in_chains_;
    std::size_t at_ = 0;
    std::array<double, chains> sums_{};
    double rest_ = 0;
};

SMDEBUG_INLINE std::optional<std::vector<double>> channel_sums(const tensor_view& tensor, std::size_t channels,
                                                               std::size_t inner) {
    const subnormals_kept here;
    std::vector<double> sums(channels);
    run_sum run{inner};
    std::size_t channel = 0;
    const bool real = for_each_real_block(tensor, [&]<class Element>(std::span<const Element> elements) {
        while (!elements.empty()) {
            const auto piece = elements.first(std::min(elements.size(), inner - run.size()));
            run.add(piece);
            elements = elements.subspan(piece.size());
            if (run.size() == inner) {
                sums[channel] += run.total();
                channel = (channel + 1) % channels;
                run = run_sum{inner};
            }
        }
        return true;
    });
    return real ? std::optional{std::move(sums)} : std::nullopt;
}

SMDEBUG_INLINE expert_sums sums_by_last_axis(const tensor_view& tensor) {
    const subnormals_kept here;
    expert_sums found{.sum = std::vector<double>(tensor.shape.back())};
    std::size_t at = 0;
    for_each_real_block(tensor, [&]<class Element>(std::span<const Element> elements) {
        while (!elements.empty()) {
            const auto piece = elements.first(std::min(elements.size(), found.sum.size() - at));
            double* const sums = found.sum.data() + at;
            constexpr std::size_t lanes = 8;
            std::array<double, lanes> lowest{};
            std::array<double, lanes> odd{};  // not 0 if an element is not finite
            in_lanes<lanes>(piece.size(), [&](std::size_t i, std::size_t lane) {
                const double load = to_double(piece[i]);
                sums[i] += load;
                lowest[lane] = load < lowest[lane] ? load : lowest[lane];
                odd[lane] += load - load;
            });
            found.finite = found.finite && std::all_of(odd.begin(), odd.end(), [](double each) { return each == 0; });
            if (!found.wrong && *std::min_element(lowest.begin(), lowest.end()) < 0) {
                found.wrong = to_double(
                    *std::find_if(piece.begin(), piece.end(), [](Element each) { return to_double(each) < 0; }));
            }
            at = (at + piece.size()) % found.sum.size();
            elements = elements.subspan(piece.size());
        }
        return true;
    });
    return found;
}

SMDEBUG_INLINE expert_sums counts_of_numbers(const tensor_view& tensor, std::size_t experts) {
    const subnormals_kept here;
    expert_sums found{.sum = std::vector<double>(experts)};
    for_each_real_block(tensor, [&]<class Element>(std::span<const Element> elements) {
        for (const Element each : elements) {
            const double number = to_double(each);
            found.finite = found.finite && smdebug::is_finite(number);
            const bool is_wrong = number != std::trunc(number) || number >= static_cast<double>(experts);
            if (!smdebug::is_finite(number) || is_wrong) {
                found.wrong = found.wrong ? found.wrong : std::optional{number};
            } else if (number >= 0) {  // else a token that no expert got
                ++found.sum[static_cast<std::size_t>(number)];
            }
        }
        return true;
    });
    return found;
}

SMDEBUG_INLINE std::vector<double> row_argmax(const tensor_value& values) {
    const subnormals_kept here;
    std::vector<double> found;
    const std::size_t width = values.shape().empty() ? 0 : values.shape().back();
    if (width == 0) {
        return found;
    }
    visit_reals(values, [&]<class Element>(std::span<const Element> elements) {
        found.reserve(elements.size() / width);
        for (std::size_t row = 0; row + width <= elements.size(); row += width) {
            std::size_t best = 0;
            bool has_nan = false;
            for (std::size_t i = 0; i < width; ++i) {
                has_nan = has_nan || smdebug::is_nan(to_double(elements[row + i]));
                best = elements[row + i] > elements[row + best] ? i : best;
            }
            found.push_back(has_nan ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(best));
        }
    });
    return found;
}

/// The number of elements equal to `value` as doubles.  Compares in Element if the result is the same: it is faster.
template <class Element>
[[nodiscard]] std::size_t count_in(std::span<const Element> elements, double value) {
    const auto equal = [&](Element wanted) {
        return static_cast<std::size_t>(std::count(elements.begin(), elements.end(), wanted));
    };
    constexpr double exact_integers = 0x1p53;  // below it double and int64 agree
    if constexpr (std::integral<Element> && !std::same_as<Element, bool>) {
        if (std::abs(value) < exact_integers) {
            const bool fits = value == std::trunc(value) &&
                              value >= static_cast<double>(std::numeric_limits<Element>::lowest()) &&
                              value <= static_cast<double>(std::numeric_limits<Element>::max());
            return fits ? equal(static_cast<Element>(value)) : 0;
        }
    } else if constexpr (std::same_as<Element, double>) {
        return equal(value);
    }
    return static_cast<std::size_t>(
        std::count_if(elements.begin(), elements.end(), [&](Element each) { return to_double(each) == value; }));
}

SMDEBUG_INLINE std::size_t count_equal(const tensor_view& tensor, double value) {
    const subnormals_kept here;
    std::size_t found = 0;
    for_each_real_block(tensor, [&]<class Element>(std::span<const Element> elements) {
        found += count_in(elements, value);
        return true;
    });
    return found;
}

/// The largest value of Element that is not above a number, which is not NaN.
template <std::floating_point Element>
[[nodiscard]] inline Element largest_not_above(double number) noexcept {
    if constexpr (sizeof(Element) < sizeof(double)) {
        const Element nearest = smdebug::detail::nearest_float(number);
        return static_cast<double>(nearest) > number
                   ? std::nextafter(nearest, -std::numeric_limits<Element>::infinity())
                   : nearest;
    } else {
        return number;
    }
}

/// Whether elements of type Element are active: two comparisons, in Element for floats, else in double.
template <class Element>
class activity_test {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(largest_not_above<limit>(range.above)),
          last_(range.below ? largest_not_above<limit>(std::nextafter(*range.below, -infinity)) : infinity_of_limit) {}

    [[nodiscard]] bool operator()(Element value) const noexcept {
        const auto number = static_cast<limit>(value);
        return (number > above_) & (number <= last_);
    }

private:
    using limit = std::conditional_t<std::same_as<Element, float>, float, double>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr limit infinity_of_limit = std::numeric_limits<limit>::infinity();

    limit above_;
    limit last_;  // the largest active value
};

/// The two 16-bit floats are compared by keys, integers in the order of the numbers: nothing is converted.  The keys of
/// NaN lie beyond those of the infinities.
template <class Element>
    requires std::same_as<Element, float16> || std::same_as<Element, bfloat16>
class activity_test<Element> {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(key_not_above(range.above)),
          last_(key_not_above(range.below ? std::nextafter(*range.below, -infinity) : infinity)) {}

    [[nodiscard]] bool operator()(Element value) const noexcept {
        const std::int16_t order = key(value);
        return (order > above_) & (order <= last_);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    [[nodiscard]] static std::int16_t key(Element value) noexcept {
        const auto bits = static_cast<std::int16_t>(value.bits);
        return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
    }
    // The key of the largest value that is not above a number; of the two zeros, 0.0 has the larger key.
    [[nodiscard]] static std::int16_t key_not_above(double number) noexcept {
        const Element nearest{number + 0.0};
        const int step = static_cast<double>(static_cast<float>(nearest)) > number ? 1 : 0;
        return static_cast<std::int16_t>(key(nearest) - step);
    }

    std::int16_t above_;
    std::int16_t last_;
};

/// Adds to counts[j] the number of active elements among rows of `width` elements.  Works on a band of columns at a
/// time: its counters stay in the L1 cache, and rows are read in pieces of some KB.
template <class Element>
void count_active(const Element* rows, std::size_t row_count, std::size_t width, const activity_test<Element>& active,
                  std::uint32_t* counts) {
    constexpr std::size_t band = 1024;
    constexpr std::size_t lanes = 32;  // a constant count: compilers vectorise it at any level
    const activity_test<Element> test = active;
    std::array<std::uint32_t, band> counters;  // aliases nothing
    for (std::size_t first = 0; first < width; first += band) {
        const std::size_t columns = std::min(band, width - first);
        std::copy_n(counts + first, columns, counters.begin());
        const Element* row = rows + first;
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

template <class Element>
[[nodiscard]] std::size_t inactive_nodes_among(const tensor_view& values, layer_size layer, const active_range& range,
                                               std::size_t needed, std::size_t enough) {
    constexpr std::size_t short_row = 512;
    const activity_test<Element> active{range};
    // Short rows are joined to longer ones.
    const std::size_t joined = std::clamp<std::size_t>(short_row / layer.nodes, 1, layer.samples);
    std::vector<std::uint32_t> counts(joined * layer.nodes);
    std::vector<std::byte> room;
    std::size_t first = 0;  // first element of the next block
    const auto block_of = [&](std::size_t samples) {
        return aligned_elements<Element>(values, first, samples * layer.nodes, room).data();
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
    const subnormals_kept here;
    std::size_t inactive = 0;
    visit_dtype(values.type, [&]<class Element>() {
        if constexpr (!requires { typename Element::value_type; }) {  // not complex
            inactive = inactive_nodes_among<Element>(values, layer, range, needed, enough);
        }
    });
    return inactive;
}

/// The bits of a narrow float's exponent; 0 for other elements.
template <class Element>
inline constexpr unsigned exponent_bits = 0;
template <>
inline constexpr unsigned exponent_bits<float16> = 0x7C00;
template <>
inline constexpr unsigned exponent_bits<bfloat16> = 0x7F80;
template <>
inline constexpr unsigned exponent_bits<float8_e5m2> = 0x7C;
template <>
inline constexpr unsigned exponent_bits<float8_e4m3fn> = 0x78;

/// The bits of the least normal number: the exponent's lowest bit; those below it are the fraction.
template <class Element>
inline constexpr unsigned least_normal_bits = exponent_bits<Element> & (~exponent_bits<Element> + 1);

SMDEBUG_INLINE small_counts count_small(const tensor_view& tensor) {
    const subnormals_kept here;
    small_counts found{.type = tensor.type};
    found.elements = has_reals(tensor.type) ? tensor.count() : 0;
    for_each_real_block(tensor, [&]<class Element>(std::span<const Element> elements) {
        if constexpr (exponent_bits<Element> != 0) {
            // Counters as wide as an element: compilers count a vector of them at a time.
            using bits = decltype(Element::bits);
            constexpr std::size_t lanes = 32;
            constexpr std::size_t most = lanes * std::size_t{std::numeric_limits<bits>::max()};
            const auto is_small = [](Element each) { return (each.bits & exponent_bits<Element>) == 0; };
            const auto is_zero = [](Element each) {
                return (each.bits & (exponent_bits<Element> | (least_normal_bits<Element> - 1))) == 0;
            };
            std::uint64_t small = 0;
            std::uint64_t zeros = 0;
            while (!elements.empty()) {
                const auto some = elements.first(std::min(most, elements.size()));
                std::array<bits, lanes> small_in{};
                std::array<bits, lanes> zeros_in{};
                std::size_t i = 0;
                for (; i + lanes <= some.size(); i += lanes) {
                    for (std::size_t k = 0; k < lanes; ++k) {
                        small_in[k] = static_cast<bits>(small_in[k] + (is_small(some[i + k]) ? 1 : 0));
                        zeros_in[k] = static_cast<bits>(zeros_in[k] + (is_zero(some[i + k]) ? 1 : 0));
                    }
                }
                for (; i < some.size(); ++i) {
                    small += is_small(some[i]) ? 1U : 0U;
                    zeros += is_zero(some[i]) ? 1U : 0U;
                }
                small = std::accumulate(small_in.begin(), small_in.end(), small);
                zeros = std::accumulate(zeros_in.begin(), zeros_in.end(), zeros);
                elements = elements.subspan(some.size());
            }
            found.zeros += zeros;
            found.subnormals += small - zeros;
            return true;
        } else {
            const auto first =
                std::find_if(elements.begin(), elements.end(), [](Element each) { return each != Element{}; });
            found.zeros += static_cast<std::uint64_t>(first - elements.begin());
            return first == elements.end();
        }
    });
    return found;
}

SMDEBUG_INLINE double least_normal(dtype type) noexcept {
    return !has_reals(type) ? 0 : visit_dtype(type, []<class Element>() -> double {
        if constexpr (exponent_bits<Element> != 0) {
            return to_double(Element::from_bits(static_cast<decltype(Element::bits)>(least_normal_bits<Element>)));
        } else {
            return 0;
        }
    });
}

/// A row of probabilities, element by element, with its entropy.
class exact_entropy {
public:
    template <class Element>
    void add(std::span<const Element> elements, double tolerance) {
        for (const Element each : elements) {
            const double p = to_double(each);
            sum_ += p;
            finite_ = finite_ && smdebug::is_finite(p);
            zero_ = zero_ && p == 0;
            negative_ = negative_ || p < -tolerance;
            if (p > 0) {
                entropy_ -= p * std::log(p);
            }
        }
    }
    [[nodiscard]] bool counts() const noexcept { return finite_ && !zero_; }
    /// Whether it is one of probabilities.
    [[nodiscard]] bool is_well(double tolerance) const noexcept {
        return !negative_ && std::abs(sum_ - 1) <= tolerance;
    }
    [[nodiscard]] double sum() const noexcept { return sum_; }
    /// In units of the natural logarithm.
    [[nodiscard]] double entropy() const noexcept { return entropy_; }

private:
    double sum_ = 0;
    double entropy_ = 0;
    bool finite_ = true;
    bool zero_ = true;
    bool negative_ = false;
};

/// A row of probabilities with a lower bound in the place of the entropy: with S the sum and Q the sum of squares,
/// -sum(p * ln p) is at least S * ln(S / Q).  A row that is anything but one of probabilities is not well: the exact
/// walk judges it.
class entropy_bound {
public:
    template <class Element>
    void add(std::span<const Element> elements, double /*tolerance*/) {
        std::array<double, lanes> sums = sums_;
        std::array<double, lanes> squares = squares_;
        std::array<double, lanes> lowest{};
        in_lanes<lanes>(elements.size(), [&](std::size_t i, std::size_t lane) {
            const double p = to_double(elements[i]);
            sums[lane] += p;
            squares[lane] += p * p;
            lowest[lane] = p < lowest[lane] ? p : lowest[lane];
        });
        sums_ = sums;
        squares_ = squares;
        negative_ = negative_ || std::any_of(lowest.begin(), lowest.end(), [](double each) { return each < 0; });
    }
    [[nodiscard]] bool counts() const noexcept { return negative_ || sum() != 0; }
    [[nodiscard]] bool is_well(double tolerance) const noexcept {
        return !negative_ && total(squares_) > 0 && smdebug::is_finite(total(squares_)) &&
               std::abs(sum() - 1) <= tolerance * (1 - rounding) - rounding;
    }
    [[nodiscard]] double sum() const noexcept { return total(sums_); }
    [[nodiscard]] double entropy() const noexcept {
        return sum() * std::log(sum() / total(squares_)) * (1 - rounding) - rounding;
    }

private:
    static constexpr std::size_t lanes = 8;      // one sum alone would wait for each addition
    static constexpr double rounding = 0x1p-30;  // more than that of any sum here

    [[nodiscard]] static double total(const std::array<double, lanes>& of) noexcept {
        return std::accumulate(of.begin(), of.end(), 0.0);
    }

    std::array<double, lanes> sums_{};
    std::array<double, lanes> squares_{};
    bool negative_ = false;
};

/// Collects the entropies of rows; Row: exact_entropy or entropy_bound.
template <class Row>
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

    /// Returns false if that row is not one of probabilities.
    template <class Element>
    [[nodiscard]] bool add(std::span<const Element> elements) {
        while (!elements.empty()) {
            const std::size_t count = std::min(elements.size(), width_ - at_);
            row_.add(elements.first(count), how_.tolerance);
            at_ += count;
            elements = elements.subspan(count);
            if (at_ == width_ && !end_row()) {
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
            const bool is_first = found.what == row_entropies::outcome::no_rows;
            found.what = row_entropies::outcome::found;
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
        return {.least = row_.sum(), .rows_of_least = number_, .what = row_entropies::outcome::not_a_row};
    }

private:
    struct group {
        double sum = 0;
        std::uint64_t rows = 0;
    };

    [[nodiscard]] bool end_row() {
        // Signed: there may be more queries than positions.
        const auto positions = static_cast<std::int64_t>(width_);
        const auto last = static_cast<std::int64_t>(number_ % queries_) + 1 - static_cast<std::int64_t>(queries_);
        const std::int64_t size = how_.causal ? positions + last : positions;
        if (size >= 2 && row_.counts()) {
            if (!row_.is_well(how_.tolerance)) {
                return false;
            }
            group& of = groups_[number_ / rows_of_a_head_ % groups_.size()];
            of.sum += std::clamp(row_.entropy() / std::log(static_cast<double>(size)), 0.0, 1.0);
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
    Row row_;
    std::size_t at_ = 0;        // in the row
    std::uint64_t number_ = 0;  // of the row
};

SMDEBUG_INLINE row_entropies entropies_of_rows(const tensor_view& tensor, const entropy_options& how) {
    const subnormals_kept here;
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
    const auto found_by = [&](auto walk) {
        bool are_rows = true;
        for_each_real_block(
            tensor, [&]<class Element>(std::span<const Element> elements) { return are_rows = walk.add(elements); });
        return are_rows ? walk.finish() : walk.wrong_row();
    };
    if (how.enough) {
        const row_entropies bounds = found_by(entropy_walk<entropy_bound>{tensor.shape, how});
        if (bounds.what == outcome::found && bounds.least >= *how.enough) {
            return bounds;
        }
    }
    return found_by(entropy_walk<exact_entropy>{tensor.shape, how});
}

SMDEBUG_INLINE tensor_hash tensor_hash_of(const tensor_view& tensor) noexcept {
    return tensor_hash_by(tensor_hasher{}, tensor);
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
