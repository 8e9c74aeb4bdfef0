// A part of <smdebug/src.hpp>: the bodies of trials.
#pragma once

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/impl/catalog.ipp>
#include <smdebug/trial/catalog/impl/catalog_builder.ipp>
#include <smdebug/trial/catalog/impl/catalog_growth.ipp>
#include <smdebug/trial/catalog/impl/layout.ipp>
#include <smdebug/trial/catalog/impl/load_memory.ipp>
#include <smdebug/trial/catalog/impl/name_list.ipp>
#include <smdebug/trial/catalog/impl/name_query.ipp>
#include <smdebug/trial/catalog/impl/name_table.ipp>
#include <smdebug/trial/catalog/impl/names_found.ipp>
#include <smdebug/trial/impl/create_trial.ipp>
#include <smdebug/trial/impl/diff_runs.ipp>
#include <smdebug/trial/impl/environment.ipp>
#include <smdebug/trial/impl/for_each_tensor.ipp>
#include <smdebug/trial/impl/lookup.ipp>
#include <smdebug/trial/impl/reduced_tensor.ipp>
#include <smdebug/trial/impl/run_contents.ipp>
#include <smdebug/trial/impl/scan.ipp>
#include <smdebug/trial/impl/scanned_tensor.ipp>
#include <smdebug/trial/impl/selection.ipp>
#include <smdebug/trial/impl/tensor_handle.ipp>
#include <smdebug/trial/impl/trial.ipp>
#include <smdebug/trial/impl/verify.ipp>
#include <smdebug/trial/load/impl/collections_check.ipp>
#include <smdebug/trial/load/impl/index_keys.ipp>
#include <smdebug/trial/load/impl/index_listing.ipp>
#include <smdebug/trial/load/impl/loader.ipp>
#include <smdebug/trial/load/impl/opening.ipp>
#include <smdebug/trial/load/impl/wait.ipp>
#include <smdebug/trial/read/impl/entry_decoder.ipp>
#include <smdebug/trial/read/impl/event_files.ipp>
#include <smdebug/trial/read/impl/event_reader.ipp>
#include <smdebug/trial/read/impl/event_records.ipp>
#include <smdebug/trial/read/impl/event_source.ipp>
#include <smdebug/trial/read/impl/faster_way.ipp>
#include <smdebug/trial/read/impl/files_ahead.ipp>
#include <smdebug/trial/read/impl/first_values.ipp>
#include <smdebug/trial/read/impl/missing_files.ipp>
#include <smdebug/trial/read/impl/opened_event_file.ipp>
#include <smdebug/trial/read/impl/passed_records.ipp>
#include <smdebug/trial/read/impl/reading_plan.ipp>
#include <smdebug/trial/read/impl/record_batch.ipp>
#include <smdebug/trial/read/impl/step_prefetch.ipp>
#include <smdebug/trial/read/impl/step_wait.ipp>
#include <smdebug/trial/read/impl/stored_tensor.ipp>
#include <smdebug/trial/read/impl/tensor_reader.ipp>
#include <smdebug/trial/read/impl/trial_state.ipp>
#include <smdebug/trial/read/impl/value_stream.ipp>
#include <smdebug/trial/shared/impl/passing_reductions.ipp>
#include <smdebug/trial/shared/impl/read_log.ipp>
#include <smdebug/trial/shared/impl/step_cache.ipp>

namespace smdebug {
inline namespace v1 {

template trial::trial(local_storage, trial_options, event_decoder<>, default_kernel);
template trial::trial(memory_storage, trial_options, event_decoder<>, default_kernel);

}  // namespace v1
}  // namespace smdebug
