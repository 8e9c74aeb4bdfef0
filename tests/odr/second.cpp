#include <smdebug/smdebug.hpp>

int second() { return 0; }
