// The bodies of <smdebug/rules/judge/selection.hpp>.
#pragma once

#include <smdebug/rules/judge/selection.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE finding note_about(const std::string& tensor, const std::string& worker, step_number step,
                                  const lookup_error& failure) {
    finding note{.tensor = tensor, .worker = worker};
    if (failure.why == absence::wrong_dtype) {
        return note;
    }
    note.damaged = is_lost(failure);
    note.message = smdebug::detail::words_of(failure, tensor, step, mode::global);
    return note;
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
