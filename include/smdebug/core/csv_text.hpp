// Writing CSV: a field with what a reader of RFC 4180 takes for something else in quotes.
#pragma once

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Appends a field as RFC 4180 has it: in quotes where it holds a comma, a quote or a line's end.
inline void append_csv_field(std::string& out, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) {
        out.append(c == '"' ? 2 : 1, c);
    }
    out += '"';
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
