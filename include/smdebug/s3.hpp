// S3, and what else speaks HTTP: all of the library that needs libcurl, OpenSSL and pugixml, in one include.
// In a program of which one file includes it (any one; smdebug::s3 in CMake), create_trial("s3://...") and hooks by
// path open buckets, in all its files; in others they throw `unsupported`.
#pragma once

#include <smdebug/actions/post_finding.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#ifdef SMDEBUG_COMPILED
namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

// A weak reference takes nothing out of a library; this one does.
extern const int opened_by_path;
[[gnu::used]] inline const int* const uses_opened_by_path = &opened_by_path;

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
#else
#include <smdebug/s3/impl/opened.ipp>
#endif
