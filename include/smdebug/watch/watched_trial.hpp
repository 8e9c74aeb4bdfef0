// The type of trial that rules see inside a training process.
#pragma once

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/watch/step_memory.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The trial that rules inside the training process are called with.
template <reduction_kernel Kernel = default_kernel>
using watched_trial = basic_trial<step_memory, event_decoder<>, Kernel>;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
