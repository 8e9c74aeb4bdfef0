// What compiling the library needs, checked before the compiler reports something less clear.
#pragma once

#if __cplusplus < 202002L
#error "smdebug needs C++20: -std=c++20 or newer (CMake: link smdebug::smdebug, which asks for it)."
#elif defined(__clang__) && __clang_major__ < 14
#error "smdebug needs clang 14 or newer, or g++ 12 or newer."
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "smdebug needs g++ 12 or newer, or clang 14 or newer."
#endif
