// Values that no tensor is made of: the message says what to write.
// expect: char is not an element type
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <deque>
#include <span>
#include <vector>

#ifdef CONTROL
using values = std::vector<signed char>;
#else
using values = std::vector<char>;
#endif

void use(smdebug::basic_hook<smdebug::memory_storage>& training, const values& given) {
    training.save_tensor("x", given);
}
