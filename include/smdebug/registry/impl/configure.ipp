// The bodies of <smdebug/registry/configure.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/registry/configure.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void check_regexes(const text_list& list) {  // of a std::vector<std::string>, too
    for (const std::string& text : list.texts()) {
        try {
            static_cast<void>(regex{text});
        } catch (const value_error& bad) {
            throw value_error("holds a bad regular expression: " + std::string{bad.message()});
        }
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
