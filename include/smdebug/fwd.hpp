// Forward declarations, for headers of users that only name the library's types: a fraction of a second less each.
// Not here: what is constrained by a concept or defaults to the instruction set that a file is compiled for
// (basic_trial and its aliases); declaring it takes the headers that this one is there to avoid.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {

class any_place;
class any_storage;
class byte_buffer;
class error;
class hook_observer;
class local_storage;
class memory_storage;
struct reduction_set;
class scalar_kernel;
class tensor_value;
enum class reduction : std::uint8_t;
struct collection;
struct finding;
struct hook_counters;
struct hook_options;
struct reduction_key;
struct reduction_values;
struct rule_outcome;
struct tensor_view;
struct trial_options;

template <class Arch>
class simd_kernel;

template <class State>
class tensor_handle;

}  // namespace v1
}  // namespace smdebug
