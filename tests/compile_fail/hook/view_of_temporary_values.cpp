// The view of elements that are gone at the end of the expression; a span of others lives long enough.
// expect: deleted
#include <smdebug/hook/save_arguments.hpp>

#include <array>
#include <span>
#include <vector>

std::vector<float> make();

unsigned long use() {
    const std::array<std::size_t, 1> shape{2};
#ifdef CONTROL
    const std::vector<float> made = make();
    const auto seen = smdebug::view_of(made, shape, "x");
    return seen.count() + smdebug::view_of(std::span{made}, std::span{shape}, "x").count();
#else
    const auto seen = smdebug::view_of(make(), shape, "x");
    return seen.count();
#endif
}
