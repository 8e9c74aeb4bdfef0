// All rows of a database as lines of text that two databases have alike where they say the same: without ids, and
// without what differs from one scan to the next (scanned_at, seconds).  For tests that compare a scan which was
// resumed, or merged, with one that was not.
#pragma once

#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace sqlite {

/// A line a row, of runs by path, then of the other tables by path and number.  Doubles are exact, NULL and texts are
/// told apart.  Errors: as results_database, and not_found where there is no such file, or it is empty.
/// Memory: all of it at once.
[[nodiscard]] std::string canonical_rows(const std::string& path);

}  // namespace sqlite
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
