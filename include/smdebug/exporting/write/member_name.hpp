// What a tensor is called in an .npz, where its name becomes a path: one that leads nowhere, and can be taken back.
#pragma once

#include <smdebug/core/form.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The name of the member, without ".npy", that holds the tensor `name`.  Most names stay as they are: "fc/kernel:0".
/// As %XX, a byte each, as in an address: '%' and '\', controls, bytes that are no UTF-8, the dots of parts that are "."
/// or "..", slashes at the beginning and end and the second of two, the colon of "C:/", and the last dot of a name that
/// ends in ".npy", which numpy would take for another's.  An empty name is "%".  No two names become one, and Python's
/// urllib.parse.unquote_to_bytes brings back the name (but the empty one).
[[nodiscard]] std::string member_name(std::string_view name);

/// The same for a part of a file's name: without slashes.
[[nodiscard]] std::string file_name_part(std::string_view text);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/member_name.ipp>
#endif
