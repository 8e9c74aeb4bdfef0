// The type of the runs that the program looks at.
#pragma once

#include <smdebug/trial/trial.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The path picks the storage, the CPU the kernel.
using program_trial = trial;

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
