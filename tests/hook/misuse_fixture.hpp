// What the tests of a hook's misuse begin with.
#pragma once

#include <smdebug/hook/hook.hpp>

#include <smdebug/storage/memory_storage.hpp>

#include <vector>

namespace smdebug_test::misuse {

using memory_hook = smdebug::basic_hook<smdebug::memory_storage>;

/// Options with which everything is saved at every step.
inline smdebug::hook_options everything() { return {.save_config = {.save_interval = 1}, .save_all = true}; }

inline const std::vector<float> one{1};

}  // namespace smdebug_test::misuse
