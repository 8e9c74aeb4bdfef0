// All rows of a database as lines of text, equal for databases with the same results: without ids, and without what
// differs between scans (scanned_at, seconds).  For tests that compare a resumed or merged scan with a plain one.
#pragma once

#include <string>

namespace smdebug::inline v1::detail::sqlite {

/// A line per row: the runs by path, then the other tables by path and number.  Doubles are exact; NULL differs from
/// any text.  Errors: as results_database, and not_found if there is no such file, or it is empty.
/// Memory: all of it at once.
[[nodiscard]] std::string canonical_rows(const std::string& path);

}  // namespace smdebug::inline v1::detail::sqlite
