// Forward declarations of the library's main types, for headers of users that only name them.
// Without default arguments: the default kernel is that of the instruction set that a file is compiled for, and naming
// it takes xsimd's headers.
// Used by: users.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/concepts.hpp>

namespace smdebug {
inline namespace v1 {

class local_storage;
class memory_storage;
class any_storage;
class tensor_value;
class scalar_kernel;
struct collection;
struct finding;
struct trial_options;

template <class Arch>
class simd_kernel;

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
class trial_state;

template <class State>
class tensor_handle;

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
class basic_trial;

}  // namespace v1
}  // namespace smdebug
