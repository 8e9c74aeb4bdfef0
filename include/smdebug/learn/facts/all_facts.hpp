// Everything that was learned of some runs, as plain data: what a file holds.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/facts/entry.hpp>
#include <smdebug/learn/facts/numbers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail::learn {

/// In the order of their names, which is that of files.
inline constexpr std::array<mode, 4> modes_by_name{mode::eval, mode::global, mode::predict, mode::train};

struct mode_facts {
    std::uint64_t runs = 0;  ///< with a step of the mode
    step_number last = 0;    ///< the greatest mode step
};

/// A tensor's facts in each mode in which it was saved.
struct tensor_facts {
    std::map<mode, entry_facts> by_mode = {};

    /// Null: in that mode it was not saved.
    [[nodiscard]] const entry_facts* find(mode in) const noexcept {
        const auto found = by_mode.find(in);
        return found != by_mode.end() ? &found->second : nullptr;
    }
};

struct all_facts {
    std::vector<std::string> runs = {};  ///< sorted
    number_set reductions = {};
    std::vector<std::string> suspects = {};  ///< sorted
    std::map<mode, mode_facts> modes = {};
    std::map<std::string, tensor_facts, std::less<>> tensors = {};
    std::vector<tied_class> tied = {};

    [[nodiscard]] const entry_facts* find(std::string_view tensor, mode in) const noexcept;

    /// Joins the facts of other runs; margins and suspects are stale until settle().
    /// Errors: value_error, before anything is changed: a run is in both, or they keep other numbers.
    void join(all_facts&& other);
    /// Joins facts that need not be there at once: all but the tensors, which follow one by one by join_tensor().
    /// Returns the places of their runs among all.  Errors: those of join().
    [[nodiscard]] std::vector<run_place> begin_join(const all_facts& other);
    void join_tensor(const std::string& name, tensor_facts&& facts, const std::vector<run_place>& places);
    /// Finds the margins and the suspects from the windows.
    void settle();
};

}  // namespace smdebug::inline v1::detail::learn

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/facts/impl/all_facts.ipp>
#endif
