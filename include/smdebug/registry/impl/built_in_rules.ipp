// The bodies of <smdebug/registry/built_in_rules.hpp>.
#pragma once

#include <smdebug/registry/built_in_rules.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::string plain_rule_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '_') {
            plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        }
    }
    return plain;
}

}  // namespace v1
}  // namespace smdebug
