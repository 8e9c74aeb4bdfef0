// What is written of a tensor: which reductions in which order, its values, its shape; and a reduction's tensor name.
// A config holds names; a plan has them resolved once, for all steps.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/name.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is written of a tensor.
struct reduction_plan {
    std::vector<reduction_key> order = {};  ///< the reductions as they are written, each once
    reduction_set wanted = {};              ///< the same as a set
    bool raw = false;                       ///< the values
    bool shape = false;                     ///< the shape

    /// Whether nothing is written.
    [[nodiscard]] bool empty() const noexcept { return order.empty() && !raw && !shape; }

    /// Adds a reduction unless it is there.
    void add(reduction_key key);
    /// Adds what `other` writes and this does not, behind what is there.
    void add(const reduction_plan& other);
    /// Writes nothing, keeps the memory.
    void clear() noexcept;
};

/// The values and nothing else: the default.
[[nodiscard]] inline reduction_plan raw_plan() { return {.raw = true}; }

inline constexpr std::array<std::string_view, 7> plain_reduction_names{"min",      "max", "mean", "std",
                                                                       "variance", "sum", "prod"};
inline constexpr std::array<std::string_view, 2> norm_names{"l1", "l2"};

/// The reduction of that name among the candidates, else a value_error that lists them.
[[nodiscard]] reduction known_reduction(std::string_view name, std::span<const std::string_view> candidates,
                                        const std::string& where);

/// A name as files have it: "min", "abs_max", "l1_norm"; "l1" for short.
[[nodiscard]] reduction_key known_file_reduction(std::string_view name, const std::string& where);

/// The plan of a config.  The order is the one in which the Python package writes, however the config names them: plain
/// reductions, norms, reductions of magnitudes, norms of magnitudes.
/// Errors: value_error for a name that is no reduction; it begins with `where`.
[[nodiscard]] reduction_plan make_reduction_plan(const reduction_config& config,
                                                 const std::string& where = "reduction_config");

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/reduction_plan.ipp>
#endif
