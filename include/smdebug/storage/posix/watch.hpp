// A signal for local directories, by inotify.
// Linux only, and the library's only use of inotify. It reports writes of this machine, not those of others to a shared
// file system.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

/// Of the folders below a prefix, so many of each level are watched.
inline constexpr std::size_t most_watched_folders = 1024;

/// A signal that wakes when files appear or change below a root, under one of some prefixes: whole keys, or folders
/// with a '/' at their end; without any it is all keys. Anything that appears after this call wakes. Neither the
/// prefixes' folders nor the root need exist: the nearest existing folder is watched, and others as they appear. Of the
/// folders below a prefix that ends in '/', the most_watched_folders newest by name of each level are watched: those
/// that grow. If some are not watched, changed_keys() returns nothing, so that everything is checked.
/// Nothing if the system has no more instances or watches, or no prefix is below the root.
/// Errors of waiting: unavailable (the system cannot wait).
/// Cost: two descriptors, one of the system's inotify instances (often 128 per user), and one watch per folder. A wait
/// costs a few system calls, and a listing of the prefixes' folders when one was added or removed.
[[nodiscard]] std::unique_ptr<change_signal> watch_folders(std::string_view root,
                                                           std::span<const std::string> prefixes);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/watch.ipp>
#endif
