// The bodies of <smdebug/registry/configure.hpp>.
#pragma once

#include <smdebug/core/near_names.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/registry/configure.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void check_regexes(const text_list& list) {  // of a std::vector<std::string>, too
    for (const std::string& text : list.texts()) {
        try {
            static_cast<void>(regex{text});
        } catch (const value_error& bad) {
            throw value_error("holds a bad regular expression: " + std::string{bad.message()});
        }
    }
}

SMDEBUG_INLINE value_error wrong_parameter(const rule_info& rule, std::string_view name, const value_error& why) {
    std::string text = "rule " + rule.name + ": parameter " + std::string{name};
    for (const parameter_info& each : rule.parameters) {
        if (each.name == name) {
            text += " (" + each.type + ", default " + each.standard + ") ";
        }
    }
    return value_error(text + std::string{why.message()});
}

SMDEBUG_INLINE value_error unknown_parameter(const rule_info& rule, std::string_view name) {
    std::vector<std::string> names;
    std::string all;
    for (const parameter_info& each : rule.parameters) {
        names.push_back(each.name);
        all.append(all.empty() ? "" : ", ").append(each.name);
    }
    return value_error("rule " + rule.name + " has no parameter \"" + std::string{name} + "\"." +
                       did_you_mean(name, names, 3) + " It has: " + (all.empty() ? "none" : all));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
