// A storage whose remove() does not return whether the object existed.
// expect: removing_storage
#include <smdebug/storage/storage_base.hpp>

#include <string_view>

struct remove_without_answer {
#ifdef CONTROL
    bool remove(std::string_view key);
#else
    void remove(std::string_view key);
#endif
};

void clean(smdebug::removing_storage auto& store);

void use(remove_without_answer& store) { clean(store); }
