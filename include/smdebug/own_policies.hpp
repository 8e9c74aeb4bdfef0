// For files that compose trials, hooks or rules over storages, decoders or kernels of their own, in the compiled form:
// the bodies of the templates that the library instantiates for its own policies only.  Header-only it changes nothing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/watch/watch.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/hook/impl/background_sink.tpp>
#include <smdebug/hook/impl/basic_hook.tpp>
#include <smdebug/hook/impl/earlier_run.tpp>
#include <smdebug/hook/impl/file_sink.tpp>
#include <smdebug/hook/impl/hook_core.tpp>
#include <smdebug/hook/impl/run_claim.tpp>
#include <smdebug/hook/impl/run_writer.tpp>
#include <smdebug/registry/impl/rule_registry.tpp>
#include <smdebug/rules/impl/invoke_rules.tpp>
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#include <smdebug/trial/impl/basic_trial.tpp>
#include <smdebug/trial/impl/scan.tpp>
#include <smdebug/trial/impl/shared_trial.tpp>
#include <smdebug/trial/impl/tensor_handle.tpp>
#include <smdebug/trial/load/impl/index_listing.tpp>
#include <smdebug/trial/load/impl/loader.tpp>
#include <smdebug/trial/load/impl/opening.tpp>
#include <smdebug/trial/load/impl/step_wait.tpp>
#include <smdebug/trial/read/impl/held_steps.tpp>
#include <smdebug/trial/read/impl/steps_ahead.tpp>
#include <smdebug/trial/read/impl/tensor_reader.tpp>
#include <smdebug/trial/read/impl/trial_state.tpp>
#include <smdebug/trial/scan/impl/scan_file.tpp>
#include <smdebug/trial/scan/impl/scan_walk.tpp>
#include <smdebug/watch/impl/recent_steps.tpp>
#include <smdebug/watch/impl/watcher.tpp>

namespace smdebug {
inline namespace v1 {

// What the library has is not made again.
extern template class detail::basic_folder_follower<>;
extern template class detail::trial_state<local_storage, event_decoder<>, default_kernel>;
extern template class tensor_handle<local_trial::state_type>;
extern template class detail::step_wait<local_trial::state_type>;
extern template class basic_trial<local_storage>;
extern template class detail::trial_state<memory_storage, event_decoder<>, default_kernel>;
extern template class tensor_handle<memory_trial::state_type>;
extern template class detail::step_wait<memory_trial::state_type>;
extern template class basic_trial<memory_storage>;
extern template class detail::trial_state<any_storage, event_decoder<>, default_kernel>;
extern template class tensor_handle<trial::state_type>;
extern template class detail::step_wait<trial::state_type>;
extern template class basic_trial<any_storage>;
extern template class detail::trial_state<detail::step_memory, event_decoder<>, default_kernel>;
extern template class tensor_handle<basic_trial<detail::step_memory>::state_type>;
extern template class detail::step_wait<basic_trial<detail::step_memory>::state_type>;
extern template class basic_trial<detail::step_memory>;
extern template class detail::run_writer<detail::step_memory>;
extern template class detail::hook_core<detail::step_memory, default_kernel, system_wall_clock>;
extern template class detail::file_scanner<local_trial::state_type>;
extern template class detail::scan_walk<local_trial::state_type>;
extern template struct detail::scan_of<local_trial>;
extern template class detail::share_cutter<detail::scan_walk<local_trial::state_type>>;
extern template class detail::file_scanner<memory_trial::state_type>;
extern template class detail::scan_walk<memory_trial::state_type>;
extern template struct detail::scan_of<memory_trial>;
extern template class detail::share_cutter<detail::scan_walk<memory_trial::state_type>>;
extern template class detail::file_scanner<trial::state_type>;
extern template class detail::scan_walk<trial::state_type>;
extern template struct detail::scan_of<trial>;
extern template class detail::share_cutter<detail::scan_walk<trial::state_type>>;
extern template class detail::file_scanner<basic_trial<detail::step_memory>::state_type>;
extern template class detail::scan_walk<basic_trial<detail::step_memory>::state_type>;
extern template struct detail::scan_of<basic_trial<detail::step_memory>>;
extern template class detail::share_cutter<detail::scan_walk<basic_trial<detail::step_memory>::state_type>>;
extern template class detail::recent_steps<default_kernel>;
extern template class rule_watcher<default_kernel>;
extern template class detail::hook_core<local_storage, default_kernel, system_wall_clock>;
extern template class detail::run_writer<local_storage>;
extern template class basic_hook<local_storage>;
extern template class detail::hook_core<memory_storage, default_kernel, system_wall_clock>;
extern template class detail::run_writer<memory_storage>;
extern template class basic_hook<memory_storage>;
extern template class detail::hook_core<any_storage, default_kernel, system_wall_clock>;
extern template class detail::run_writer<any_storage>;
extern template class basic_hook<any_storage>;
extern template class detail::shared_tensors<local_trial>;
extern template class detail::shared_tensor<local_trial>;
extern template class shared_trial<local_trial>;
extern template class rule_session<local_trial>;
extern template class rule_registry<local_trial>;
extern template class detail::shared_tensors<memory_trial>;
extern template class detail::shared_tensor<memory_trial>;
extern template class shared_trial<memory_trial>;
extern template class rule_session<memory_trial>;
extern template class rule_registry<memory_trial>;
extern template class detail::shared_tensors<trial>;
extern template class detail::shared_tensor<trial>;
extern template class shared_trial<trial>;
extern template class rule_session<trial>;
extern template class rule_registry<trial>;

}  // namespace v1
}  // namespace smdebug
#endif
