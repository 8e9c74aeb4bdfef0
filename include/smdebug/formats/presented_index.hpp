// The index file of what a run_contents has of one worker and step, as the Python package would have written it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/run_contents.hpp>

#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// "index/000000000/000000000005_worker_0.json"
[[nodiscard]] std::string index_key_of(const run_contents& contents, const presented_file& file);
/// The event file that is put together, or the object that is one.
[[nodiscard]] std::string event_key_of(const run_contents& contents, const presented_file& file);
/// The whole file.      Cost: some hundred nanoseconds an entry.
[[nodiscard]] std::string index_text_of(const run_contents& contents, const presented_file& file);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/presented_index.ipp>
#endif
