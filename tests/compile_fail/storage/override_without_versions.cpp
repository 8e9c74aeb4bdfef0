// A batch read whose sink takes no versions.
// expect: override
#include <smdebug/storage/storage_base.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

struct override_without_versions : smdebug::storage_base {
#ifdef CONTROL
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const override;
#else
    void read_ranges(std::span<const smdebug::object_range> ranges,
                     smdebug::function_ref<void(std::size_t)> sink) const override;
#endif
};
