#include <smdebug/src.hpp>
