// The bodies of <smdebug/hook/tensor_name.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/utf8.hpp>
#include <smdebug/hook/tensor_name.hpp>
#include <smdebug/reduce/name.hpp>

#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void check_tensor_name(std::string_view name) {
    if (name.empty()) {
        throw value_error("a tensor's name is empty");
    }
    if (!is_utf8(name)) {
        throw value_error("the tensor's name \"" + std::string{name} + "\" is no UTF-8");
    }
    if (name.find(reductions_prefix) != std::string_view::npos) {
        throw value_error("the tensor's name \"" + std::string{name} + "\" has \"" + std::string{reductions_prefix} +
                              "\" in it, which is for the reductions that a hook saves: choose another name",
                          {.tensor = std::string{name}});
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
