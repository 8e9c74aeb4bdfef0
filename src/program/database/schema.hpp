// The tables of a database of results, and how a file is known for one.
// The README documents the columns; another schema is another user_version.
#pragma once

#include <program/database/sqlite.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace sqlite {

/// PRAGMA application_id of these databases, "smdb", and PRAGMA user_version: the version of their tables.
inline constexpr std::int64_t application_id = 0x736d6462;
inline constexpr std::int64_t schema_version = 2;

/// The tables, indexes and views.
[[nodiscard]] std::string schema_sql();

/// The columns of `reductions` that hold the 18 reductions, by reduction_key::index(): "min, max, ..., abs_l2".
[[nodiscard]] std::string reduction_columns();

/// The texts in `runs.state` of runs that are not looked at again while they stay as they are.
inline constexpr std::string_view done_states = "('ended', 'growing', 'incomplete')";
/// Those, and what else is a result that may take the place of an older one.
inline constexpr std::string_view settled_states = "('ended', 'growing', 'incomplete', 'gone')";
/// Those of runs that are no trouble.
inline constexpr std::string_view quiet_states = "('ended', 'growing', 'gone')";

/// Makes runs `incomplete` of which something was not read: tables of version 1 call them ended or growing.
inline constexpr std::string_view mark_incomplete_sql =
    "UPDATE runs SET state = 'incomplete' WHERE state IN ('ended', 'growing') AND ("
    "EXISTS (SELECT 1 FROM messages WHERE run = runs.id AND kind <> 'note') OR EXISTS (SELECT 1 FROM results "
    "WHERE run = runs.id AND (unread > 0 OR status IN ('Error', 'Incomplete'))));";

/// Looks at the file before SQLite opens it, which may change what it opens.  Returns whether there is a database; a
/// file that is missing or empty is none; one that begins with something else and has SQLite's journal beside it, by
/// which SQLite makes it whole, is one: the power failed.  Errors: corrupt_data (something else), unsupported (another
/// program's, or of a newer version of this library), access_denied, unavailable.
bool look_at_file(const std::string& path);

/// The same of an open database, which may lie in its WAL.  False: it has no tables yet, and is nobody's.
bool look_at(connection& database);

/// Makes an open database one of results where it is empty, and checks that it is one.  Tables of version 1 become those
/// of this version: runs have paths that do not depend on the folder of the process, where there is something at that path.
/// Errors: those of look_at_file().
void settle_schema(connection& database);

/// Tables of version 1 name runs as they were written: relative to a folder that they do not know.  It is taken for that of the
/// process where something lies there; other names stay.  Of two rows of one run, with a relative and a whole path, the one
/// with a result stays, or that was scanned last.
void make_paths_whole(connection& database);

}  // namespace sqlite
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
