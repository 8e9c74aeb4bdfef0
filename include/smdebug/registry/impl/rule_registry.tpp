// The bodies of <smdebug/registry/rule_registry.hpp> that are templates.
#pragma once

#include <smdebug/core/near_names.hpp>
#include <smdebug/registry/rule_registry.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {

template <readable_trial Trial>
rule_registry<Trial> rule_registry<Trial>::built_in() {
    rule_registry made;
    for_each_built_in_rule<Trial>([&]<class R>() { made.template add<R>(); });
    return made;
}

template <readable_trial Trial>
std::vector<rule_info> rule_registry<Trial>::infos() const {
    std::vector<rule_info> all;
    for (const entry& each : entries_) {
        all.push_back(each.info);
    }
    return all;
}

template <readable_trial Trial>
void rule_registry<Trial>::check(std::string_view name, const rule_parameters& parameters, bool compares) const {
    const entry& rule = find(name);
    rule.check(parameters, compares && rule.compares_runs);
    if (compares && !rule.compares_runs) {
        throw value_error("rule " + rule.info.name + " does not compare runs: it has no use for others");
    }
}

template <readable_trial Trial>
void rule_registry<Trial>::put(entry made) {
    const std::string plain = plain_rule_name(made.info.name);
    std::erase_if(entries_, [&](const entry& each) { return plain_rule_name(each.info.name) == plain; });
    entries_.push_back(std::move(made));
}

template <readable_trial Trial>
const typename rule_registry<Trial>::entry& rule_registry<Trial>::find(std::string_view name) const {
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

}  // namespace v1
}  // namespace smdebug
