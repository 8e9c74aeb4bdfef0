// Hooks in memory for tests with libtorch, whose logging has macros of doctest's names.
#pragma once

#include <smdebug/torch.hpp>

#include <torch/torch.h>

#undef CHECK
#include "support/test.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test::torch_ {

namespace smd = smdebug;

// Counts up, so that two hooks write the same bytes.
struct counting_clock {
    std::shared_ptr<double> at = std::make_shared<double>(1e9);
    [[nodiscard]] std::chrono::duration<double> now() const { return std::chrono::duration<double>{*at += 0.125}; }
};
using memory_hook = smd::basic_hook<smd::memory_storage, smd::default_kernel, counting_clock>;
using memory_trial = smd::basic_trial<smd::memory_storage>;

inline smd::hook_options saves_all(std::optional<smd::reduction_config> what = {}) {
    return {.save_config = {.save_interval = 1}, .reduction_config = std::move(what), .save_all = true};
}

inline const smd::reduction_config& every_reduction() {
    static const smd::reduction_config all{.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                                           .abs_reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                                           .norms = {"l1", "l2"},
                                           .abs_norms = {"l1", "l2"},
                                           .save_shape = true};
    return all;
}

// The files of a run by their keys.
inline std::map<std::string, std::string> files_of(const smd::memory_storage& store) {
    std::map<std::string, std::string> files;
    for (const std::string& key : store.list("", "")) {
        const smd::byte_buffer bytes = store.read(key);
        files[key].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return files;
}

// What a training writes that is handed a hook.
template <class Train>
smd::memory_storage written_by(smd::hook_options options, Train&& train) {
    smd::memory_storage store;
    memory_hook hook{smd::memory_storage{store}, std::move(options)};
    train(hook);
    hook.close();
    return store;
}

inline memory_trial run_of(const smd::memory_storage& store) { return memory_trial{store}; }

// Every tensor counts as one of another device.
inline bool everything_is_far(const at::Tensor& /*tensor*/) { return true; }

}  // namespace smdebug_test::torch_
