// A process that has run out of file descriptors.
#pragma once

#include "support/test.hpp"

#include <sys/resource.h>
#include <unistd.h>

namespace smdebug_test {

/// Calls call() when no more descriptor can be opened, and again when one can, which is not enough either.
template <class Call>
void without_descriptors(Call&& call) {
    struct rlimit before = {};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int lowest = ::dup(0);  // the lowest free number is the limit
    REQUIRE(lowest >= 0);
    ::close(lowest);
    for (const int more : {0, 1}) {
        const struct rlimit none = {.rlim_cur = static_cast<::rlim_t>(lowest + more), .rlim_max = before.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
        call();
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    }
}

}  // namespace smdebug_test
