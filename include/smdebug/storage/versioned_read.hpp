// Reading a whole object and learning which version of it was read.
// A listing tells the version that an object had; only the reading itself can tell that of the bytes it gave.
// Used by: storages that know, cached_storage.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// An object, and which version of it this is: what entries() would have told at that moment.
struct versioned_object {
    byte_buffer bytes;
    std::string version;  ///< never empty
};

/// Optional, beside entries(): read_versioned(key) reads a whole object as read(key) does, and tells its version.
template <class S>
concept versioned_reader = requires(const S& store, std::string_view key) {
    { store.read_versioned(key) } -> std::same_as<versioned_object>;
};

}  // namespace v1
}  // namespace smdebug
