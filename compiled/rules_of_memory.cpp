// Rules over runs in memory: see rule_instances.hpp.
#include "rule_instances.hpp"

#include <smdebug/storage/memory_storage.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_RULES(memory_trial);

}  // namespace v1
}  // namespace smdebug
