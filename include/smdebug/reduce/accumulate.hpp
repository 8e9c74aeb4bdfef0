// From blocks to a tensor: walks a tensor's blocks, sweeps each while it is in L1, and adds the results up.
// The same walk for every kernel; what differs between kernels is the sweeps.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/integer_sums.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/scaled_product.hpp>
#include <smdebug/reduce/spread.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Elements in memory and how they become lanes.  Borrows the bytes.
template <class Lane>
struct element_source {
    const std::byte* bytes = nullptr;
    std::size_t count = 0;
    const smdebug::detail::byte_feed* feed = nullptr;  ///< gives the bytes, where they are not in memory together
    std::size_t repeats = 0;  ///< elements that follow; where there are some, `bytes` are as repeated_block has it
    std::size_t element_size = sizeof(Lane);
    double scale = 1;  ///< lanes are elements times this, a power of two
    /// Fills lanes; null where the elements are lanes as they lie.
    void (*widen)(const std::byte* from, std::size_t count, double scale, Lane* to) = nullptr;
    /// Exact sums; null where the lanes' sums are the elements' sums.
    integer_sums (*exact)(const std::byte* from, std::size_t count) = nullptr;
    /// Fills lanes with exact differences from a centre near `mean`, of x or |x|, and gives the centre; null where
    /// lanes minus mean will do.
    wide_sum (*differences)(const std::byte* from, std::size_t count, wide_sum mean, bool magnitudes,
                            Lane* to) = nullptr;
    /// Kinds of the elements; null where the lanes tell.
    element_counts (*kinds)(const std::byte* from, std::size_t count) = nullptr;
};

/// What is wanted of a tensor, in the terms of the walk.  The plain sum is always there.
struct demand {
    parts sweep = {};     ///< of each block; with `smallest` zeros are counted
    bool spread = false;  ///< squares about the mean, of x and of |x|; needs norms
};

/// A demand that is known when the walk is compiled: its code has no more than that.
template <demand Wanted>
struct fixed_demand {
    static constexpr parts sweep = Wanted.sweep;
    static constexpr bool spread = Wanted.spread;
    constexpr operator demand() const noexcept { return Wanted; }  // NOLINT: implicit
};

/// What a walk over a tensor answers.
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
    bool cut = false;  ///< the bytes ended too early: nothing here is to be believed

    [[nodiscard]] bool all_finite() const noexcept { return (kinds.nan | kinds.pos_inf | kinds.neg_inf) == 0; }
};

/// One tensor's walk.  Sweeps is the kernel's part:
///  - sweep<Lane, parts>(at, count, soon) -> block_result; where `soon` is not null, the bytes from there on will be
///    wanted next: it may have them fetched, never touch them;
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

    /// Loads each element from memory once; looks at a block of elements that repeat once or twice.  `watch`, where it
    /// is not null, is shown the bytes a piece of some blocks at a time, before they are swept.
    /// The totals are this object's own: a copy would wait for what was stored just before it.
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
    // What a block adds.
    struct block_totals {
        // In place, and member by member: all of it would be cleared first, by an instruction that takes long to begin.
        template <class Sweep>
        explicit block_totals(const Sweep& sweep) noexcept : block(sweep()) {}

        block_result block;
        element_counts kinds;
        spread plain;
        spread absolute;
        bool regular = true;
    };

    // Where its elements lie; those that are nowhere are those of the last block.  Null where they cannot be had.
    [[nodiscard]] const std::byte* block_at(std::size_t begin) noexcept {
        if (source_.feed != nullptr) {
            return fed_block(begin * source_.element_size, length_at(begin) * source_.element_size);
        }
        return source_.bytes + (begin < source_.count ? begin : source_.count - block_size) * source_.element_size;
    }

    // Blocks are cut out of what the feed gives; what is left of it when a block is not in it whole is given again.
    [[nodiscard]] const std::byte* fed_block(std::size_t begin, std::size_t size) noexcept {
        if (begin - fed_begin_ > fed_.size() || size > fed_.size() - (begin - fed_begin_)) {
            fed_ = (*source_.feed)(begin, size);
            fed_begin_ = begin;
            all_.cut = fed_.size() < size;
        }
        return all_.cut ? nullptr : fed_.data() + (begin - fed_begin_);
    }

    // A piece is 16 KiB: it stays in L1 until it is swept, and is worth a call.
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

    // The narrowest of a few sweeps that has what is wanted: one for every set would be a lot of code.
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
        found.regular = is_finite<Sweeps>(block.sum.high + block.sum.low);
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

    // Adds what was found in the block at `begin`, and again for each whole block behind it in which there is the same
    // to be found; where the next one begins.
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
        // Rounding is symmetric: where all elements have one sign, both sums have the same digits, and so has the rest.
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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
