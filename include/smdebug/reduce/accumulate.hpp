// From blocks to a tensor: sweeps each block of a tensor while it is in L1, and adds the results up.
// Every kernel walks like this; kernels differ in the sweeps.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// Elements in memory and how they become lanes.  Borrows the bytes.
template <class Lane>
struct element_source {
    const std::byte* bytes = nullptr;
    std::size_t count = 0;
    const smdebug::detail::byte_feed* feed = nullptr;  ///< provides the bytes, if they are not contiguous in memory
    std::size_t repeats = 0;  ///< elements that follow; if not 0, see repeated_block for `bytes`
    std::size_t element_size = sizeof(Lane);
    double scale = 1;  ///< lanes are elements times this, a power of two
    /// Fills lanes; null if the elements are lanes already.
    void (*widen)(const std::byte* from, std::size_t count, double scale, Lane* to) = nullptr;
    /// Exact sums; null if the lanes' sums are the elements' sums.
    integer_sums (*exact)(const std::byte* from, std::size_t count) = nullptr;
    /// Fills lanes with exact differences from a centre near `mean`, of x or |x|, and returns the centre; null if lanes
    /// minus mean is exact enough.
    wide_sum (*differences)(const std::byte* from, std::size_t count, wide_sum mean, bool magnitudes,
                            Lane* to) = nullptr;
    /// Counts kinds of elements; null if the lanes have the same kinds.
    element_counts (*kinds)(const std::byte* from, std::size_t count) = nullptr;
};

/// The statistics wanted of a tensor, in terms of the walk.  The plain sum is always computed.
struct required_statistics {
    parts sweep = {};     ///< of each block; `smallest` also counts zeros
    bool spread = false;  ///< squares about the mean, of x and of |x|; needs norms
};

/// A demand known at compile time: the walk's code has nothing else.
template <required_statistics Wanted>
struct fixed_demand {
    static constexpr parts sweep = Wanted.sweep;
    static constexpr bool spread = Wanted.spread;
    constexpr operator required_statistics() const noexcept { return Wanted; }  // NOLINT: implicit
};

/// The result of a walk over a tensor.
struct totals {
    std::uint64_t count = 0;
    double scale = 1;
    element_counts kinds;
    wide_sum sum;
    wide_sum magnitudes;
    wide_sum squares;
    double min = infinity;
    double max = -infinity;
    double abs_min = infinity;
    scaled_product product;
    spread plain;
    spread absolute;
    bool cut = false;  ///< the bytes ended too early: nothing here is valid

    [[nodiscard]] bool all_finite() const noexcept { return (kinds.nan | kinds.pos_inf | kinds.neg_inf) == 0; }
};

/// One tensor's walk.  Sweeps is the kernel's part:
///  - sweep<Lane, parts>(at, count, soon) -> block_result; if `soon` is not null, the bytes from there on are needed
///  next:
///    it may prefetch but not read them;
///  - centre<Lane>(at, count, centre, magnitudes) -> centred_result;
///  - count_zeros<Lane>(at, count) -> std::uint64_t;
///  - widen<Conversion>(from, count, scale, to), see widen.hpp;
/// all in the order of lanes.hpp, of at most block_size lanes at any alignment.
/// Demand is `demand`, or a fixed_demand.  Borrows the source.
template <class Sweeps, class Lane, class Demand>
class block_walk {
public:
    block_walk(const element_source<Lane>& source, Demand wanted) noexcept : source_(source), wanted_(wanted) {
        all_.count = source.count + source.repeats;
        all_.scale = source.scale;
    }

    /// Loads each element from memory once; reads a block of repeated elements once or twice.  `watch`, if not null, is
    /// called with the bytes, a few blocks at a time, before they are swept.
    /// The totals are a member: a copy would wait for what was stored just before it.
    [[nodiscard]] totals& run(const byte_watch* watch) noexcept {
        if (source_.widen == nullptr) {
            for (std::size_t at = 0; at < all_.count && !all_.cut;) {
                if (const std::byte* raw = block_at(at)) {
                    show(watch, raw, at);
                    at = add(look_at(raw, raw, length_at(at), raw), at);
                }
            }
            return all_;
        }
        alignas(64) Lane lanes[block_size];
        for (std::size_t at = 0; at < all_.count && !all_.cut;) {
            if (const std::byte* raw = block_at(at)) {
                show(watch, raw, at);
                source_.widen(raw, length_at(at), source_.scale, lanes);
                const auto* filled = reinterpret_cast<const std::byte*>(lanes);
                at = add(look_at(raw, filled, length_at(at), nullptr), at);
            }
        }
        return all_;
    }

private:
    // The contribution of a block.
    struct block_totals {
        // In place, and member by member: the whole would be cleared first, by an instruction that is slow to begin.
        template <class Sweep>
        explicit block_totals(const Sweep& sweep) noexcept : block(sweep()) {}

