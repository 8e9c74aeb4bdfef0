// A storage that is a map in memory: the reference of what a storage does, and a place for runs that never see a disk.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/announcer.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/output.hpp>
#include <smdebug/storage/versioned_read.hpp>
#include <smdebug/storage/writable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Calls visit(key, object) for the objects of a map whose keys start with `prefix`, in order, strictly after `after`,
/// until it gives false.
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

}  // namespace detail

/// Objects in memory.  Copies are handles on the same objects, so that a writer and a trial can share one.
/// Reading shares the bytes: no copy, and an object that is replaced stays whole for those who hold it.
/// Threads: everything may be called at once.
class memory_storage {
    struct state;

public:
    class follower;
    class output;
    class held_key;

    /// `label` is what name() gives, as "memory:<label>".
    memory_storage() : memory_storage("run") {}
    explicit memory_storage(const std::string& label) : name_("memory:" + label), state_(std::make_shared<state>()) {}

    /// The whole object.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key) const;

    /// A part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return read(key).slice(where); }

    /// The whole object and its version, see entries().  Errors: not_found.
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const;

    /// The whole object, as read() gives it; nothing where it is not there.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const;

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;

    /// The same with sizes and versions: the number of the write and when it was, so that no other storage's are equal.
    [[nodiscard]] std::vector<object_entry> entries(std::string_view prefix, std::string_view after,
                                                    std::size_t most) const;

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;

    /// When the object was last written, by this machine's clock.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const;

    /// Gives each key that starts with `prefix` when it has appeared; one that went and came back comes again.
    [[nodiscard]] follower follow(std::string_view prefix) const;

    /// A signal that wakes at each write and removal of a key that starts with one of the prefixes.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return state_->announces.watch(prefixes);
    }

    [[nodiscard]] std::string name() const { return name_; }

    /// Puts an object there, or another in its place.  Copies the bytes.
    void write(std::string_view key, byte_view bytes) {
        state_->put(key, byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end())));
    }

    /// An object written piece by piece.  Copies the pieces, once.
    [[nodiscard]] output create(std::string_view key);

    /// Takes an object away.  Returns whether it was there.
    bool remove(std::string_view key) { return state_->take_away(key); }

    /// Holds a key by an object under it.  Errors: in_use when there is an object under the key, by whom ever.
    [[nodiscard]] held_key claim(std::string_view key);

    /// Whether there is an object under the key: a claim, or something else.
    [[nodiscard]] bool claimed(std::string_view key) const { return size(key).has_value(); }

private:
    struct object {
        byte_buffer bytes;
        std::chrono::system_clock::time_point written;
        std::uint64_t arrival = 0;
        std::uint64_t write = 0;  // its number

        [[nodiscard]] std::string version() const {
            return std::to_string(write) + "@" + std::to_string(written.time_since_epoch().count());
        }
    };
    [[nodiscard]] not_found missing(std::string_view key) const {
        return not_found{"there is no object " + std::string{key} + " in " + name_, {.where = std::string{key}}};
    }
    struct state {
        mutable std::shared_mutex guard;
        std::map<std::string, object, std::less<>> objects;
        std::map<std::uint64_t, std::string_view> arrivals;  // the objects' keys in the order of their coming
        std::uint64_t next_arrival = 1;
        std::uint64_t writes = 0;
        detail::announcer announces;

        // Puts an object there, in the place of another unless that is to stay; returns whether it has.
        bool put(std::string_view key, byte_buffer bytes, bool replace = true);

        // Takes an object away; with `only`, unless it has been replaced by other bytes than these.
        bool take_away(std::string_view key, const byte_buffer* only = nullptr);
    };
    std::string name_;
    std::shared_ptr<state> state_;
};

/// Lists what has come into a memory_storage, which it keeps alive; models key_follower.  Never gives a key twice,
/// unless it went in between.
/// Cost: one step for each key that has come, whatever its prefix.  Threads: one at a time.
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
    /// Moves the bytes in.  Memory is memory: nothing is `on_disk`.
    void commit(durability /*none is more than another*/) {
        state_->put(key_, byte_buffer::take(std::exchange(bytes_, {})));
    }

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

    /// Takes the object away, unless it was removed or replaced by others.
    void release() noexcept;

private:
    friend class memory_storage;
    held_key(std::shared_ptr<state> place, std::string_view key);

    std::shared_ptr<state> state_;  // none: nothing is held
    std::string key_;
    byte_buffer object_;
};

inline memory_storage::held_key memory_storage::claim(std::string_view key) { return held_key{state_, key}; }

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/memory_storage.ipp>
#endif
