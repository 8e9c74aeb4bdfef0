// The bodies of <smdebug/hook/run_writer.hpp>.
#pragma once

#include <smdebug/hook/run_writer.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string written_already(mode which, step_number in_mode, step_number as) {
    return std::string{name_of(which)} + " step " + std::to_string(in_mode) + " has been written already, as step " +
           std::to_string(as) +
           " of the job: a mode's step is written once, so give this one another number in the mode";
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
