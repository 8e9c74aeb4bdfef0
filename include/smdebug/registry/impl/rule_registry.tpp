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
    for (const entry& held : entries_) {
        all.push_back(held.info);
    }
    return all;
}

template <readable_trial Trial>
void rule_registry<Trial>::check(std::string_view name, const rule_parameters& given, bool compares) const {
    const entry& known = find(name);
    known.check(given, !(compares && known.compares_runs));
    if (compares && !known.compares_runs) {
        throw value_error("rule " + known.info.name + " does not compare runs: it has no use for others");
    }
}

template <readable_trial Trial>
void rule_registry<Trial>::put(entry made) {
    const std::string plain = plain_rule_name(made.info.name);
    std::erase_if(entries_, [&](const entry& held) { return plain_rule_name(held.info.name) == plain; });
    entries_.push_back(std::move(made));
}

template <readable_trial Trial>
const typename rule_registry<Trial>::entry& rule_registry<Trial>::find(std::string_view name) const {
    const std::string plain = plain_rule_name(name);
    std::vector<std::string> names;  // without capitals and underscores, as near ones are looked for
    std::string all;
    for (const entry& held : entries_) {
        names.push_back(plain_rule_name(held.info.name));
        if (names.back() == plain || plain_rule_name(held.info.service_name) == plain) {
            return held;
        }
        all.append(all.empty() ? "" : ", ").append(held.info.name);
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
