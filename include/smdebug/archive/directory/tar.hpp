// The directory of a tar archive: ustar, pax, and GNU's long names, large sizes and links.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <string_view>

namespace smdebug::inline v1::archive::detail {

/// Whether 512 bytes are the head of a tar member, judged by their checksum.
[[nodiscard]] bool is_tar_head(byte_view block) noexcept;

/// Reads only the heads, front to back.  If a member occurs twice, the later one counts; hard links, and symbolic links
/// that stay inside the archive, have the content of their target, and are `nowhere` if it does not exist.  After a
/// damaged head the next valid one is searched for; after the archive's end, another archive.  Damage is reported in
/// the directory, not thrown.
/// Errors: those of the source, except corrupt_data; unsupported for more members than options allow.
/// Calls passed(key, member) for each file after its head, when its bytes come next.
[[nodiscard]] directory read_tar(const byte_source& from, const archive_options& options,
                                 function_ref<void(std::string_view, const member&)> passed);

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/tar.ipp>
#endif
