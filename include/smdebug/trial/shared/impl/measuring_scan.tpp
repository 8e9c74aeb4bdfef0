// The bodies of <smdebug/trial/shared/measuring_scan.hpp> that are templates.
#pragma once

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/trial/reduced_tensor.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/shared/measuring_scan.hpp>

#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial>
std::vector<measured_tensor> measuring_scan(const Trial& run, const step_range& range,
                                            const questions_by_tensor& questions, last_saves* previous,
                                            faster_way* faster) {
    std::vector<std::string> names;
    std::vector<std::string> measured;
    names.reserve(questions.size());
    for (const auto& [name, asked] : questions) {
        names.push_back(name);
        if (!asked.measures.empty()) {
            measured.push_back(name);
        }
    }
    const auto state = run.state();
    const scan_options options{.which = {.names = std::move(names), .range = range},
                               .defer_checks = true,
                               .keep_repeats = repeating_reducer<typename Trial::state_type::kernel_type>,
                               .in_place = true,
                               .stream = true,
                               .values_of = std::move(measured),
                               .faster = faster};
    std::vector<measured_tensor> all;
    all.reserve(questions.size());
    scan(run, options, [&](const scanned_tensor& tensor) {
        const auto asked = questions.find(tensor.name);
        if (asked == questions.end()) {
            return;
        }
        const bool reduce = asked->second.reductions;
        const reduced_tensor found = reduced(tensor, reduce ? reduction_set::all() : reduction_set{}, state->kernel());
        if (found.file_failed) {
            const bool is_same = !all.empty() && all.back().file_failed && all.back().what.step == tensor.step &&
                                 all.back().what.worker == tensor.worker;
            if (!is_same) {
                all.push_back({{}, {tensor.step, std::string{tensor.worker}, {}}, true});
            }
            return;
        }
        if (found.failure != nullptr) {
            return;
        }
        measured_tensor& one = all.emplace_back(measured_tensor{
            std::string{tensor.name}, {tensor.step, std::string{tensor.worker}, found.reductions, reduce}, false});
        // After the reductions, which verify the bytes.
        answer_all(asked->second, tensor, previous, one.what.answers);
    });
    return all;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
