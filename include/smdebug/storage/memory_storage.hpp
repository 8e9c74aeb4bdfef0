// A storage that is a map in memory: the reference for how a storage behaves, and a place for runs that never reach a
// disk.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/writable.hpp>

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
class memory_storage {
    struct state;

public:
    class follower;
    class output;
    class held_key;

    /// name() returns "memory:<label>".
    memory_storage() : memory_storage("run") {}
    explicit memory_storage(const std::string& label);

    /// An object, or a part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const;

    /// The whole object and its version, see entries(). Errors: not_found.
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const;

    /// The whole object, as read() returns it, or nothing if it does not exist.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const;

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;

    /// The same with sizes and versions: the number and time of the write, so that versions differ between storages.
    [[nodiscard]] std::vector<object_entry> entries(std::string_view prefix, std::string_view after,
                                                    std::size_t most) const;

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;

    /// When the object was last written, by this machine's clock.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const;

    /// Returns each key that starts with `prefix` once it has appeared; a key that was written again is repeated.
    [[nodiscard]] follower follow(std::string_view prefix) const;

    /// A signal that wakes at each write and removal of a key that starts with one of the prefixes.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const;

    [[nodiscard]] std::string name() const { return name_; }

    /// Stores an object, or replaces it. Copies the bytes.
    void write(std::string_view key, byte_view bytes);

    /// Writes an object piece by piece. Copies the pieces once.
    [[nodiscard]] output create(std::string_view key);

    /// Removes an object. Returns whether it existed.
    bool remove(std::string_view key);

    /// Holds a key by an object under it. Errors: in_use if there is an object under the key, whatever its owner.
    [[nodiscard]] held_key claim(std::string_view key);

    /// Whether there is an object under the key: a claim, or something else.
    [[nodiscard]] bool claimed(std::string_view key) const { return size(key).has_value(); }

private:
    struct object;
    [[nodiscard]] not_found missing(std::string_view key) const;

    std::string name_;
    std::shared_ptr<state> state_;
};

/// Lists what has appeared in a memory_storage, which it keeps alive; models key_follower. Never returns a key twice
/// unless it was removed in between.
/// Cost: one step for each new key, whatever its prefix. Threads: one at a time.
class memory_storage::follower {
public:
    [[nodiscard]] std::vector<std::string> next();

    /// Makes the next call list everything.
    void forget() noexcept { next_arrival_ = 0; }

private:
    friend class memory_storage;
    follower(std::shared_ptr<const state> followed, std::string_view prefix)
        : state_(std::move(followed)), prefix_(prefix) {}

    std::shared_ptr<const state> state_;
    std::string prefix_;
    std::uint64_t next_arrival_ = 0;
};

inline memory_storage::follower memory_storage::follow(std::string_view prefix) const {
    return follower{state_, prefix};
}

/// An object being written into a memory_storage, which it keeps alive; models object_output.
class memory_storage::output {
public:
    output(output&&) = default;
    output& operator=(output&&) = default;
    output(const output&) = delete;
    output& operator=(const output&) = delete;
    ~output() = default;

    void append(std::span<const byte_view> pieces) { detail::gather(bytes_, pieces); }
    /// Moves the bytes in. `on_disk` has no effect: memory is lost with the process.
    void commit(durability /*none is more than another*/);

private:
    friend class memory_storage;
    output(std::shared_ptr<state> place, std::string_view key) : state_(std::move(place)), key_(key) {}

    std::shared_ptr<state> state_;
    std::string key_;
    std::vector<std::byte> bytes_;
};

inline memory_storage::output memory_storage::create(std::string_view key) { return output{state_, key}; }

/// A key held in a memory_storage, which it keeps alive; models object_claim.
class memory_storage::held_key {
public:
    held_key(held_key&&) = default;
    held_key& operator=(held_key&& other) noexcept;
    held_key(const held_key&) = delete;
    held_key& operator=(const held_key&) = delete;
    ~held_key() { release(); }

    /// Removes the object, unless others removed or replaced it.
    void release() noexcept;

private:
    friend class memory_storage;
    held_key(std::shared_ptr<state> place, std::string_view key);

    std::shared_ptr<state> state_;  // null: nothing is held
    std::string key_;
    byte_buffer object_;
};

inline memory_storage::held_key memory_storage::claim(std::string_view key) { return held_key{state_, key}; }

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/memory_storage.ipp>
#endif
