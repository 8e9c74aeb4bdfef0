// The view of a tensor whose shape is gone at the end of the expression.
// expect: deleted
#include <smdebug/hook/save_arguments.hpp>

#include <array>
#include <vector>

unsigned long use(const std::vector<float>& values) {
#ifdef CONTROL
    const std::array<std::size_t, 1> shape{2};
    const auto seen = smdebug::view_of(values, shape, "x");
#else
    const auto seen = smdebug::view_of(values, std::array<std::size_t, 1>{2}, "x");
#endif
    return seen.count();
}
