// S3 and other uses of HTTP: all parts of the library that need libcurl, OpenSSL and pugixml, in one include.
// If any file of a program includes it (smdebug::s3 in CMake), create_trial("s3://...") and hooks by path open buckets
// in all its files; in other programs they throw `unsupported`.
#pragma once

#include <smdebug/actions/post_finding.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Lets create_trial(), hooks by path and so on open buckets.
[[nodiscard]] any_storage open_storage(std::string_view path, const storage_options& options);
[[nodiscard]] any_storage open_place(std::string_view path, const s3_options& options);

inline constexpr smdebug::detail::s3_openers openers{open_storage, open_place};
inline const smdebug::detail::known_component opens_by_path{openers};

}  // namespace smdebug::inline v1::s3::detail
