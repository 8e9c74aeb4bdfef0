// What healthy runs have in common about one tensor in one mode.  Each fact is a join: absorbed in any order, the
// result is the same.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/learn/facts/series.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail::learn {

/// How far apart saves were: counted in steps of the mode that were saved, and in mode steps.
struct save_gap {
    std::int64_t saves = 0;
    step_number steps = 0;
};

/// The extents that all saves have; nothing for one that varies.  Without a list: no shape was seen.
struct shape_fact {
    std::optional<std::vector<std::optional<std::size_t>>> extents = {};
};

/// A fact that is not there was dropped: by the first save that is contrary, or by hand.  The others are counts of what
/// they were seen in.
struct entry_facts {
    static constexpr std::size_t most_dtypes = 8;

    std::uint64_t runs = 0;                                                       ///< with a save
    save_gap every = {};                                                          ///< the largest
    std::optional<std::vector<std::string>> dtypes = std::vector<std::string>{};  ///< of values, sorted
    std::optional<shape_fact> shape = shape_fact{};
    std::optional<std::uint64_t> finite = 0;       ///< saves without NaN and infinities
    std::optional<std::uint64_t> nonnegative = 0;  ///< runs whose least value is known, and not below 0
    std::optional<std::uint64_t> nonpositive = 0;  ///< runs whose greatest value is known, and not above 0
    std::optional<std::uint64_t> constant = 0;  ///< pairs of a worker's saves, one after the other, that are the same
    std::optional<std::uint64_t> changing = 0;  ///< such pairs that differ
    std::optional<std::uint64_t> replicas = 0;  ///< steps at which several workers saved the same values
    std::map<number, number_series> numbers = {};

    /// Adds a dtype that was seen.
    void see_dtype(std::string_view name);
    /// Adds a shape that was seen.
    void see_shape(const std::vector<std::size_t>& extents);

    /// Joins the facts of other runs, whose series are taken out of `other` one by one.
    void join(entry_facts&& other);
};

/// Tensors that are equal in every run.
struct tied_class {
    std::vector<std::string> tensors = {};  ///< sorted, at least two
    std::uint64_t saves = 0;                ///< with values, of one of them
};

/// The intersections of at least two tensors, sorted.  Cost: a look-up of each tensor.
[[nodiscard]] std::vector<tied_class> joined(const std::vector<tied_class>& a, const std::vector<tied_class>& b);

}  // namespace smdebug::inline v1::detail::learn

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/facts/impl/entry.ipp>
#endif
