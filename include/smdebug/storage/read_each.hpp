// Reading many whole objects, by the storage's own batch read where it has one.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <cstddef>
#include <new>
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

/// The same with the version that each object is, as far as the storage tells.
template <storage Storage>
void read_each_versioned(const Storage& store, std::span<const std::string> keys, versioned_object_sink sink) {
    if constexpr (versioned_batch_reader<Storage>) {
        store.read_each_versioned(keys, sink);
    } else {
        read_each(store, keys, [&](std::size_t i, std::optional<byte_view> bytes) { sink(i, bytes, {}); });
    }
}

/// The same past objects that the storage fails to read, or has no memory for (unavailable): calls failed(place, error)
/// for such a one and goes on behind it.  Either may return false, which ends the reading: false is returned then.
/// Errors: what `sink` and `failed` throw; in `failed`, `throw;` gives the storage's own.
template <storage Storage, class Sink, class Failed>
bool read_each_past_errors(const Storage& store, std::span<const std::string> keys, Sink&& sink, Failed&& failed) {
    std::size_t next = 0;
    bool in_sink = false;
    while (next < keys.size()) {
        const std::size_t first = next;
        try {
            read_each(store, keys.subspan(first), [&](std::size_t i, std::optional<byte_view> bytes) {
                next = first + i;
                in_sink = true;
                if (!detail::goes_on(sink, next, bytes)) {
                    throw detail::reading_ended{};
                }
                in_sink = false;
                ++next;
            });
            return true;
        } catch (const detail::reading_ended&) {
            return false;
        } catch (const error& why) {
            if (in_sink) {
                throw;
            }
            if (!detail::goes_on(failed, next, why)) {
                return false;
            }
            ++next;
        } catch (const std::bad_alloc&) {
            if (in_sink) {
                throw;
            }
            try {
                throw unavailable("not enough memory to read " + keys[next], {.where = keys[next]});
            } catch (const error& why) {
                if (!detail::goes_on(failed, next, why)) {
                    return false;
                }
            }
            ++next;
        }
    }
    return true;
}

}  // namespace v1
}  // namespace smdebug
