// A part of <smdebug/src.hpp>: the bodies of storages.
#pragma once

#include <smdebug/storage/cache/impl/cache_file.ipp>
#include <smdebug/storage/cache/impl/content_hash.ipp>
#include <smdebug/storage/cache/impl/fetch_crew.ipp>
#include <smdebug/storage/cache/impl/fetch_table.ipp>
#include <smdebug/storage/cache/impl/held_parts.ipp>
#include <smdebug/storage/cache/impl/known_objects.ipp>
#include <smdebug/storage/cache/impl/object_scout.ipp>
#include <smdebug/storage/impl/announcer.ipp>
#include <smdebug/storage/impl/any_storage.ipp>
#include <smdebug/storage/impl/change_signal.ipp>
#include <smdebug/storage/impl/disk_cache.ipp>
#include <smdebug/storage/impl/local_storage.ipp>
#include <smdebug/storage/impl/memory_cache.ipp>
#include <smdebug/storage/impl/memory_storage.ipp>
#include <smdebug/storage/impl/open_storage.ipp>
#include <smdebug/storage/impl/output.ipp>
#include <smdebug/storage/impl/path_openers.ipp>
#include <smdebug/storage/impl/range_plan.ipp>
#include <smdebug/storage/impl/uri.ipp>
#include <smdebug/storage/impl/versioned_read.ipp>
#include <smdebug/storage/posix/folder_follower.hpp>
#include <smdebug/storage/posix/impl/buffered_output.ipp>
#include <smdebug/storage/posix/impl/claim.ipp>
#include <smdebug/storage/posix/impl/file.ipp>
#include <smdebug/storage/posix/impl/folder.ipp>
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#include <smdebug/storage/posix/impl/map.ipp>
#include <smdebug/storage/posix/impl/output.ipp>
#include <smdebug/storage/posix/impl/output_folder.ipp>
#include <smdebug/storage/posix/impl/process.ipp>
#include <smdebug/storage/posix/impl/stamp.ipp>
#include <smdebug/storage/posix/impl/watch.ipp>

namespace smdebug {
inline namespace v1 {

template class detail::basic_folder_follower<>;

}  // namespace v1
}  // namespace smdebug
