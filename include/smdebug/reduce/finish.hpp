// From a tensor's totals to the values that a kernel answers: the eighteen reductions and the counts.
// Here NaN, infinities, empty tensors and scaling are dealt with, once a tensor.
#pragma once

#include <smdebug/reduce/accumulate.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include <cmath>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The values of a kind of sum (x or |x|) that tensors with infinities or NaN have.
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

/// Every value that the totals hold, of x and of |x|.  Borrows the totals, and `out`, which it fills.
template <class Tag>
class finisher {
public:
    finisher(const totals& all, demand wanted, bool complex, reduction_values& out) noexcept
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
    /// Undoes the scaling; a power of two, so only a result that is denormal is rounded again.
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
    demand wanted_;
    bool complex_;
    reduction_values& out_;
};

/// Fills `out`.  Not inlined, as each dtype's walk ends with it.  Demand as in block_walk.
template <class Tag, class Demand>
[[gnu::noinline]] inline void finish(const totals& all, Demand wanted, bool complex, reduction_values& out) noexcept {
    finisher<Tag>(all, wanted, complex, out).finish();
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
