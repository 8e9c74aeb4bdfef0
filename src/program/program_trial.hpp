// The type of the runs that the program looks at.
#pragma once

#include <smdebug/trial/trial.hpp>

namespace smdebug::inline v1::cli::detail {

/// The path picks the storage, the CPU the kernel.
using program_trial = trial;

}  // namespace smdebug::inline v1::cli::detail
