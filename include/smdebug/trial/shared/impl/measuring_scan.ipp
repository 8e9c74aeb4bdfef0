// The bodies of <smdebug/trial/shared/measuring_scan.hpp>.
#pragma once

#include <smdebug/trial/scan/scan_file.hpp>
#include <smdebug/trial/shared/measuring_scan.hpp>

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
