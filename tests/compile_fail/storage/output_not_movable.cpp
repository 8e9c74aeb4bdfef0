// An output that cannot be handed on.
// expect: object_output
#include <smdebug/storage/storage_base.hpp>

#include <span>

struct output_not_movable {
#ifndef CONTROL
    output_not_movable(output_not_movable&&) = delete;
#endif
    void append(std::span<const smdebug::byte_view> pieces);
    void commit(smdebug::durability how);
};

void fill(smdebug::object_output auto& out);

void use(output_not_movable& out) { fill(out); }
