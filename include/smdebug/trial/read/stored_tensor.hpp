// Decoding what other tools have stored: elements, messages and numbers without the record of an event file around them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Decodes an entry that is no record into `out`, whose name becomes empty.  `bytes`: those of entry.record, cut at the object's
/// end; nothing for an entry that is not in an object.
/// Errors:  truncated where there are fewer bytes than there were, those of decode_tensor and of histograms; what a function
///          throws that makes elements.
/// Borrows: the bytes, where they are the elements as they are in memory; see decoded_tensor.
/// `repeats`: null, or the elements that are left out, see decode_list.
[[nodiscard]] status decode_stored(const layout::entry& entry, byte_view bytes, decoded_tensor& out,
                                   std::size_t* repeats = nullptr);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/stored_tensor.ipp>
#endif
