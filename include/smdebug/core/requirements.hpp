// What compiling the library needs, checked before the compiler reports something less clear.
#pragma once

#if __cplusplus < 202002L
#error "smdebug needs C++20: -std=c++20 or newer (CMake: link smdebug::smdebug, which asks for it)."
#elif defined(__clang__) && __clang_major__ < 14
#error "smdebug needs clang 14 or newer, or g++ 12 or newer."
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "smdebug needs g++ 12 or newer, or clang 14 or newer."
#endif

// Offsets and sizes in event files and archives are 64 bits wide, and elements are taken from the bytes as they lie there.
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "smdebug needs a 64-bit target: runs are larger than what 32-bit addresses reach."
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "smdebug needs a little-endian target: tensors are read as they lie in files, which are little-endian."
#endif
