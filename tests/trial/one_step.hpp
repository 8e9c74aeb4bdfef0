// A step to be written with the tensor "a" alone.
#pragma once

#include "support/run_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/core/step.hpp>

namespace smdebug_test {

inline written_step one(smdebug::step_number step, std::string worker = "worker_0") {
    return {.step = step, .tensors = {tensor_of<float>("a", {1})}, .worker = std::move(worker)};
}

}  // namespace smdebug_test