        block_result block;
        element_counts kinds;
        spread plain;
        spread absolute;
        bool regular = true;
    };

    // The position of a block's elements; those of repeated elements are in the last block.  Null if they are
    // unavailable.
    [[nodiscard]] const std::byte* block_at(std::size_t begin) noexcept {
        if (source_.feed != nullptr) {
            return fed_block(begin * source_.element_size, length_at(begin) * source_.element_size);
        }
        return source_.bytes + (begin < source_.count ? begin : source_.count - block_size) * source_.element_size;
    }

    // Cuts blocks out of the feed's pieces; the rest of a piece that ends within a block is requested again.
    [[nodiscard]] const std::byte* fed_block(std::size_t begin, std::size_t size) noexcept {
        if (begin - fed_begin_ > fed_.size() || size > fed_.size() - (begin - fed_begin_)) {
            fed_ = (*source_.feed)(begin, size);
            fed_begin_ = begin;
            all_.cut = fed_.size() < size;
        }
        return all_.cut ? nullptr : fed_.data() + (begin - fed_begin_);
    }

    // A piece is 16 KiB: it stays in L1 until it is swept, and is large enough for a call.
    void show(const byte_watch* watch, const std::byte* raw, std::size_t begin) const noexcept {
        if (watch == nullptr || begin >= source_.count) {
            return;
        }
        constexpr std::size_t piece_bytes = std::size_t{16} << 10U;
        const std::size_t block_bytes = block_size * source_.element_size;
        const std::size_t blocks = block_bytes < piece_bytes ? piece_bytes / block_bytes : 1;
        if (begin / block_size % blocks == 0) {
            const std::size_t left = (source_.count - begin) * source_.element_size;
            (*watch)(byte_view{raw, left < blocks * block_bytes ? left : blocks * block_bytes});
        }
    }

    [[nodiscard]] std::size_t length_at(std::size_t begin) const noexcept {
        return all_.count - begin < block_size ? all_.count - begin : block_size;
    }

    template <parts Parts>
    [[nodiscard]] static block_result sweep(const std::byte* at, std::size_t count, const std::byte* soon) noexcept {
        return Sweeps::template sweep<Lane, Parts>(at, count, soon);
    }

    // A product that is 0 stays 0.
    [[nodiscard]] bool product_is_open() const noexcept { return wanted_.sweep.product && all_.product.mantissa != 0; }

    // Picks the narrowest of a few sweeps that computes what is wanted: one for every set would be a lot of code.
    [[nodiscard]] block_result swept(const std::byte* at, std::size_t count, const std::byte* soon) const noexcept {
        const parts& sought = wanted_.sweep;
        if (product_is_open()) {
            return sweep<parts{.extrema = true, .smallest = true, .norms = true, .product = true}>(at, count, soon);
        }
        if (sought.norms) {
            return sought.smallest  ? sweep<parts{.extrema = true, .smallest = true, .norms = true}>(at, count, soon)
                   : sought.extrema ? sweep<parts{.extrema = true, .norms = true}>(at, count, soon)
                                    : sweep<parts{.norms = true}>(at, count, soon);
        }
        return sought.smallest  ? sweep<parts{.extrema = true, .smallest = true}>(at, count, soon)
               : sought.extrema ? sweep<parts{.extrema = true}>(at, count, soon)
                                : sweep<parts{}>(at, count, soon);
    }

    [[nodiscard]] block_totals look_at(const std::byte* raw, const std::byte* at, std::size_t count,
                                       const std::byte* soon) const noexcept {
        block_totals found{[&] { return swept(at, count, soon); }};
        block_result& block = found.block;
        found.regular = is_finite(block.sum.high + block.sum.low);
        if (!found.regular) {
            found.kinds = source_.kinds != nullptr ? source_.kinds(raw, count) : count_kinds<Sweeps, Lane>(at, count);
        } else if (block.abs_min == 0) {
            found.kinds.zeros = Sweeps::template count_zeros<Lane>(at, count);
        }
        if (source_.exact != nullptr) {
            const integer_sums sums = source_.exact(raw, count);
            block.sum = sums.sum;
            block.magnitudes = sums.magnitudes;
        }
        if (wanted_.spread && found.regular) {
            find_spread(raw, at, count, found);
        }
        return found;
    }

