// The bodies of <smdebug/rules/required_tensors.hpp> that are templates.
#pragma once

#include <smdebug/rules/required_tensors.hpp>

namespace smdebug {
inline namespace v1 {

template <class Trial>
void required_tensors<Trial>::add(std::string_view name, std::vector<step_number> steps) {
    if (!base_.has_tensor(name)) {
        static_cast<void>(base_.tensor(name));  // throws, and says which names are near
    }
    merge(name, std::move(steps));
}

template <class Trial>
void required_tensors<Trial>::add_matching(const text_list& regex, step_number step) {
    for (const std::string& name : base_.tensor_names({.regex = regex, .step = step})) {
        merge(name, {step});
    }
}

template <class Trial>
std::vector<std::string> required_tensors<Trial>::names() const {
    std::vector<std::string> all;
    for (const auto& each : wanted_) {
        all.push_back(each.first);
    }
    std::sort(all.begin(), all.end());
    return all;
}

template <class Trial>
void required_tensors<Trial>::fetch(const wait_options& how) const {
    for (const auto& [name, steps] : wanted_) {
        fetch_one(base_, name, steps, how);
    }
    for (const auto& fetch_other : others_) {
        fetch_other(how);
    }
}

template <class Trial>
void required_tensors<Trial>::merge(std::string_view name, std::vector<step_number> steps) {
    const auto entry =
        std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& each) { return each.first == name; });
    if (entry == wanted_.end()) {
        wanted_.emplace_back(name, std::move(steps));
    } else {
        entry->second.insert(entry->second.end(), steps.begin(), steps.end());
    }
}

}  // namespace v1
}  // namespace smdebug
