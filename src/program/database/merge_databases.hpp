// Several databases of results in one: those of shards, of machines, of nights.
#pragma once

#include <smdebug/core/stop_token.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace smdebug::inline v1 {

/// How to merge.
struct merge_options {
    /// Replaces an existing target, if it is a database of results; otherwise an existing target is an error.
    bool replace = false;
    /// Ends the merging with `stopped_error`; nothing is left behind.
    std::stop_token stop = {};
};

/// What was merged.
struct merge_result {
    std::size_t read = 0;    ///< runs in all sources
    std::size_t runs = 0;    ///< in the target: each path once
    std::size_t failed = 0;  ///< of these: neither ended nor growing
};

/// Writes all runs of all sources into a new database `target`.  If several have a path, a run that was scanned to its
/// end, or is gone, wins over one that was not, then the one scanned last, then the one of the first source.  The
/// target is written under a temporary name, synced, and then renamed: it appears whole or not at all.  Sources are not
/// changed.  The target has no WAL until it is written to: it may be read anywhere.
/// Errors: not_found (a source, the target's folder), corrupt_data, unsupported (a source is damaged or no database of
///         results), value_error (no source, or the target is one), run_exists (the target is there), in_use (it is
///         being written to), unavailable (a source is being changed, no room left), access_denied, stopped_error.
/// Cost: reading the sources and writing the target, once.
merge_result merge_databases(std::span<const std::string> sources, const std::string& target,
                             const merge_options& options = {});

}  // namespace smdebug::inline v1
