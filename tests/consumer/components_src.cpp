#include <smdebug/archive_src.hpp>
#include <smdebug/s3_src.hpp>
