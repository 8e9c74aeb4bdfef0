// The instantiations that files in the compiled form find in the library: trials over the storages of this library,
// with the decoder and the kernel that are used where none is named, and hooks.
#include <smdebug/own_policies.hpp>  // which names them all

#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/watch/step_memory.hpp>

#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {

template result<std::vector<double>> quantiles<>(const tensor_view&, std::span<const double>, quantile_options);

template class detail::basic_folder_follower<>;

template class event_decoder<crc_check::full>;
template class event_decoder<crc_check::length_only>;
template class event_decoder<crc_check::none>;

template class detail::trial_state<local_storage, event_decoder<>, default_kernel>;
template class tensor_handle<local_trial::state_type>;
template class detail::step_wait<local_trial::state_type>;
template class basic_trial<local_storage>;

template class detail::trial_state<memory_storage, event_decoder<>, default_kernel>;
template class tensor_handle<memory_trial::state_type>;
template class detail::step_wait<memory_trial::state_type>;
template class basic_trial<memory_storage>;

template class detail::trial_state<any_storage, event_decoder<>, default_kernel>;
template class tensor_handle<trial::state_type>;
template class detail::step_wait<trial::state_type>;
template class basic_trial<any_storage>;

// What walks over whole runs.
template class detail::file_scanner<local_trial::state_type>;
template class detail::scan_walk<local_trial::state_type>;
template struct detail::scan_of<local_trial>;
template class detail::share_cutter<detail::scan_walk<local_trial::state_type>>;
template class detail::file_scanner<memory_trial::state_type>;
template class detail::scan_walk<memory_trial::state_type>;
template struct detail::scan_of<memory_trial>;
template class detail::share_cutter<detail::scan_walk<memory_trial::state_type>>;
template class detail::file_scanner<trial::state_type>;
template class detail::scan_walk<trial::state_type>;
template struct detail::scan_of<trial>;
template class detail::share_cutter<detail::scan_walk<trial::state_type>>;
template class detail::file_scanner<basic_trial<detail::step_memory>::state_type>;
template class detail::scan_walk<basic_trial<detail::step_memory>::state_type>;
template struct detail::scan_of<basic_trial<detail::step_memory>>;
template class detail::share_cutter<detail::scan_walk<basic_trial<detail::step_memory>::state_type>>;

// What rules see inside a training: the steps that a hook keeps in memory.
template class detail::trial_state<detail::step_memory, event_decoder<>, default_kernel>;
template class tensor_handle<basic_trial<detail::step_memory>::state_type>;
template class detail::step_wait<basic_trial<detail::step_memory>::state_type>;
template class basic_trial<detail::step_memory>;
template class detail::run_writer<detail::step_memory>;
template class detail::hook_core<detail::step_memory, default_kernel, system_wall_clock>;

// Rules inside a training.
template class detail::recent_steps<default_kernel>;
template class rule_watcher<default_kernel>;

template class detail::run_writer<local_storage>;
template class detail::hook_core<local_storage, default_kernel, system_wall_clock>;
template class basic_hook<local_storage>;

template class detail::run_writer<memory_storage>;
template class detail::hook_core<memory_storage, default_kernel, system_wall_clock>;
template class basic_hook<memory_storage>;

template class detail::run_writer<any_storage>;
template class detail::hook_core<any_storage, default_kernel, system_wall_clock>;
template class basic_hook<any_storage>;

}  // namespace v1
}  // namespace smdebug
