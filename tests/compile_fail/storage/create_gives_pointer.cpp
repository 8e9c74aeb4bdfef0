// A storage whose outputs come behind pointers.
// expect: appending_storage
#include <smdebug/storage/storage_base.hpp>

#include <memory>
#include <span>
#include <string_view>

struct sink {
    void append(std::span<const smdebug::byte_view> pieces);
    void commit(smdebug::durability how);
};

struct create_gives_pointer {
#ifdef CONTROL
    sink create(std::string_view key);
#else
    std::unique_ptr<sink> create(std::string_view key);
#endif
};

void save(smdebug::appending_storage auto& store);

void use(create_gives_pointer& store) { save(store); }
