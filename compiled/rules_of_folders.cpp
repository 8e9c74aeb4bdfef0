// Rules over runs in folders: see rule_instances.hpp.
#include "rule_instances.hpp"

#include <smdebug/storage/local_storage.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_RULES(local_trial);

}  // namespace v1
}  // namespace smdebug
