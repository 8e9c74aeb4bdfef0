// A part of <smdebug/src.hpp>: the built-in rules, and what drives rules, over any trial.
#pragma once

#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/trial/trial.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace smdebug::inline v1 {

template class detail::rule_drive<trial>;

namespace detail {

template <class Held>
std::shared_ptr<erased_rule<trial>> built_in(Held&& callable) {
    return std::make_shared<held_rule<Held, trial>>(std::forward<Held>(callable));
}

// Each of a list of rules, held by value and by reference: what is pointed at is compiled.
template <class List>
struct built_in_of;
template <class... Rules>
struct built_in_of<rule_list<Rules...>> {
    using made = std::shared_ptr<erased_rule<trial>>;
    static const std::tuple<made (*)(Rules&&)..., made (*)(Rules&)...> all;
};
template <class... Rules>
const std::tuple<std::shared_ptr<erased_rule<trial>> (*)(Rules&&)...,
                 std::shared_ptr<erased_rule<trial>> (*)(Rules&)...>
    built_in_of<rule_list<Rules...>>::all{&built_in<Rules>..., &built_in<Rules&>...};

template struct built_in_of<built_in_rules>;

}  // namespace detail
}  // namespace smdebug::inline v1
