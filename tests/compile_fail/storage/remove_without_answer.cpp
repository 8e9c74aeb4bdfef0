// A storage that does not tell whether there was something to remove.
// expect: removing_storage
#include <smdebug/storage/writable.hpp>

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
