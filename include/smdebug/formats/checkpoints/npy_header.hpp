// The header of a .npy, numpy's file of one array, versions 1 to 3.
//
//   "\x93NUMPY" | major | minor | length, u16 in version 1, else u32 | a Python literal, padded | the elements
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/stored_tensor.hpp>

#include <cstdint>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// What numpy writes of an array of numbers has some hundred bytes.
inline constexpr std::uint64_t most_npy_header_bytes = std::uint64_t{64} << 10U;

/// The array in a file of `size` bytes, without a name; `file` names it in errors.  What lies behind the elements is
/// passed over, as numpy.load does.
/// Errors:  unsupported, with a sentence on what to do, for elements that are no numbers or booleans (Python objects,
///          texts, records, dates, raw bytes) or of a size that this library does not have (long double), and for other
///          versions; corrupt_data for everything else that cannot be, such as elements beyond the file's end; those of
///          `read`.
/// Cost:    one read of 4 KiB, for a longer header another.
[[nodiscard]] stored_tensor read_npy_header(const std::string& file, std::uint64_t size, range_reader read);

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/npy_header.ipp>
#endif
