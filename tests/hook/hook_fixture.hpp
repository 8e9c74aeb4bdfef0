// What many tests of hooks begin with: a hook into memory, options, values, and an observer whose answers a test sets.
#pragma once

#include <smdebug/hook/hook.hpp>

#include <smdebug/core/step.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include "support/standard.hpp"

namespace smdebug_test::hooks {

using memory_hook = smdebug::basic_hook<smdebug::memory_storage>;

/// Options with which everything is saved at every step that `interval` divides.
inline smdebug::hook_options everything(smdebug::step_number interval = 1) {
    return {.save_config = {.save_interval = interval}, .save_all = true};
}

inline const std::vector<float> one{1};

/// Wants everything, unless a test says otherwise.
struct scripted_observer final : smdebug::hook_observer {
    bool wants(const smdebug::hook_step& step) override { return wants_step(step); }
    bool wants(std::string_view tensor) override { return wants_tensor(tensor); }
    void see(std::string_view name, const smdebug::tensor_view& tensor,
             std::span<const std::string_view> collections) override {
        sees(name, tensor, collections);
    }
    void end_step(const smdebug::hook_step& step) override { ends(step); }

    std::function<bool(const smdebug::hook_step&)> wants_step = [](const auto&) { return true; };
    std::function<bool(std::string_view)> wants_tensor = [](const auto&) { return true; };
    std::function<void(std::string_view, const smdebug::tensor_view&, std::span<const std::string_view>)> sees =
        [](const auto&...) {};
    std::function<void(const smdebug::hook_step&)> ends = [](const auto&) {};
};

}  // namespace smdebug_test::hooks
