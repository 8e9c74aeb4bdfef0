// A part of <smdebug/src.hpp>: the bodies of hooks, watching and exports.
#pragma once

#include <smdebug/exporting/impl/csv.ipp>
#include <smdebug/exporting/impl/npz.ipp>
#include <smdebug/exporting/impl/run.ipp>
#include <smdebug/exporting/impl/safetensors.ipp>
#include <smdebug/exporting/impl/tensorboard.ipp>
#include <smdebug/exporting/write/impl/export_walk.ipp>
#include <smdebug/exporting/write/impl/output.ipp>
#include <smdebug/hook/impl/background_sink.ipp>
#include <smdebug/hook/impl/collection_set.ipp>
#include <smdebug/hook/impl/earlier_run.ipp>
#include <smdebug/hook/impl/failure_log.ipp>
#include <smdebug/hook/impl/hook.ipp>
#include <smdebug/hook/impl/hook_door.ipp>
#include <smdebug/hook/impl/hook_json.ipp>
#include <smdebug/hook/impl/hook_options.ipp>
#include <smdebug/hook/impl/hook_state.ipp>
#include <smdebug/hook/impl/run_writer.ipp>
#include <smdebug/hook/impl/save_arguments.ipp>
#include <smdebug/hook/impl/step_writer.ipp>
#include <smdebug/hook/impl/tensor_record.ipp>
#include <smdebug/hook/impl/tensorboard_writer.ipp>
#include <smdebug/hook/impl/written_steps.ipp>
#include <smdebug/watch/impl/recent_steps.ipp>
#include <smdebug/watch/impl/watch.ipp>

namespace smdebug::inline v1 {

template class basic_hook<any_storage>;
template class basic_hook<local_storage>;

}  // namespace smdebug::inline v1
