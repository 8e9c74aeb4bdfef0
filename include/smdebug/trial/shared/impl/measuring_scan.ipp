// The bodies of <smdebug/trial/shared/measuring_scan.hpp>.
#pragma once

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/trial/reduced_tensor.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/scan/scan_file.hpp>
#include <smdebug/trial/shared/measuring_scan.hpp>
#include <string>
#include <vector>

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE last_saves::save& last_saves::of(std::string_view name, std::string_view worker, mode in) {
    auto tensor = saves_.find(name);
    if (tensor == saves_.end()) {
        tensor = saves_.emplace(std::string{name}, std::vector<std::unique_ptr<save>>{}).first;
    }
    for (const auto& each : tensor->second) {
        if (each->mode == in && each->worker == worker) {
            return *each;
        }
    }
    tensor->second.push_back(std::make_unique<save>());
    save& added = *tensor->second.back();
    added.worker.assign(worker);
    added.mode = in;
    return added;
}

SMDEBUG_INLINE void last_saves::replace(save& kept, step_number step, const tensor_view& values) {
    bytes_ -= kept.bytes.size();
    if (values.bytes.size() > most_bytes_ - std::min(bytes_, most_bytes_)) {
        kept.step = -1;
        kept.bytes = {};
        return;
    }
    kept.step = step;
    kept.type = values.type;
    kept.shape.assign(values.shape.begin(), values.shape.end());
    kept.bytes.assign(values.bytes.begin(), values.bytes.end());
    bytes_ += kept.bytes.size();
}

SMDEBUG_INLINE void answer_all(const tensor_questions& questions, const scanned_tensor& tensor, last_saves* previous,
                               std::vector<remembered_answer>& answers) {
    if (tensor.values == nullptr || tensor.repeats > 0 || questions.measures.empty()) {
        return;
    }
    const tensor_view now = tensor.values->view();
    last_saves::save* last = nullptr;
    for (const auto& [number, measure] : questions.measures) {
        try {
            if (!measure->compares()) {
                answers.push_back({number, remembered_answer::compares_nothing, (*measure)(nullptr, now)});
            } else if (previous != nullptr && now.strings.empty()) {
                last = &previous->of(tensor.name, tensor.worker, tensor.mode);
                if (last->step >= 0 && last->step < tensor.step) {
                    const tensor_view before = last->view();
                    answers.push_back({number, last->step, (*measure)(&before, now)});
                }
            }
        } catch (const std::exception&) {
            continue;
        }
    }
    if (last != nullptr) {
        previous->replace(*last, tensor.step, now);
    }
}

struct begun_scan::task {
    std::future<std::vector<measured_tensor>> found;  // its destructor waits
};

SMDEBUG_INLINE begun_scan::begun_scan(bool now, std::function<std::vector<measured_tensor>()> scan)
    : task_(
          std::make_shared<task>(task{std::async(now ? std::launch::async : std::launch::deferred, std::move(scan))})) {
}

SMDEBUG_INLINE std::vector<measured_tensor> begun_scan::get() const { return task_->found.get(); }

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::vector<measured_tensor> measuring_scan(const std::shared_ptr<const trial_state>& state,
                                                           const step_range& range,
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
    const scan_options options{.which = {.names = std::move(names), .range = range},
                               .defer_checks = true,
                               .keep_repeats = state->kernel().abilities().repeats,
                               .in_place = true,
                               .stream = true,
                               .values_of = std::move(measured),
                               .faster = faster};
    std::vector<measured_tensor> all;
    all.reserve(questions.size());
    const auto visit = [&](const scanned_tensor& tensor) {
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
    };
    static_cast<void>(scan_of{state, options}.in_turn(options.how, visit, [] {}));
    return all;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
