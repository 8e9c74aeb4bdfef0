// For files that compose decoders, or rules over trials, of types of their own, in the compiled form:
// the bodies of the templates that the library instantiates for its own policies only.  Header-only it changes nothing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rule_registry.tpp>
#include <smdebug/rules/impl/invoke_rules.tpp>
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#include <smdebug/tensor/impl/event_decoder.tpp>

namespace smdebug {
inline namespace v1 {

// What the library has is not made again.
extern template class detail::basic_folder_follower<>;
extern template class rule_session<local_trial>;
extern template class rule_registry<local_trial>;
extern template class rule_session<memory_trial>;
extern template class rule_registry<memory_trial>;
extern template class rule_session<trial>;
extern template class rule_registry<trial>;

}  // namespace v1
}  // namespace smdebug
#endif
