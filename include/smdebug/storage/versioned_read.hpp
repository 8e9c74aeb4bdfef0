// Reading objects, or parts of them, and learning which version was read.
// A listing tells the version that an object had; only the reading itself can tell that of the bytes it gave: what is
// put together of several readings is one object's only if they tell the same.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// Which of the objects that were ever under a key some bytes are of, as far as their reading tells.
struct object_version {
    std::string tag = {};                    ///< what entries() would have told; empty: not told
    std::optional<std::uint64_t> size = {};  ///< of the whole object
    friend bool operator==(const object_version&, const object_version&) = default;

    /// Whether they are known to be of two objects.  A part that is unknown counts as equal.
    [[nodiscard]] bool differs_from(const object_version& other) const noexcept {
        return (!tag.empty() && !other.tag.empty() && tag != other.tag) || (size && other.size && *size != *other.size);
    }

    /// Adds what another part of the same object tells.  False, and nothing added, where the parts are of two versions.
    [[nodiscard]] bool merge(const object_version& other);
};

namespace detail {

/// Thrown out of the sinks of a storage, which return nothing, to end its reading.
struct reading_ended {};

/// How often an object that is replaced while its parts are read is begun anew, before throw_replaced().
inline constexpr int most_versions = 5;

/// Throws unavailable: the object was replaced again and again.
[[noreturn]] void throw_replaced(const std::string& name);

}  // namespace detail

/// As object_sink and range_sink, and the version that the bytes are of; nothing is told of what is not there.
using versioned_object_sink = function_ref<void(std::size_t, std::optional<byte_view>, const object_version&)>;
using versioned_range_sink = function_ref<void(std::size_t, std::optional<byte_buffer>, const object_version&)>;

/// Optional: read_each_versioned(keys, sink) and read_ranges_versioned(ranges, sink) do what read_each() and
/// read_ranges() do, and tell versions.  Two parts of one object may be of two versions of it; each for itself is of
/// one.
template <class S>
concept versioned_batch_reader =
    requires(const S& store, std::span<const std::string> keys, std::span<const object_range> ranges,
             versioned_object_sink object, versioned_range_sink part) {
        { store.read_each_versioned(keys, object) } -> std::same_as<void>;
        { store.read_ranges_versioned(ranges, part) } -> std::same_as<void>;
    };

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/versioned_read.ipp>
#endif
