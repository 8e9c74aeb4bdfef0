// The file of what was learned, written and read: JSON that people read, compare and edit.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/learn/facts/all_facts.hpp>

#include <string>
#include <string_view>

namespace smdebug::inline v1::detail::learn {

/// Passes the text to `write`, piece by piece.  Doubles read back to the bit.  Memory: a piece of some 64 KiB.
void write_json(const all_facts& facts, function_ref<void(std::string_view)> write);

/// Errors: value_error that begins with `where`, for a text that is not such a file: it says what is wrong, and where.
/// Memory: the facts, and the text of one tensor, parsed; if the text is refused, some four times the text.
[[nodiscard]] all_facts facts_from_json(std::string_view text, const std::string& where);

}  // namespace smdebug::inline v1::detail::learn

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/facts/impl/facts_json.ipp>
#endif
