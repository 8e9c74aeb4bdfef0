// A part of <smdebug/archive_src.hpp>: the bodies of archives.
#pragma once

#include <smdebug/archive/directory/impl/contents.ipp>
#include <smdebug/archive/directory/impl/index_places.ipp>
#include <smdebug/archive/directory/impl/kept_index.ipp>
#include <smdebug/archive/directory/impl/member.ipp>
#include <smdebug/archive/directory/impl/tar.ipp>
#include <smdebug/archive/directory/impl/zip.ipp>
#include <smdebug/archive/impl/archive_storage.ipp>
#include <smdebug/archive/impl/opened.ipp>
#include <smdebug/archive/impl/opened_runs.ipp>
#include <smdebug/archive/impl/pack.ipp>
#include <smdebug/archive/stream/impl/decoded_source.ipp>
#include <smdebug/archive/stream/impl/deflate.ipp>
#include <smdebug/archive/stream/impl/parallel_decoder.ipp>
#include <smdebug/archive/stream/impl/zstd.ipp>
#include <smdebug/archive/write/impl/frame.ipp>
#include <smdebug/archive/write/impl/packing_plan.ipp>
#include <smdebug/archive/write/impl/tar_head.ipp>
#include <smdebug/batch/impl/find_runs.ipp>
