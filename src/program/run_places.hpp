// What a path on the command line stands for: a run, or all runs of an archive.
#pragma once

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// A run, and its storage if that is already open.
struct run_place {
    std::string path = {};
    std::optional<any_storage> store = {};
};

struct run_places {
    std::vector<run_place> runs = {};
    std::string damage = {};  ///< of an archive's directory, a sentence; may be empty
};

/// Opens an archive once for all its runs; anything else is left to be opened by its path.
/// Errors: those of open_storage().
[[nodiscard]] run_places places_of(const std::string& path, const storage_options& options);

}  // namespace smdebug::inline v1::cli::detail
