// The tables of a database of results, and how a file is known for one.
// The README documents the columns; another schema is another user_version.
#pragma once

#include <smdebug/batch/database/sqlite.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace sqlite {

/// PRAGMA application_id of these databases, "smdb", and PRAGMA user_version: the version of their tables.
inline constexpr std::int64_t application_id = 0x736d6462;
inline constexpr std::int64_t schema_version = 1;

/// The tables, indexes and views.
[[nodiscard]] std::string schema_sql();

/// The columns of `reductions` that hold the 18 reductions, by reduction_key::index(): "min, max, ..., abs_l2".
[[nodiscard]] std::string reduction_columns();

/// The texts in `runs.state` of runs that were looked at to their end.
inline constexpr std::string_view done_states = "('ended', 'growing')";

/// Looks at the file before SQLite opens it, which may change what it opens.  Returns whether there is a database; a
/// file that is missing or empty is none; one that begins with something else and has SQLite's journal beside it, by
/// which SQLite makes it whole, is one: the power failed.  Errors: corrupt_data (something else), unsupported (another
/// program's, or of a newer version of this library), access_denied, unavailable.
bool look_at_file(const std::string& path);

/// The same of an open database, which may lie in its WAL.  False: it has no tables yet, and is nobody's.
bool look_at(connection& database);

/// Makes an open database one of results where it is empty, and checks that it is one.  Errors: those of
/// look_at_file().
void settle_schema(connection& database);

}  // namespace sqlite
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/database/impl/schema.ipp>
#endif
