// std::stop_token and std::jthread, or an error if they are missing: libc++ has them from version 20 on.
#pragma once

#include <version>

#if !defined(__cpp_lib_jthread)
#error "smdebug needs <stop_token>: libstdc++, or libc++ 20 or newer."
#else
#include <stop_token>
#include <thread>
#endif
