// A run with findings.
#pragma once

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>

#include <limits>

namespace smdebug_test {

/// A finished run on disk: at step 0 all is well; at step 1 the gradient vanishes and `w` holds one NaN; at step 2 `w`
/// holds an infinity.  Steps 0 and 2 are TRAIN 0 and 1, step 1 is EVAL 0.
inline void write_sick_run(const temporary_folder& folder) {
    using namespace smdebug;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float inf = std::numeric_limits<float>::infinity();
    local_storage store{folder.path()};
    run_builder{store}
        .collections({"worker_0"}, {{"gradients", {"g"}}, {"weights", {"w"}}})
        .step({.step = 0,
               .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("g", {0.5F, -0.5F})},
               .mode_step = 0})
        .step({.step = 1,
               .tensors = {tensor_of<float>("w", {1, nan}), tensor_of<float>("g", {1e-9F, -1e-9F})},
               .mode = mode::eval,
               .mode_step = 0})
        .step({.step = 2,
               .tensors = {tensor_of<float>("w", {inf, 2}), tensor_of<float>("g", {0.5F, -0.5F})},
               .mode_step = 1})
        .end();
}

}  // namespace smdebug_test
