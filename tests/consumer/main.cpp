// A user's program: includes the installed headers and calls them.
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/version.hpp>
#if __has_include(<smdebug/smdebug.hpp>)
#include <smdebug/smdebug.hpp>
#endif

#include <cstdio>

int main() {
    std::printf("smdebug %d.%d.%d, float32 has %zu bytes\n", SMDEBUG_VERSION_MAJOR, SMDEBUG_VERSION_MINOR,
                SMDEBUG_VERSION_PATCH, smdebug::size_of(smdebug::dtype::float32));
    return smdebug::size_of(smdebug::dtype::float32) == 4 ? 0 : 1;
}
