// Elements of a type that no tensor has.
// expect: element
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <vector>

#ifdef CONTROL
using element = double;
#else
using element = long double;
#endif

void use(smdebug::basic_hook<smdebug::memory_storage>& training, const std::vector<element>& values) {
    training.save_tensor("x", values, {2, 3});
}
