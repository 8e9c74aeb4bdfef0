// Archives: all parts of the library that need zlib and libzstd, in one include.
// If any file of a program includes it (smdebug::archive in CMake), create_trial("old.tar.gz") opens archives, and
// checkpoints in .npz, in all its files; in other programs it throws `unsupported`.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::archive::detail {

// See archive_openers.
[[nodiscard]] std::optional<any_storage> open_run(const any_storage& folder, const std::string& key,
                                                  std::string_view inside, const archive_options& options);
[[nodiscard]] any_storage open_files(const any_storage& folder, const std::string& key, const archive_options& options,
                                     member_names names);
[[nodiscard]] std::vector<std::optional<std::uint64_t>> stored_places(const any_storage& files,
                                                                      std::span<const std::string> keys);

inline constexpr smdebug::detail::archive_openers openers{open_run, open_files, stored_places};
inline const smdebug::detail::known_component opens_by_path{openers};

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/opened.ipp>
#endif
