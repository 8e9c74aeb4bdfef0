// Rules over runs whose storage is chosen when they are opened: see rule_instances.hpp.
#include "rule_instances.hpp"

#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_RULES(trial);

}  // namespace v1
}  // namespace smdebug
