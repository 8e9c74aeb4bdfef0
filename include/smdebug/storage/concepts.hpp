// The front door of storage/: the four functions that a storage of runs must have, and the types that storages exchange
// with their users. All that a storage may offer beyond them is the class storage_base.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// Wakes one waiting thread when objects may have changed: between a storage that notices changes and a wait. Silence
/// proves nothing: file systems of other machines announce no changes, so a wait must also look again periodically.
/// Threads: one waits at a time; interrupt() may be called from any.
class change_signal : public detail::abstract {
public:
    using clock = std::chrono::steady_clock;

    /// Sleeps until something may have changed since the last call returned (for the first call: since the signal was
    /// made), until interrupt(), or until the given time. Returns whether something may have changed. A false alarm is
    /// allowed, and so is an immediate return because watching has only just begun.
    [[nodiscard]] virtual bool wait_until(clock::time_point until) = 0;

    /// The keys reported to the last wait_until, in order of arrival, possibly repeated; nothing if it cannot name all
    /// changes on this machine: then everything must be checked. Call it only after wait_until has returned true.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> changed_keys() { return std::nullopt; }

    /// Ends the current wait, or else the next one.
    virtual void interrupt() noexcept = 0;
};

/// A place that holds a run's objects under keys such as "index/000000000/000000000000_worker_0.json".
/// A type Storage models `storage` when:
///  1. read(key, range) returns that part of an object, shorter only at the object's end;
///  2. list(prefix, after) returns the full keys that start with `prefix`, any text, in the order of their bytes,
///     strictly after `after` (an empty `after`: from the start), and no keys if none match; `prefix` and `after` never
///     have a null data();
///  3. size(key) returns the object's size in bytes, or nothing if it does not exist;
///  4. reading a missing key throws not_found, and a failed read throws an error of the library: a partial read is
///     never returned;
///  5. name() returns what messages call it;
///  6. const calls may run concurrently; it can be moved.
/// Keys are UTF-8. Not promised: that list or read sees an object that another process wrote a moment ago.
template <class Storage>
concept storage = requires(const Storage& store, std::string_view key, byte_range where, std::string_view prefix,
                           std::string_view after) {
    { store.read(key, where) } -> std::same_as<byte_buffer>;
    { store.list(prefix, after) } -> std::same_as<std::vector<std::string>>;
    { store.size(key) } -> std::same_as<std::optional<std::uint64_t>>;
    { store.name() } -> std::convertible_to<std::string>;
};

/// A storage that can be written: write(key, bytes) makes the object appear whole or not at all, and replaces an older
/// one. As durable as the storage makes it: at least durability::cached.
template <class Store>
concept writable_storage = storage<Store> && requires(Store& store, std::string_view key, byte_view bytes) {
    { store.write(key, bytes) } -> std::same_as<void>;
};

/// The version of an object that some bytes are of, as far as their read reports it.
struct object_version {
    std::string tag = {};                    ///< as in entries(); empty if unknown
    std::optional<std::uint64_t> size = {};  ///< of the whole object
    /// When it was last written, where that is known without a further request.
    std::optional<std::chrono::system_clock::time_point> modified = {};
    friend bool operator==(const object_version&, const object_version&) = default;

    /// Whether they are known to differ. An unknown field counts as equal.
    [[nodiscard]] bool differs_from(const object_version& other) const noexcept {
        return (!tag.empty() && !other.tag.empty() && tag != other.tag) || (size && other.size && *size != *other.size);
    }

    /// Adds the tag and the size that another part of the same object reports. Returns false, and adds nothing, if the
    /// two are of different versions.
    [[nodiscard]] bool merge(const object_version& other) {
        if (differs_from(other)) {
            return false;
        }
        tag = other.tag.empty() ? std::move(tag) : other.tag;
        size = other.size ? other.size : size;
        return true;
    }
};

/// read_each calls this for each key, with its position in the list, the whole object, which is valid during the call,
/// and its version; nothing if the object does not exist (any more). A callable that returns false ends the reading.
using object_sink = visitor_ref<std::size_t, std::optional<byte_view>, const object_version&>;

/// A requested part of an object. Borrows the key.
struct object_range {
    std::string_view key;
    byte_range where;
};

/// read_ranges calls this for each range, with its position in the list, its bytes, which may share their memory with
/// those of other ranges, and their version; nothing if the object does not exist (any more). Two parts of one object
/// may be of two versions of it; each part is of one. A callable that returns false ends the reading.
using range_sink = visitor_ref<std::size_t, std::optional<byte_buffer>, const object_version&>;

/// An entry of a listing.
struct object_entry {
    std::string key = {};
    std::uint64_t size = 0;
    std::string version = {};  ///< changes whenever the bytes change, as an ETag; empty if unknown, as of a broken link
    std::string written = {};  ///< changes whenever it is written, even if the bytes stay the same; empty if unknown
    friend bool operator==(const object_entry&, const object_entry&) = default;
};

