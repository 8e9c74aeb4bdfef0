// The bodies of <smdebug/hook/reduction_plan.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/reduction_plan.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void reduction_plan::add(reduction_key key) {
    if (!wanted.contains(key)) {
        wanted = wanted | reduction_set{key};
        order.push_back(key);
    }
}

SMDEBUG_INLINE void reduction_plan::add(const reduction_plan& other) {
    for (const reduction_key key : other.order) {
        add(key);
    }
    raw = raw || other.raw;
    shape = shape || other.shape;
}

SMDEBUG_INLINE void reduction_plan::clear() noexcept {
    order.clear();
    wanted = {};
    raw = false;
    shape = false;
}

SMDEBUG_INLINE reduction known_reduction(std::string_view name, std::span<const std::string_view> candidates,
                                         const std::string& where) {
    std::string list;
    for (const std::string_view candidate : candidates) {
        if (name == candidate) {
            return *reduction_named(name);
        }
        list.append(list.empty() ? "" : ", ").append(candidate);
    }
    throw value_error(where + " names \"" + std::string{name} + "\", which is none of: " + list);
}

SMDEBUG_INLINE reduction_key known_file_reduction(std::string_view name, const std::string& where) {
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

SMDEBUG_INLINE reduction_plan make_reduction_plan(const reduction_config& config, const std::string& where) {
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
