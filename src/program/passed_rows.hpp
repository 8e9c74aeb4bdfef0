// What was written down about event files in passing, as rows that go from one process to another, and back.
#pragma once

#include <program/noted_storage.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/trial/read/passed_records.hpp>

#include <memory>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

// In such a row the worker is the file's key, the step and the mode's step are a record's place and length, and the shape is
// the record itself where it is small.

/// The notes about one event file.
void add_notes(row_spool& to, const std::string& key, const smdebug::detail::passed_records& notes);

/// The same back.  Errors: those of row_spool.
[[nodiscard]] std::shared_ptr<const file_notes> notes_of(row_spool& rows);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
