// The directory of a tar archive: ustar, pax, and GNU's long names, large sizes and links.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Whether 512 bytes are the head of a tar archive's member: by their checksum.
[[nodiscard]] bool is_tar_head(byte_view block) noexcept;

/// Reads the heads alone, front to back.  A member that comes twice is the later one; hard links, and symbolic ones that stay
/// inside, have what they name, and are `nowhere` where that is not there.  Behind a damaged head it looks for the next one;
/// behind the archive's end, for another archive.  What is damaged is told, not thrown.
/// Errors: those of the source, except corrupt_data; unsupported for more members than options allow.
/// passed(key, member) is called for each file behind its head, when its bytes come next.
[[nodiscard]] directory read_tar(const byte_source& from, const archive_options& options,
                                 function_ref<void(std::string_view, const member&)> passed);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/tar.ipp>
#endif
