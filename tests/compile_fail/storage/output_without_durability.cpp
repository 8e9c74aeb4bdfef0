// An output that is not asked how safe its object is to be.
// expect: object_output
#include <smdebug/storage/storage_base.hpp>

#include <span>

struct output_without_durability {
    void append(std::span<const smdebug::byte_view> pieces);
#ifdef CONTROL
    void commit(smdebug::durability how);
#else
    void commit();
#endif
};

void fill(smdebug::object_output auto& out);

void use(output_without_durability& out) { fill(out); }
