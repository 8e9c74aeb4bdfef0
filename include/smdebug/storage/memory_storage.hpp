// A storage that is a map in memory: the reference for how a storage behaves, and a place for runs that never reach a
// disk.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Calls visit(key, object) for the objects of a map whose keys start with `prefix`, in order, strictly after `after`,
/// until it returns false.
template <class Objects, class Visit>
void each_listed(const Objects& objects, std::string_view prefix, std::string_view after, Visit&& visit) {
    for (auto entry = objects.lower_bound(after > prefix ? after : prefix);
         entry != objects.end() && entry->first.starts_with(prefix); ++entry) {
        if (entry->first != after && !visit(entry->first, entry->second)) {
            return;
        }
    }
}

/// The keys of those objects.
template <class Objects>
[[nodiscard]] std::vector<std::string> listed_keys(const Objects& objects, std::string_view prefix,
                                                   std::string_view after) {
    std::vector<std::string> keys;
    each_listed(objects, prefix, after, [&](const std::string& key, const auto&) {
        keys.push_back(key);
        return true;
    });
    return keys;
}

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {

/// Objects in memory. Copies are handles on the same objects, so that a writer and a trial can share one.
/// Reading shares the bytes: no copy, and a replaced object stays whole for its readers.
/// Threads: everything may be called concurrently.
class memory_storage : public storage_base {
public:
    /// name() returns "memory:<label>".
    memory_storage() : memory_storage("run") {}
    explicit memory_storage(const std::string& label);

    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .reads_ahead = false,
                .opens_small = false,
                .follows = true,
                .writes = true,
                .removes = true,
                .claims = true};
    }

    /// An object, or a part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;

    /// The whole object and its version, see entries(). Errors: not_found.
    [[nodiscard]] SMDEBUG_INLINE versioned_object read_versioned(std::string_view key) const override;

    /// The whole object, as read() returns it, or nothing if it does not exist.
    [[nodiscard]] SMDEBUG_INLINE std::optional<byte_buffer> view(std::string_view key) const override;

    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;

    /// Lists objects with sizes and versions: the number and time of the write, so that versions of two storages
    /// differ.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::vector<object_entry>> entries(std::string_view prefix,
                                                                                  std::string_view after,
                                                                                  std::size_t most) const override;

    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> size(std::string_view key) const override;

    /// When the object was last written, by this machine's clock.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> modified(
        std::string_view key) const override;

    /// Returns each key that starts with `prefix` once it has appeared; a key that was written again is repeated. Keeps
    /// the objects alive. Cost: one step for each new key, whatever its prefix.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<key_follower> follow(std::string_view prefix) const override;

    /// A signal that wakes at each write and removal of a key that starts with one of the prefixes.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<change_signal> watch(
        std::span<const std::string> prefixes) const override;

    [[nodiscard]] std::string name() const override { return name_; }

    /// Stores an object, or replaces it. Copies the bytes.
    SMDEBUG_INLINE void write(std::string_view key, byte_view bytes) override;

    /// Writes an object piece by piece. Copies the pieces once. `on_disk` has no effect: memory is lost with the
    /// process.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_output> create(std::string_view key) override;

    /// Removes an object. Returns whether it existed.
    SMDEBUG_INLINE bool remove(std::string_view key, durability how = durability::cached) override;

    /// Holds a key by an object under it. Errors: in_use if there is an object under the key, whatever its owner.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_claim> claim(std::string_view key,
                                                                     durability how = durability::cached) override;

    /// Whether there is an object under the key: a claim, or something else.
    [[nodiscard]] bool claimed(std::string_view key) const override { return size(key).has_value(); }

private:
    struct object;
    struct state;
    class follower;
    class output;
    class held_key;

    std::string name_;
    std::shared_ptr<state> state_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/memory_storage.ipp>
#endif
