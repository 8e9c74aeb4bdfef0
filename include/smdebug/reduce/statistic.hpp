// The statistics of a tensor by name: reductions, and counts of values of one kind.
#pragma once

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// One column of results: a reduction, or a count of values of one kind.
struct statistic {
    std::optional<reduction_key> key = {};             ///< unset for a count
    std::uint64_t reduction_values::*count = nullptr;  ///< for a count
    std::string name = {};
};

/// The statistic of that name: "mean", "abs_l2", "nan", ...
[[nodiscard]] inline std::optional<statistic> statistic_named(std::string_view name) {
    if (const auto key = reduction_key_named(name)) {
        return statistic{.key = key, .name = key->name()};
    }
    using counts = std::pair<std::string_view, std::uint64_t reduction_values::*>;
    for (const auto& [label, member] :
         {counts{"nan", &reduction_values::nan}, counts{"pos_inf", &reduction_values::pos_inf},
          counts{"neg_inf", &reduction_values::neg_inf}, counts{"zeros", &reduction_values::zeros}}) {
        if (name == label) {
            return statistic{.count = member, .name = std::string{label}};
        }
    }
    return std::nullopt;
}

/// The nine reductions, their abs forms, the counts.
[[nodiscard]] inline std::vector<statistic> all_statistics() {
    std::vector<statistic> all;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        all.push_back(*statistic_named(reduction_key::from_index(i).name()));
    }
    for (const std::string_view name : {"nan", "pos_inf", "neg_inf", "zeros"}) {
        all.push_back(*statistic_named(name));
    }
    return all;
}

/// Their names, in that order.
[[nodiscard]] inline std::vector<std::string> statistic_names() {
    std::vector<std::string> names;
    for (statistic& each : all_statistics()) {
        names.push_back(std::move(each.name));
    }
    return names;
}

/// The reductions that these statistics need.
[[nodiscard]] inline reduction_set wanted_by(const std::vector<statistic>& statistics) {
    reduction_set wanted;
    for (const statistic& each : statistics) {
        wanted = wanted | (each.key ? reduction_set{*each.key} : reduction_set::counts());
    }
    return wanted;
}

}  // namespace smdebug::inline v1::detail
