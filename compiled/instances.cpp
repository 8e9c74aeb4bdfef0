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
