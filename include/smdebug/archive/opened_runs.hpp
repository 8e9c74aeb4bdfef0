// The runs of an archive: one that was named, or all that lie in it.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// A run of an archive.
struct opened_run {
    std::string inside = {};  ///< the folder in the archive; empty: its root
    any_storage store;
};

/// An archive that was opened once for all its runs.
struct opened_runs {
    std::string name = {};  ///< of the archive
    std::vector<opened_run> runs = {};
    std::vector<std::string> damage = {};  ///< a sentence for each damaged place of its directory
};

/// The run at `inside` of the archive under `key`; where `inside` is empty, all that it has; where it has none, its root.
/// Nothing where the object is no archive of a known format.
/// Errors: those of archive_storage.
[[nodiscard]] std::optional<opened_runs> open_runs(const any_storage& folder, const std::string& key,
                                                   std::string_view inside, const archive_options& options);

/// The text of an error that says what is damaged.
[[nodiscard]] std::string damage_text(const opened_runs& all);

/// The only run.  Errors: value_error where there are several, corrupt_data where the archive is damaged, unless options
/// say that this is to be skipped.
[[nodiscard]] any_storage only_run(opened_runs all, const archive_options& options);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/opened_runs.ipp>
#endif
