// A clock that returns a plain number without a unit.
// expect: wall_clock
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <chrono>

struct clock_gives_number {
#ifdef CONTROL
    std::chrono::duration<double> now() const;
#else
    double now() const;
#endif
};

using hook = smdebug::basic_hook<smdebug::memory_storage, smdebug::default_kernel, clock_gives_number>;

void use(hook& training) { training.end_step(); }
