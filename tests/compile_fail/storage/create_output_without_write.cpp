// An output for a storage that can only be read.
// expect: object_writer
#include <smdebug/storage/output.hpp>

#include <string_view>

struct create_output_without_write {
#ifdef CONTROL
    void write(std::string_view key, smdebug::byte_view bytes);
#endif
};

void use(create_output_without_write& store) { smdebug::create_output(store, "key").commit({}); }
