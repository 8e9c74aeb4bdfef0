// The bodies of <smdebug/storage/storage_base.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

[[noreturn]] inline void refuse(const std::string& store, const char* what, std::string_view key, const char* instead) {
    throw unsupported(store + " cannot " + what + " the object " + std::string{key} + ": " + instead,
                      {.where = std::string{key}});
}

inline constexpr const char* has_no_claims = "make sure that one process at a time writes, or choose another place";

/// Gathers the pieces of an object, and writes them together. Borrows the storage.
class gathered_output final : public object_output {
public:
    gathered_output(storage_base& store, std::string_view key) : store_(store), key_(key) {}

    void append(std::span<const byte_view> pieces) override { gather(bytes_, pieces); }
    void commit(durability /*as write() has it*/) override {
        store_.write(key_, bytes_);
        bytes_ = {};  // the memory is not needed until destruction
    }

private:
    storage_base& store_;
    std::string key_;
    std::vector<std::byte> bytes_;
};

/// The part of an object; nothing if there is no object.
[[nodiscard]] inline std::optional<byte_buffer> part_if_there(const storage_base& store, std::string_view key,
                                                              byte_range where) {
    try {
        return store.read(key, where);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

SMDEBUG_INLINE void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces) {
    std::size_t size = into.size();
    for (const byte_view piece : pieces) {
        size += piece.size();
    }
    if (size > into.capacity()) {
        into.reserve(std::max(size, 2 * into.capacity()));
    }
    for (const byte_view piece : pieces) {
        into.insert(into.end(), piece.begin(), piece.end());
    }
}

}  // namespace detail

SMDEBUG_INLINE void storage_base::read_each(std::span<const std::string> keys, object_sink sink) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::optional<byte_buffer> object = detail::part_if_there(*this, keys[i], whole_object);
        if (!sink(i, object ? std::optional{object->view()} : std::nullopt, {})) {
            return;
        }
    }
}

SMDEBUG_INLINE void storage_base::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (!sink(i, detail::part_if_there(*this, ranges[i].key, ranges[i].where), {})) {
            return;
        }
    }
}

SMDEBUG_INLINE versioned_object storage_base::read_versioned(std::string_view key) const {
    return {.bytes = read(key, whole_object), .version = {}};
}

SMDEBUG_INLINE void storage_base::write(std::string_view key, byte_view /*bytes*/) {
    detail::refuse(name(), "write", key,
                   "it can only be read; choose a storage that has write(), and whose abilities() say so");
}

SMDEBUG_INLINE std::unique_ptr<object_output> storage_base::create(std::string_view key) {
    if (!abilities().writes) {
        storage_base::write(key, {});  // throws
    }
    return std::make_unique<detail::gathered_output>(*this, key);
}

SMDEBUG_INLINE bool storage_base::remove(std::string_view key, durability /*how*/) {
    detail::refuse(name(), "remove", key, "remove it by other means, or choose another place");
}

SMDEBUG_INLINE std::unique_ptr<object_claim> storage_base::claim(std::string_view key, durability /*how*/) {
    detail::refuse(name(), "hold for one writer alone", key, detail::has_no_claims);
}

SMDEBUG_INLINE bool storage_base::claimed(std::string_view key) const {
    detail::refuse(name(), "identify the holder of", key, detail::has_no_claims);
}

}  // namespace smdebug::inline v1
