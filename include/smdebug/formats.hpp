// Data of other tools as runs: TensorBoard's logs, checkpoints, runs without their index.
// In a program of which one file includes it (any one), create_trial("logs/") and others open what lies there, in all its files;
// in others they only know runs of the Python package.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/concepts.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/formats/presented_run.hpp>
#include <smdebug/formats/repair_index.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/storage/open_storage.hpp>

#ifdef SMDEBUG_COMPILED
namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

// A weak reference takes nothing out of a library; this one does.
extern const int opened_by_path;
[[gnu::used]] inline const int* const uses_opened_by_path = &opened_by_path;

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
#else
#include <smdebug/formats/impl/opened.ipp>
#endif