namespace detail {

/// The keys of a listing.
[[nodiscard]] std::vector<std::string> keys_of(std::vector<object_entry> listed);

}  // namespace detail

/// An object and its version, as entries() would have reported it at that moment.
struct versioned_object {
    byte_buffer bytes;
    std::string version;  ///< empty if the storage has no versions
};

/// Prefetched parts of a storage's objects, pinned until they are released. A reader of such a part waits if it is on
/// its way and makes no request: each part is fetched once, and is read as it was then. Destruction releases
/// everything; this object may outlive the storage.
/// Threads: prefetch() and release() may be called concurrently.
class pinned_ranges : public detail::abstract {
public:
    /// Starts to prefetch these parts, after those of earlier calls; returns immediately. A part that starts at
    /// 0 and reaches past the object's end stands for the whole object. A part that cannot be fetched is not held:
    /// reading it reports the error.
    virtual void prefetch(std::span<const object_range> parts) = 0;
    /// Releases all parts of an object.
    virtual void release(std::string_view key) = 0;
};

/// What is found at a storage's name.
enum class place_kind : std::uint8_t {
    unknown,  ///< the storage does not know
    missing,
    folder,  ///< of files, or of a bucket's objects
    file,
};

/// Lists what has appeared below a prefix since the last call.
///  1. next() returns keys in byte order, each once; all answers so far together contain every key that existed when
///     the last call began. A key may be repeated in later answers;
///  2. a next() that throws loses nothing: later calls return what it would have returned;
///  3. forget() makes the next call list everything;
///  4. it outlives the storage that made it, and is used by one thread at a time.
class key_follower : public detail::abstract {
public:
    [[nodiscard]] virtual std::vector<std::string> next() = 0;
    virtual void forget() = 0;
};

/// How durable a committed object is: `cached` survives the end of the process, `on_disk` also a loss of power, if the
/// storage can promise that.
enum class durability : std::uint8_t { cached, on_disk };

/// An object being written, which is invisible until it is whole.
///  1. append(pieces) appends the pieces in order, and does not need them after it returns;
///  2. commit(how) makes the object appear whole under its key and replaces an older one; nothing may be called after
///     it;
///  3. destroyed without a successful commit, it leaves no object behind and an older one unchanged;
///  4. after a throw only destruction is allowed. If commit threw, the object may have appeared: it is then whole, but
///     its durability is unknown;
///  5. it is used by one thread at a time, and does not outlive its storage. Other outputs may be written meanwhile,
///     even under the same key: the last commit wins.
class object_output : public detail::abstract {
public:
    virtual void append(std::span<const byte_view> pieces) = 0;
    virtual void commit(durability how) = 0;
};

/// A key held by one writer exclusively, until release() or destruction, which remove the key's object. Used by one
/// thread at a time.
class object_claim : public detail::abstract {
public:
    /// Calling it again is a no-op. Errors: those of the storage if the object cannot be removed; it is released
    /// anyway.
    virtual void release() = 0;

    /// False if others removed or replaced the key's object, as far as that is known.
    [[nodiscard]] virtual bool holds() const { return true; }
};

/// Notes that an observer made about an object during decompression: see inflate_observer.
class object_notes : public detail::abstract {};

/// An open object, read piece by piece into the reader's own memory: replacing it in the storage does not change what
/// is read here.
/// Threads: everything may be called concurrently.
class opened_object : public detail::abstract {
public:
    /// Its size in bytes when it was opened.
    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;

    /// Reads from `offset` on until `into` is full or the object ends; returns the number of bytes read.
    /// Errors: those of the storage's read().
    [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

    /// A view of at most so many bytes from `offset` on if they are in memory; fewer, or none, otherwise.
    /// Errors: as read_at().
    [[nodiscard]] virtual byte_buffer part(std::uint64_t /*offset*/, std::uint64_t /*most*/) const { return {}; }

    /// The notes made about it; null if there are none. They live as long as the object.
    [[nodiscard]] virtual const object_notes* notes() const noexcept { return nullptr; }
};

/// Sees each file of a compressed archive while its directory is read, so that what is computed of values needs no
/// second inflating: see archive_options::in_passing.
/// Threads: one call at a time.
class inflate_observer : public detail::abstract {
public:
    /// Called once for each object with its key in the archive, in archive order. Returns notes to remember, which
    /// opened_object::notes() provides later; may be null.
    /// `object` is valid during the call. Cost: reading its bytes by ascending offsets costs nothing beyond inflating;
    /// other reads may inflate again.
    /// Errors: reading errors may be passed on: then no notes are remembered, and reading the object again reports the
    /// error.
    [[nodiscard]] virtual std::shared_ptr<const object_notes> pass(std::string_view key,
                                                                   const opened_object& object) = 0;
};

inline std::vector<std::string> detail::keys_of(std::vector<object_entry> listed) {
    std::vector<std::string> keys;
    keys.reserve(listed.size());
    for (object_entry& one : listed) {
        keys.push_back(std::move(one.key));
    }
    return keys;
}

}  // namespace smdebug::inline v1
