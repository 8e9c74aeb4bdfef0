// A part of <smdebug/src.hpp>: the bodies of trials.
#pragma once

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/impl/catalog.ipp>
#include <smdebug/trial/catalog/impl/catalog_builder.ipp>
#include <smdebug/trial/catalog/impl/layout.ipp>
#include <smdebug/trial/impl/basic_trial.ipp>
#include <smdebug/trial/impl/diff_runs.ipp>
#include <smdebug/trial/impl/lookup.ipp>
#include <smdebug/trial/impl/reduce_in_passing.ipp>
#include <smdebug/trial/impl/run_contents.ipp>
#include <smdebug/trial/impl/scanned_tensor.ipp>
#include <smdebug/trial/impl/selection.ipp>
#include <smdebug/trial/impl/step_stream.ipp>
#include <smdebug/trial/impl/tensor_handle.ipp>
#include <smdebug/trial/impl/trial.ipp>
#include <smdebug/trial/impl/verify.ipp>
#include <smdebug/trial/load/impl/loader.ipp>
#include <smdebug/trial/load/impl/opening.ipp>
#include <smdebug/trial/load/impl/wait.ipp>
#include <smdebug/trial/read/impl/entry_decoder.ipp>
#include <smdebug/trial/read/impl/event_files.ipp>
#include <smdebug/trial/read/impl/event_reader.ipp>
#include <smdebug/trial/read/impl/event_source.ipp>
#include <smdebug/trial/read/impl/reading_plan.ipp>
#include <smdebug/trial/read/impl/record_batch.ipp>
#include <smdebug/trial/read/impl/scan.ipp>
#include <smdebug/trial/read/impl/selected_tensors.ipp>
#include <smdebug/trial/read/impl/tensor_reader.ipp>
#include <smdebug/trial/read/impl/trial_state.ipp>
#include <smdebug/trial/shared/impl/rule_view.ipp>
#include <smdebug/trial/shared/impl/step_cache.ipp>
#include <smdebug/trial/shared/impl/steps_ahead.ipp>

namespace smdebug::inline v1 {

template trial::trial(local_storage, trial_options, event_decoder<>, default_kernel);
template trial::trial(memory_storage, trial_options, event_decoder<>, default_kernel);

}  // namespace smdebug::inline v1
