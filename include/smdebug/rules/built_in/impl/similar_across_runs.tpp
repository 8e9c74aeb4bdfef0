// The bodies of <smdebug/rules/built_in/similar_across_runs.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/similar_across_runs.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

template <readable_trial Other>
void similar_across_runs<Other>::check() const {
    detail::check_tolerance(name(), {rtol, atol, equal_nan});
    if (others.empty() || std::count(others.begin(), others.end(), nullptr) > 0) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "other_trials is needed: the run or runs to compare with");
    }
}

template <readable_trial Other>
std::vector<std::reference_wrapper<const Other>> similar_across_runs<Other>::other_runs() const {
    std::vector<std::reference_wrapper<const Other>> runs;
    for (const auto& other : others) {
        if (other != nullptr) {
            runs.emplace_back(*other);
        }
    }
    return runs;
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
