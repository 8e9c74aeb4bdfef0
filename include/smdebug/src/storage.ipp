// A part of <smdebug/src.hpp>: the bodies of storages.
#pragma once

#include <smdebug/storage/cache/impl/disk_cache.ipp>
#include <smdebug/storage/cache/impl/in_flight.ipp>
#include <smdebug/storage/cache/impl/object_cache.ipp>
#include <smdebug/storage/impl/any_storage.ipp>
#include <smdebug/storage/impl/batch_read.ipp>
#include <smdebug/storage/impl/cached_storage.ipp>
#include <smdebug/storage/impl/local_storage.ipp>
#include <smdebug/storage/impl/memory_storage.ipp>
#include <smdebug/storage/impl/open_storage.ipp>
#include <smdebug/storage/impl/range_plan.ipp>
#include <smdebug/storage/impl/storage_base.ipp>
#include <smdebug/storage/impl/uri.ipp>
#include <smdebug/storage/posix/impl/file.ipp>
#include <smdebug/storage/posix/impl/folder.ipp>
#include <smdebug/storage/posix/impl/output.ipp>
