// Reads many objects or ranges past those that a storage fails to read.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace smdebug::inline v1 {

/// Reads whole objects as storage_base::read_each() does, but continues after objects that the storage fails to read or
/// has no memory for (unavailable): calls failed(place, error) for each of them. Either function may return false to
/// end the reading, which then returns false.
/// Errors: what `sink` and `failed` throw; in `failed`, `throw;` rethrows the storage's error.
bool read_each_past_errors(const any_storage& store, std::span<const std::string> keys, object_sink sink,
                           visitor_ref<std::size_t, const error&> failed);

/// Reads ranges as storage_base::read_ranges() does, but continues after those that fail: calls failed(place), in which
/// `throw;` rethrows the error. A range that fails in a batch is read again alone, since a neighbour may be the cause;
/// then the next one alone, then twice as many each time. So if everything fails, each range is read alone once.
bool read_ranges_past_errors(const any_storage& store, std::span<const object_range> ranges, range_sink sink,
                             visitor_ref<std::size_t> failed);

namespace detail {

/// How often a read is restarted because the object was replaced meanwhile, before throw_replaced().
inline constexpr int most_versions = 5;

/// Throws unavailable: the object was replaced again and again.
[[noreturn]] void throw_replaced(const std::string& name);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/batch_read.ipp>
#endif
