// The version of the library: the only macros of its own in the public headers (index/regex.hpp sets one that PCRE2
// asks for). Macros, because a user's #if has to see them.
#pragma once

#define SMDEBUG_VERSION_MAJOR 0
#define SMDEBUG_VERSION_MINOR 1
#define SMDEBUG_VERSION_PATCH 0
