// Zstandard by libzstd: one frame, or many, as its seekable format has them.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/form.hpp>

#include <memory>

namespace smdebug::inline v1::archive::detail {

/// The format of Zstandard.  Access points lie between frames: an archive in a single frame, as zstd and tar write it,
/// has none except its beginning.  Skippable frames are skipped.  A window above 128 MiB is refused.
[[nodiscard]] std::shared_ptr<const codec> zstd_codec();

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/zstd.ipp>
#endif
