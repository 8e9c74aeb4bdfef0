// From a payload to a framed record.
// The counterpart of reader.hpp; writes to memory, never to files.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace record {

/// The footer of a payload.  Cost: one pass over the payload for `checksum`, none for `package_constant`.
[[nodiscard]] inline std::uint32_t footer_of(byte_view payload, footer_kind kind) noexcept {
    return kind == footer_kind::package_constant ? package_footer : crc32c::mask(crc32c::value(payload));
}

/// Appends `payload` as one record to `out`.
/// `payload` must not lie in `out`.      Cost: one copy of the payload, and footer_of.
inline void append_record(std::vector<std::byte>& out, byte_view payload,
                          footer_kind kind = footer_kind::package_constant) {
    const std::size_t begin = out.size();
    const std::size_t footer_at = begin + header_size + payload.size();
    out.resize(footer_at + footer_size);
    store_header(out.data() + begin, detail::header::of(payload.size()));
    std::copy(payload.begin(), payload.end(), out.data() + begin + header_size);
    store_le(out.data() + footer_at, footer_of(payload, kind));
}

}  // namespace record
}  // namespace v1
}  // namespace smdebug
