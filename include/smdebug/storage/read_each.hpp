// Reading many whole objects, by the storage's own batch read where it has one.
// Used by: trial (index files), any_storage.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace smdebug {
inline namespace v1 {

/// Calls `sink` for each key, in order, with the object or with nothing where it is not there.
/// Errors: what the storage throws, except not_found; what `sink` throws ends the reading.
template <storage Storage>
void read_each(const Storage& store, std::span<const std::string> keys, object_sink sink) {
    if constexpr (batch_reader<Storage>) {
        store.read_each(keys, sink);
    } else {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            std::optional<byte_buffer> object;
            try {
                object = store.read(keys[i]);
            } catch (const not_found&) {
                object.reset();
            }
            sink(i, object ? std::optional{object->view()} : std::nullopt);
        }
    }
}

}  // namespace v1
}  // namespace smdebug
