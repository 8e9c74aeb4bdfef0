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
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#include <smdebug/watch/impl/recent_steps.tpp>
#include <smdebug/watch/impl/watcher.tpp>

namespace smdebug {
inline namespace v1 {

// What the library has is not made again.
extern template class detail::basic_folder_follower<>;
extern template class detail::run_writer<detail::step_memory>;
extern template class detail::hook_core<detail::step_memory, default_kernel, system_wall_clock>;
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

}  // namespace v1
}  // namespace smdebug
#endif
