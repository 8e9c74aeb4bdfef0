// A training with known tensors at each step, and the checks of what a run's folder must contain.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <sys/mman.h>

#include <support/sanitized.hpp>
#include "support/standard.hpp"

namespace smdebug_test {

struct planned_tensor {
    std::string_view name;
    std::size_t count = 0;
};

/// Small tensors that are copied, and large ones that are written without a copy, so that a kill leaves half a file.
inline constexpr std::array planned_tensors{planned_tensor{"loss", 1}, planned_tensor{"layer/bias", 12},
                                            planned_tensor{"layer/weight", 3'000}, planned_tensor{"embedding", 20'000},
                                            planned_tensor{"layer/activation", 6'000}};

/// A tensor's first element identifies its writer; the others follow from it, the step and the tensor.
[[nodiscard]] inline float planned_value(int writer, smdebug::step_number step, std::size_t tensor, std::size_t place) {
    const auto of_all = static_cast<float>(writer * 7 + step * 131 + static_cast<std::int64_t>(tensor * 17));
    return place == 0 ? static_cast<float>(writer) : of_all + static_cast<float>(place & 1023U);
}

[[nodiscard]] inline smdebug::mode planned_mode(smdebug::step_number step) {
    return step % 4 == 3 ? smdebug::mode::eval : smdebug::mode::train;
}

[[nodiscard]] inline smdebug::hook_options saves_every_step(const std::string& folder) {
    return {.out_dir = folder, .save_config = {.save_interval = 1}, .save_all = true};
}

/// Saves the tensors of the current step.
template <class Hook>
void save_planned(Hook& hook, int writer, std::vector<float>& memory) {
    const smdebug::step_number step = hook.step();
    hook.set_mode(planned_mode(step));
    for (std::size_t tensor = 0; tensor < planned_tensors.size(); ++tensor) {
        memory.resize(planned_tensors[tensor].count);
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i] = planned_value(writer, step, tensor, i);
        }
        hook.save_tensor(planned_tensors[tensor].name, memory);
    }
}

/// The writer of a step, if the step is whole: all its tensors exist, each with that writer's values; else nothing.
template <class Trial>
[[nodiscard]] std::optional<int> writer_of(const Trial& run, smdebug::step_number step, const std::string& worker) {
    std::optional<int> writer;
    for (std::size_t tensor = 0; tensor < planned_tensors.size(); ++tensor) {
        const auto found = run.tensor(planned_tensors[tensor].name).find_value(step, {.worker = worker});
        if (!found || found->size() != planned_tensors[tensor].count) {
            return std::nullopt;
        }
        const std::span<const float> values = found->template elements<float>();
        const int says = static_cast<int>(values[0]);
        if (writer.value_or(says) != says) {
            return std::nullopt;
        }
        writer = says;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] != planned_value(says, step, tensor, i)) {
                return std::nullopt;
            }
        }
    }
    return writer;
}

/// What lies in a run's folder, by its files' names alone.
struct files_found {
    std::set<smdebug::step_number> indexes = {};
    std::set<smdebug::step_number> events = {};
    std::size_t half_events = 0;  ///< files that had not got their names yet
    std::size_t half_indexes = 0;
    std::size_t half_others = 0;
    bool has_collections = false;
    bool has_ended = false;
};

[[nodiscard]] inline files_found look_at_files(const std::string& folder, const std::string& worker = "worker_0") {
    using namespace smdebug;
    files_found found;
    for (const std::string& key : local_storage{folder}.list("", "")) {
        if (key.find(".tmp.") != std::string::npos) {
            (key.starts_with(smdebug::detail::locations::events_folder)  ? found.half_events
             : key.starts_with(smdebug::detail::locations::index_folder) ? found.half_indexes
                                                                         : found.half_others) += 1;
        } else if (key == smdebug::detail::locations::end_of_job) {
            found.has_ended = true;
        } else if (key == smdebug::detail::locations::collections_key(worker)) {
            found.has_collections = true;
        } else if (const auto index = smdebug::detail::locations::parse_index_key(key);
                   index && index->worker_part == worker) {
            found.indexes.insert(index->step);
        } else if (const auto events =
                       smdebug::detail::locations::parse_step_file(key, smdebug::detail::locations::event_extension);
                   events && events->worker_part == worker) {
            found.events.insert(events->step);
        }
    }
    return found;
}

/// An object in memory that the children of this process share with it.
template <class T>
class shared_object {
public:
    shared_object() {
        void* const memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::runtime_error("no shared memory");
        }
        object_ = new (memory) T;
    }
    shared_object(const shared_object&) = delete;
    shared_object& operator=(const shared_object&) = delete;
    ~shared_object() { ::munmap(object_, sizeof(T)); }

    [[nodiscard]] T* operator->() const noexcept { return object_; }

private:
    static_assert(std::is_trivially_destructible_v<T>);
    T* object_ = nullptr;
};

}  // namespace smdebug_test
