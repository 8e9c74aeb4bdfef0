// The view of texts that are gone at the end of the expression, also of a single one, whose shape is empty.
// expect: deleted
#include <smdebug/hook/save_arguments.hpp>

#include <string_view>
#include <vector>

std::vector<std::string_view> make();

unsigned long use() {
#ifdef CONTROL
    const std::vector<std::string_view> made = make();
    const auto seen = smdebug::view_of(made, {}, "x");
#else
    const auto seen = smdebug::view_of(make(), {}, "x");
#endif
    return seen.count();
}
