// The reason of a look-up that is gone at the end of the expression.
// expect: deleted
#include <smdebug/trial/lookup.hpp>

smdebug::lookup<double> find();

bool use() {
#ifdef CONTROL
    const auto found = find();
    const auto& why = found.error();
#else
    const auto& why = find().error();
#endif
    return smdebug::is_lost(why);
}