    // Adds the results of the block at `begin`, and again for each whole block after it with the same elements; returns
    // the begin of the next one.
    [[nodiscard]] std::size_t add(const block_totals& found, std::size_t begin) noexcept {
        const std::size_t length = length_at(begin);
        const bool multiplied = product_is_open();  // decides how a block is swept
        do {
            add(found);
            begin += length;
        } while (begin >= source_.count && all_.count - begin >= length && product_is_open() == multiplied);
        return begin;
    }

    void add(const block_totals& found) noexcept {
        add_kinds(found.kinds);
        if (wanted_.sweep.product) {
            add_product(found.block.product, found.kinds);
        }
        add_sums(found.block);
        if (wanted_.spread && found.regular) {
            merge<Sweeps>(all_.plain, found.plain);
            merge<Sweeps>(all_.absolute, found.absolute);
        }
    }

    void add_kinds(const element_counts& kinds) noexcept {
        all_.kinds.nan += kinds.nan;
        all_.kinds.pos_inf += kinds.pos_inf;
        all_.kinds.neg_inf += kinds.neg_inf;
        all_.kinds.zeros += kinds.zeros;
    }

    void add_product(scaled_product block, const element_counts& kinds) noexcept {
        if ((kinds.pos_inf | kinds.neg_inf) != 0) {
            block = {block.mantissa < 0 ? -infinity : infinity, 0};
        }
        if (kinds.zeros != 0) {
            block = {block.mantissa * 0.0, 0};
        }
        all_.product = limited<Sweeps>(times<Sweeps>(all_.product, block));
    }

    void add_sums(const block_result& block) noexcept {
        all_.sum = plus<Sweeps>(all_.sum, block.sum);
        if (wanted_.sweep.norms) {
            all_.magnitudes = plus<Sweeps>(all_.magnitudes, block.magnitudes);
            all_.squares = plus<Sweeps>(all_.squares, block.squares);
        }
        if (wanted_.sweep.extrema) {
            all_.min = block.min < all_.min ? block.min : all_.min;
            all_.max = block.max > all_.max ? block.max : all_.max;
            all_.abs_min = block.abs_min < all_.abs_min ? block.abs_min : all_.abs_min;
        }
    }

    void find_spread(const std::byte* raw, const std::byte* at, std::size_t count, block_totals& found) const noexcept {
        const block_result& block = found.block;
        const auto elements = static_cast<double>(count);
        const auto look = [&](wide_sum mean) noexcept { return look_again(raw, at, count, mean, false); };
        const spread& plain = found.plain = block_spread<Sweeps>(elements, block.sum, block.squares, look);
        // Rounding is symmetric: if all elements have one sign, both sums have the same digits, and so has everything
        // else.
        if (block.sum.high == block.magnitudes.high && block.sum.low == block.magnitudes.low) {
            found.absolute = plain;
        } else if (block.sum.high == -block.magnitudes.high && block.sum.low == -block.magnitudes.low) {
            found.absolute = {plain.count, {-plain.mean.high, -plain.mean.low}, plain.deviations};
        } else {
            const auto look_at_sizes = [&](wide_sum mean) noexcept { return look_again(raw, at, count, mean, true); };
            found.absolute = block_spread<Sweeps>(elements, block.magnitudes, block.squares, look_at_sizes);
        }
    }

    [[nodiscard]] second_look look_again(const std::byte* raw, const std::byte* at, std::size_t count, wide_sum mean,
                                         bool magnitudes) const noexcept {
        if (source_.differences == nullptr) {
            return {{mean.high, 0}, Sweeps::template centre<Lane>(at, count, mean.high, magnitudes)};
        }
        alignas(64) Lane lanes[block_size];
        const wide_sum centre = source_.differences(raw, count, mean, magnitudes, lanes);
        return {centre, Sweeps::template centre<Lane>(reinterpret_cast<const std::byte*>(lanes), count, 0, false)};
    }

    const element_source<Lane>& source_;
    [[no_unique_address]] Demand wanted_;
    totals all_;
    byte_view fed_;  // the bytes from fed_begin_ on
    std::size_t fed_begin_ = 0;
};

// From a tensor's totals to a kernel's results: the eighteen reductions and the counts.
// NaN, infinities, empty tensors and scaling are handled here, once a tensor.

/// The values of a kind of sum (x or |x|) for tensors with infinities or NaN.
template <class Tag>
[[nodiscard]] inline double irregular_sum(const element_counts& kinds, bool abs) noexcept {
    if (kinds.nan != 0 || (!abs && kinds.pos_inf != 0 && kinds.neg_inf != 0)) {
        return not_a_number;
    }
    return abs || kinds.pos_inf != 0 ? infinity : -infinity;
}

