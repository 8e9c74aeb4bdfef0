// A storage that changes when asked whether a key is held.
// expect: claiming_storage
#include <smdebug/storage/storage_base.hpp>

#include <memory>
#include <string_view>

struct held_key {
    void release();
    std::unique_ptr<int> token;
};

struct claimed_not_const {
    held_key claim(std::string_view key);
#ifdef CONTROL
    bool claimed(std::string_view key) const;
#else
    bool claimed(std::string_view key);
#endif
};

void hold(smdebug::claiming_storage auto& store);

void use(claimed_not_const& store) { hold(store); }
