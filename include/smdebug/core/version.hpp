// The library's version: the only macros that its public headers define (except one in index/regex.hpp that PCRE2
// requires). They are macros so that a user's #if can see them.
#pragma once

#define SMDEBUG_VERSION_MAJOR 0
#define SMDEBUG_VERSION_MINOR 1
#define SMDEBUG_VERSION_PATCH 0
