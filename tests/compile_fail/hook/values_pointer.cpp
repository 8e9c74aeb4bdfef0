// Values that no tensor is made of: the message says what to write.
// expect: std::span(pointer, count)
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <deque>
#include <span>
#include <vector>

#ifdef CONTROL
using values = std::span<const float>;
#else
using values = const float*;
#endif

void use(smdebug::basic_hook<smdebug::memory_storage>& training, const values& given) {
    training.save_tensor("x", given);
}
