// An output whose commit() does not take the durability.
// expect: override
#include <smdebug/storage/concepts.hpp>

#include <span>

struct output_without_commit : smdebug::object_output {
    void append(std::span<const smdebug::byte_view> pieces) override;
#ifdef CONTROL
    void commit(smdebug::durability how) override;
#else
    void commit() override;
#endif
};
