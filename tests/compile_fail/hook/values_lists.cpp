// Values that no tensor is made of: the message says what to write.
// expect: {rows, columns}
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <deque>
#include <span>
#include <vector>

#ifdef CONTROL
using values = std::vector<float>;
#else
using values = std::vector<std::vector<float>>;
#endif

void use(smdebug::basic_hook<smdebug::memory_storage>& training, const values& given) {
    training.save_tensor("x", given);
}
