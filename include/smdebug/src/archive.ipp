// A part of <smdebug/archive_src.hpp>: the bodies of archives.
#pragma once

#include <smdebug/archive/directory/impl/contents.ipp>
#include <smdebug/archive/directory/impl/kept_index.ipp>
#include <smdebug/archive/directory/impl/member.ipp>
#include <smdebug/archive/impl/archive_storage.ipp>
#include <smdebug/archive/impl/opened.ipp>
#include <smdebug/archive/impl/pack.ipp>
#include <smdebug/archive/stream/impl/codecs.ipp>
#include <smdebug/archive/stream/impl/decoded_source.ipp>
#include <smdebug/batch/impl/find_runs.ipp>
#include <smdebug/learn/impl/learn_runs.ipp>
