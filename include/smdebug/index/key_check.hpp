// Keys of JSON objects that were renamed: an unknown one beside an expected one that is missing.
// Unknown keys alone are allowed, and so are missing ones that are optional; the two together are what damage looks
// like.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// A sentence on keys of `object` that are not `expected` while some of `expected` are missing; nothing where all is
/// well, or where the value is no object.
[[nodiscard]] std::optional<std::string> renamed_keys(detail::json::value object,
                                                      std::span<const std::string_view> expected);

/// The same with two fields of one name, of which the last counts: no writer makes such.
[[nodiscard]] std::optional<std::string> repeated_keys(detail::json::value object);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/key_check.ipp>
#endif
