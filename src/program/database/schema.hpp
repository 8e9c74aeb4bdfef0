// The tables of a database of results, and how such a file is recognised.
// The README documents the columns; another schema is another user_version.
#pragma once

#include <program/database/sqlite.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail::sqlite {

/// PRAGMA application_id of these databases, "smdb", and PRAGMA user_version: the version of their tables.
inline constexpr std::int64_t application_id = 0x736d6462;
inline constexpr std::int64_t schema_version = 2;

/// The columns of `reductions` that hold the 18 reductions, by reduction_key::index(): "min, max, ..., abs_l2".
[[nodiscard]] std::string reduction_columns();

/// The texts in `runs.state` of runs that are not scanned again while they are unchanged.
inline constexpr std::string_view done_states = "('ended', 'growing', 'incomplete')";
/// Those, and the other states that may replace an older result.
inline constexpr std::string_view settled_states = "('ended', 'growing', 'incomplete', 'gone')";
/// Those of runs without troubles.
inline constexpr std::string_view quiet_states = "('ended', 'growing', 'gone')";

/// Marks runs with unread data as `incomplete`: tables of version 1 call them ended or growing.
inline constexpr std::string_view mark_incomplete_sql =
    "UPDATE runs SET state = 'incomplete' WHERE state IN ('ended', 'growing') AND ("
    "EXISTS (SELECT 1 FROM messages WHERE run = runs.id AND kind <> 'note') OR EXISTS (SELECT 1 FROM results "
    "WHERE run = runs.id AND (unread > 0 OR status IN ('Error', 'Incomplete'))));";

/// Checks the file before SQLite opens it, as SQLite may change what it opens.  Returns whether there is a database:
/// not if the file is missing or empty.  A file with another beginning and SQLite's journal beside it is one: the power
/// failed, and SQLite repairs it by the journal.  Errors: corrupt_data (something else), unsupported (another
/// program's, or of a newer version of this library), access_denied, unavailable.
bool look_at_file(const std::string& path);

/// Checks an open database, whose content may still be in its WAL.  Returns false where it has no tables yet, so that
/// any program may take it.
bool look_at(connection& database);

/// Creates the tables in an empty open database, and checks any other.  Tables of version 1 are upgraded to this
/// version, in which paths do not depend on the current folder, if something exists there.
/// Errors: those of look_at_file().
void settle_schema(connection& database);

/// Tables of version 1 name runs as they were given, relative to an unknown folder.  The current folder is assumed if
/// something exists there; other names stay.  If a run has two rows, with a relative and an absolute path, the one with
/// a result stays, else the one scanned last.
void make_paths_whole(connection& database);

}  // namespace smdebug::inline v1::detail::sqlite
