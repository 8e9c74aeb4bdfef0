#include <smdebug/watch/watched_trial.hpp>

#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/trial/concepts.hpp>

#include <concepts>

using namespace smdebug;

static_assert(readable_trial<smdebug::detail::watched_trial<>> && scannable_trial<smdebug::detail::watched_trial<>>);
static_assert(std::same_as<smdebug::detail::watched_trial<>::storage_type, smdebug::detail::step_memory>);
static_assert(std::same_as<smdebug::detail::watched_trial<scalar_kernel>::kernel_type, scalar_kernel>);
