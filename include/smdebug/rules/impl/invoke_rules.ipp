// The bodies of <smdebug/rules/invoke_rules.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/rules/invoke_rules.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string words_of(const std::exception_ptr& cause) {
    try {
        std::rethrow_exception(cause);
    } catch (const std::exception& failed) {
        return failed.what();
    } catch (...) {
        return "something that is no std::exception was thrown";
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
