// Which names a tensor may be saved under.
#pragma once

#include <smdebug/core/form.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Throws value_error for a name that no run can hold: an empty one, one that is no UTF-8, and one with the mark of a
/// saved reduction's name, which readers take apart wherever it stands: the Python package could not open the run.
void check_tensor_name(std::string_view name);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensor_name.ipp>
#endif
