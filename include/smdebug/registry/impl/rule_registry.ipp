// The bodies of <smdebug/registry/rule_registry.hpp>.
#pragma once

#include <smdebug/core/near_names.hpp>
#include <smdebug/registry/rule_registry.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE rule_table rule_table::built_in() {
    rule_table made;
    for_each_built_in_rule<trial>([&]<class R>() { made.add<R, trial>(); });
    return made;
}

SMDEBUG_INLINE std::vector<rule_info> rule_table::infos() const {
    std::vector<rule_info> all;
    for (const entry& each : entries_) {
        all.push_back(each.info);
    }
    return all;
}

SMDEBUG_INLINE void rule_table::check(std::string_view name, const rule_parameters& parameters, bool compares) const {
    const entry& rule = find(name);
    rule.check(parameters, compares && rule.compares_runs);
    if (compares && !rule.compares_runs) {
        throw value_error("rule " + rule.info.name + " does not compare runs: it has no use for others");
    }
}

SMDEBUG_INLINE void rule_table::put(entry made) {
    const std::string plain = plain_rule_name(made.info.name);
    std::erase_if(entries_, [&](const entry& each) { return plain_rule_name(each.info.name) == plain; });
    entries_.push_back(std::move(made));
}

SMDEBUG_INLINE const rule_table::entry& rule_table::find(std::string_view name) const {
    for (const entry& each : entries_) {
        if (each.info.name == name) {
            return each;
        }
    }
    const std::string plain = plain_rule_name(name);
    std::vector<std::string> names;  // without capitals and underscores, as near ones are looked for
    std::string all;
    for (const entry& each : entries_) {
        names.push_back(plain_rule_name(each.info.name));
        if (names.back() == plain || plain_rule_name(each.info.service_name) == plain) {
            return each;
        }
        all.append(all.empty() ? "" : ", ").append(each.info.name);
    }
    std::string hint;
    if (const auto near = near_matches(plain, names, 1); !near.empty()) {
        const auto place = std::find(names.begin(), names.end(), near.front()) - names.begin();
        hint = " Did you mean " + entries_[static_cast<std::size_t>(place)].info.name + "?";
    }
    throw value_error("there is no rule \"" + std::string{name} + "\"." + hint + " There are: " + all);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
