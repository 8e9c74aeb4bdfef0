#include <smdebug/s3.hpp>
#include <smdebug/smdebug.hpp>

int second() { return 0; }