/// The product of all elements.  Finite elements never give NaN: a product that overflowed and then met a 0 is 0.
template <class Tag>
[[nodiscard]] inline double finished_product(const totals& all) noexcept {
    if (all.kinds.nan != 0) {
        return not_a_number;
    }
    if (all.kinds.zeros != 0 && all.all_finite()) {
        return 0;
    }
    const double product = value_of<Tag>(all.product);
    return product == product ? product + 0.0 : not_a_number;
}

/// Computes every value that the totals provide, of x and of |x|.  Borrows the totals, and `out`, which it fills.
template <class Tag>
class finisher {
public:
    finisher(const totals& all, required_statistics wanted, bool complex, reduction_values& out) noexcept
        : all_(all), wanted_(wanted), complex_(complex), out_(out) {
        out_ = {};
        out_.count = all.count;
        out_.nan = all.kinds.nan;
        out_.pos_inf = all.kinds.pos_inf;
        out_.neg_inf = all.kinds.neg_inf;
        out_.zeros = all.kinds.zeros;
    }

    void finish() noexcept {
        if (!complex_) {
            set_sums(false, all_.sum);
        }
        if (wanted_.sweep.norms) {
            set_sums(true, all_.magnitudes);
            set_norms();
        }
        if (wanted_.sweep.extrema) {
            set_extrema();
        }
        if (wanted_.spread) {
            set_spread(false, all_.plain);
            set_spread(true, all_.absolute);
        }
        if (wanted_.sweep.product) {
            const double product = finished_product<Tag>(all_);
            set({reduction::prod, false}, product);
            set({reduction::prod, true}, product == product ? magnitude<Tag>(product) : product);
        }
    }

private:
    /// Undoes the scaling; a power of two, so only a denormal result is rounded again.
    [[nodiscard]] double unscaled(double value) const noexcept {
        return all_.scale == 1 ? value : value * (1 / all_.scale);
    }

    void set(reduction_key key, double value) noexcept {
        const bool norm = key.what == reduction::l1 || key.what == reduction::l2;
        if (complex_ && !key.abs && !norm) {
            return;
        }
        out_.value[key.index()] = value;
        out_.computed = out_.computed | reduction_set{key};
    }

    void set_sums(bool abs, wide_sum sum) noexcept {
        const bool regular = all_.all_finite();
        const double irregular = regular ? 0 : irregular_sum<Tag>(all_.kinds, abs);
        const double total = regular ? unscaled(sum.high) : irregular;
        set({reduction::sum, abs}, total);
        if (abs) {
            set({reduction::l1, false}, total);
            set({reduction::l1, true}, total);
        }
        const auto count = static_cast<double>(all_.count);
        set({reduction::mean, abs}, all_.count == 0 ? not_a_number
                                    : regular       ? unscaled(divided<Tag>(sum, count).high)
                                                    : irregular);
    }

    void set_norms() noexcept {
        const double root = unscaled(std::sqrt(all_.squares.high));
        const double norm = all_.all_finite() ? root : irregular_sum<Tag>(all_.kinds, true);
        set({reduction::l2, false}, norm);
        set({reduction::l2, true}, norm);
    }

    void set_extrema() noexcept {
        const bool none = all_.count == 0 || all_.kinds.nan != 0;
        const double low = magnitude<Tag>(all_.min);
        const double high = magnitude<Tag>(all_.max);
        set({reduction::min, false}, none ? not_a_number : all_.min + 0.0);  // + 0.0 turns -0 into 0
        set({reduction::max, false}, none ? not_a_number : all_.max + 0.0);
        set({reduction::max, true}, none ? not_a_number : (low > high ? low : high));
        if (wanted_.sweep.smallest) {
            set({reduction::min, true}, none ? not_a_number : all_.abs_min);
            out_.computed = out_.computed | reduction_set::counts();
        }
    }

    void set_spread(bool abs, const spread& about) noexcept {
        const bool none = all_.count == 0 || !all_.all_finite();
        const double scaled_variance = divided<Tag>(about.deviations, static_cast<double>(all_.count)).high;
        const double variance = none ? not_a_number : unscaled(unscaled(scaled_variance));
        set({reduction::variance, abs}, variance);
        set({reduction::std, abs}, none ? not_a_number : std::sqrt(variance));
    }

    const totals& all_;
    required_statistics wanted_;
    bool complex_;
    reduction_values& out_;
};

/// Fills `out`.  Not inlined, since each dtype's walk ends with it.  Demand as in block_walk.
template <class Tag, class Demand>
[[gnu::noinline]] inline void finish(const totals& all, Demand wanted, bool complex, reduction_values& out) noexcept {
    finisher<Tag>(all, wanted, complex, out).finish();
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
