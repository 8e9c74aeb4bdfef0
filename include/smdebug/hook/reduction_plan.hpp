// What is written of a tensor: which reductions in which order, its values, its shape; and a reduction's tensor name.
// A config is names; this is what can be computed and written from, step after step, without looking at a name again.
// Used by: hook/collection_set.hpp, hook/basic_hook.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/name.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What is written of a tensor.
struct reduction_plan {
    std::vector<reduction_key> order = {};  ///< the reductions as they are written, each once
    reduction_set wanted = {};              ///< the same as a set
    bool raw = false;                       ///< the values
    bool shape = false;                     ///< the shape

    /// Whether nothing is written.
    [[nodiscard]] bool empty() const noexcept { return order.empty() && !raw && !shape; }

    /// Adds a reduction unless it is there.
    void add(reduction_key key) {
        if (!wanted.contains(key)) {
            wanted = wanted | reduction_set{key};
            order.push_back(key);
        }
    }
    /// Adds what `other` writes and this does not, behind what is there.
    void add(const reduction_plan& other) {
        for (const reduction_key key : other.order) {
            add(key);
        }
        raw = raw || other.raw;
        shape = shape || other.shape;
    }
    /// Writes nothing, keeps the memory.
    void clear() noexcept {
        order.clear();
        wanted = {};
        raw = false;
        shape = false;
    }
};

/// The values and nothing else: what is written where nobody says otherwise.
[[nodiscard]] inline reduction_plan raw_plan() { return {.raw = true}; }

namespace detail {

inline constexpr std::array<std::string_view, 7> plain_reduction_names{"min",      "max", "mean", "std",
                                                                       "variance", "sum", "prod"};
inline constexpr std::array<std::string_view, 2> norm_names{"l1", "l2"};

/// The reduction of that name among the known ones, else a value_error that lists them.
[[nodiscard]] inline reduction known_reduction(std::string_view name, std::span<const std::string_view> known,
                                               const std::string& where) {
    std::string list;
    for (const std::string_view candidate : known) {
        if (name == candidate) {
            return *reduction_named(name);
        }
        list.append(list.empty() ? "" : ", ").append(candidate);
    }
    throw value_error(where + " names \"" + std::string{name} + "\", which is none of: " + list);
}

/// A name as files have it: "min", "abs_max", "l1_norm"; "l1" for short.
[[nodiscard]] inline reduction_key known_file_reduction(std::string_view name, const std::string& where) {
    std::string_view plain = name;
    constexpr std::string_view suffix = "_norm";
    if (plain.ends_with(suffix)) {
        plain.remove_suffix(suffix.size());
    }
    const auto key = reduction_key_named(plain);
    const bool is_norm = key && (key->what == reduction::l1 || key->what == reduction::l2);
    if (!key || (plain.size() != name.size() && !is_norm)) {
        throw value_error(where + " names \"" + std::string{name} +
                          "\", which is none of: min, max, mean, std, variance, sum, prod, l1_norm, l2_norm, nor one "
                          "of these behind abs_");
    }
    return *key;
}

}  // namespace detail

/// The plan of a config.  The order is the one in which the Python package writes, however the config names them: plain
/// reductions, norms, reductions of magnitudes, norms of magnitudes.
/// Errors: value_error for a name that is no reduction; it begins with `where`.
[[nodiscard]] inline reduction_plan make_reduction_plan(const reduction_config& config,
                                                        const std::string& where = "reduction_config") {
    std::array<std::vector<reduction_key>, 4> groups;
    const auto put = [&](reduction_key key) {
        const bool is_norm = key.what == reduction::l1 || key.what == reduction::l2;
        groups[(key.abs ? 2U : 0U) + (is_norm ? 1U : 0U)].push_back(key);
    };
    for (const std::string& name : config.reductions) {
        put(detail::known_file_reduction(name, where + ".reductions"));
    }
    for (const std::string& name : config.norms) {
        put({detail::known_reduction(name, detail::norm_names, where + ".norms"), false});
    }
    for (const std::string& name : config.abs_reductions) {
        put({detail::known_reduction(name, detail::plain_reduction_names, where + ".abs_reductions"), true});
    }
    for (const std::string& name : config.abs_norms) {
        put({detail::known_reduction(name, detail::norm_names, where + ".abs_norms"), true});
    }
    reduction_plan plan{.raw = config.save_raw_tensor, .shape = config.save_shape};
    for (const auto& group : groups) {
        for (const reduction_key key : group) {
            plan.add(key);
        }
    }
    return plan;
}

}  // namespace v1
}  // namespace smdebug
