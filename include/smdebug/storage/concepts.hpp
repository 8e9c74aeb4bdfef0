// The front door of storage/: what a storage of runs must offer to readers, and what it may offer beyond that.
// Writing, and what a storage can do at run time, are in writable.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>

#include <chrono>
#include <concepts>
#include <condition_variable>
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

namespace smdebug::inline v1 {

/// Wakes one waiting thread when objects may have changed: between a storage that notices changes and a wait. Silence
/// proves nothing: file systems of other machines announce no changes, so a wait must also look again periodically.
/// Threads: one waits at a time; interrupt() may be called from any.
class change_signal {
public:
    using clock = std::chrono::steady_clock;

    change_signal() = default;
    change_signal(const change_signal&) = delete;
    change_signal& operator=(const change_signal&) = delete;
    virtual ~change_signal() = default;

    /// Sleeps until something may have changed since the last call returned (for the first call: since the signal was
    /// made), until interrupt(), or until the given time. Returns whether something may have changed. A false alarm is
    /// allowed, and so is an immediate return because watching has only just begun.
    [[nodiscard]] virtual bool wait_until(clock::time_point until) = 0;

    /// The keys reported to the last wait_until, in order of arrival, possibly repeated; nothing if it cannot name all
    /// changes on this machine: then everything must be checked. Call it only after wait_until has returned true.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> changed_keys() { return std::nullopt; }
    [[deprecated("changed_keys()")]] virtual std::optional<std::vector<std::string>> told() final {
        return changed_keys();
    }

    /// Ends the current wait, or else the next one.
    virtual void interrupt() noexcept = 0;
};

namespace detail {

/// A signal that announces nothing: it only sleeps.
class sleeping_signal final : public change_signal {
public:
    [[nodiscard]] SMDEBUG_INLINE bool wait_until(clock::time_point until) override;
    SMDEBUG_INLINE void interrupt() noexcept override;

private:
    std::mutex guard_;
    std::condition_variable wake_;
    bool interrupted_ = false;
};

}  // namespace detail

/// A place that holds a run's objects under keys such as "index/000000000/000000000000_worker_0.json".
/// A type Storage models `storage` when:
///  1. read(key, range = whole_object) returns that part of an object, shorter only at the object's end;
///  2. list(prefix, after) returns the full keys that start with `prefix`, any text, in the order of their bytes,
///     strictly after `after` (an empty `after`: from the start), and no keys if none match; `prefix` and `after` never
///     have a null data();
///  3. size(key) returns the object's size in bytes, or nothing if it does not exist;
///  4. reading a missing key throws not_found, and a failed read throws an error of the library: a partial read is
///     never returned;
///  5. name() returns what messages call it;
///  6. const calls may run concurrently.
/// Keys are UTF-8. Not promised: that list or read sees an object that another process wrote a moment ago.
template <class Storage>
concept storage = std::movable<Storage> && requires(const Storage& store, std::string_view key, byte_range where,
                                                    std::string_view prefix, std::string_view after) {
    { store.read(key) } -> std::same_as<byte_buffer>;
    { store.read(key, where) } -> std::same_as<byte_buffer>;
    { store.list(prefix, after) } -> std::same_as<std::vector<std::string>>;
    { store.size(key) } -> std::same_as<std::optional<std::uint64_t>>;
    { store.name() } -> std::convertible_to<std::string>;
};

/// The version of an object that some bytes are of, as far as their read reports it.
struct object_version {
    std::string tag = {};                    ///< as in entries(); empty: unknown
    std::optional<std::uint64_t> size = {};  ///< of the whole object
    /// When it was last written, where that is known without a further request.
    std::optional<std::chrono::system_clock::time_point> modified = {};
    friend bool operator==(const object_version&, const object_version&) = default;

    /// Whether they are known to differ. An unknown field counts as equal.
    [[nodiscard]] bool differs_from(const object_version& other) const noexcept {
        return (!tag.empty() && !other.tag.empty() && tag != other.tag) || (size && other.size && *size != *other.size);
    }

    /// Adds what another part of the same object reports. Returns false, and adds nothing, if the two are of different
    /// versions.
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
/// and its version; nothing if the object does not exist (any more).
using object_sink = function_ref<void(std::size_t, std::optional<byte_view>, const object_version&)>;

/// Optional: read_each(keys, sink) reads many whole objects for less than one read() each (a reused buffer, several
/// requests in flight) and passes them on in the order of `keys`, on the calling thread. An exception of the sink ends
/// the reading and is passed on unchanged, whatever its type. An object too large to be read whole throws unsupported.
template <class Storage>
concept batch_reader = requires(const Storage& store, std::span<const std::string> keys, object_sink sink) {
    { store.read_each(keys, sink) } -> std::same_as<void>;
};

/// A requested part of an object. Borrows the key.
struct object_range {
    std::string_view key;
    byte_range where;
};

/// read_ranges calls this for each range, with its position in the list, its bytes, which may share their memory with
/// those of other ranges, and their version; nothing if the object does not exist (any more). Two parts of one object
/// may be of two versions of it; each part is of one.
using range_sink = function_ref<void(std::size_t, std::optional<byte_buffer>, const object_version&)>;

/// Optional: read_ranges(ranges, sink) reads many parts of objects for less than one read() each (neighbours in one
/// request, several requests in flight) and passes them on in the order of `ranges`, on the calling thread; each is
/// shorter only at its object's end. An exception of the sink ends the reading and is passed on unchanged.
/// Ranges of one object are merged if they are adjacent in the list, in ascending order of offsets.
template <class Storage>
concept range_batch_reader = requires(const Storage& store, std::span<const object_range> ranges, range_sink sink) {
    { store.read_ranges(ranges, sink) } -> std::same_as<void>;
};

/// An entry of a listing.
struct object_entry {
    std::string key = {};
    std::uint64_t size = 0;
    std::string version = {};  ///< changes whenever the bytes change: an ETag, say. Never empty
    std::string written = {};  ///< changes whenever it is written, even if the bytes stay the same; empty: unknown
    friend bool operator==(const object_entry&, const object_entry&) = default;
};

/// An object and its version, as entries() would have reported it at that moment.
struct versioned_object {
    byte_buffer bytes;
    std::string version;  ///< never empty
};

/// Optional: entries(prefix, after, most) returns the same objects as list(prefix, after), with sizes and versions, at
/// most the first `most` of them; read_versioned(key) reads a whole object as read(key) does, and reports its version.
template <class Storage>
concept versioned_storage = requires(const Storage& store, std::string_view prefix, std::string_view after,
                                     std::size_t most, std::string_view key) {
    { store.entries(prefix, after, most) } -> std::same_as<std::vector<object_entry>>;
    { store.read_versioned(key) } -> std::same_as<versioned_object>;
};

/// Optional: view(key) returns a view of a whole object in place, for less than reading it; nothing if no such view is
/// possible or the object does not exist. The bytes do not change while the buffer lives, which may block writers: hold
/// it briefly.
template <class Storage>
concept viewing_storage = requires(const Storage& store, std::string_view key) {
    { store.view(key) } -> std::same_as<std::optional<byte_buffer>>;
};

/// The same of any storage; nothing if it has no view().
template <class Storage>
[[nodiscard]] std::optional<byte_buffer> view_object(const Storage& store, [[maybe_unused]] std::string_view key) {
    if constexpr (viewing_storage<Storage>) {
        return store.view(key);
    } else {
        return std::nullopt;
    }
}

/// Optional: read_ahead(key) starts to prefetch an object that will be wanted soon. Returns immediately, with whether
/// it was available already. A missing object is not an error.
template <class Storage>
concept prefetching_storage = requires(const Storage& store, std::string_view key) {
    { store.read_ahead(key) } -> std::same_as<bool>;
};

/// The same of any storage; true if it has no read_ahead().
template <class Storage>
[[nodiscard]] bool prefetch_object(const Storage& store, [[maybe_unused]] std::string_view key) {
    if constexpr (prefetching_storage<Storage>) {
        return store.read_ahead(key);
    } else {
        return true;
    }
}

/// Prefetched parts of a storage's objects, pinned until they are released. A reader of such a part waits if it is on
/// its way and makes no request: each part is fetched once, and is read as it was then. Destruction releases
/// everything; this object may outlive the storage.
/// Threads: prefetch() and release() may be called concurrently.
class pinned_ranges {
public:
    pinned_ranges() = default;
    pinned_ranges(const pinned_ranges&) = delete;
    pinned_ranges& operator=(const pinned_ranges&) = delete;
    virtual ~pinned_ranges() = default;

    /// Starts to prefetch these parts, after those of earlier calls; returns immediately. A part that starts at
    /// 0 and reaches past the object's end stands for the whole object. A part that cannot be fetched is not held:
    /// reading it reports the error.
    virtual void prefetch(std::span<const object_range> parts) = 0;
    /// Releases all parts of an object.
    virtual void release(std::string_view key) = 0;
};

/// Optional: hold() returns pinned ranges, none at first; null if the storage is local, so that pinning is useless.
template <class Storage>
concept holding_storage = requires(const Storage& store) {
    { store.hold() } -> std::same_as<std::unique_ptr<pinned_ranges>>;
};

/// The same of any storage; null if it has no hold().
template <class Storage>
[[nodiscard]] std::unique_ptr<pinned_ranges> hold_ranges(const Storage& store) {
    if constexpr (holding_storage<Storage>) {
        return store.hold();
    } else {
        return nullptr;
    }
}

/// What is where a storage lies.
enum class place_kind : std::uint8_t {
    unknown,  ///< the storage does not know
    missing,
    folder,  ///< of files, or of a bucket's objects
    file,
};

/// Optional: place() says what is where the storage lies, for messages. It may cost a request.
template <class Storage>
concept place_prober = requires(const Storage& store) {
    { store.place() } -> std::same_as<place_kind>;
};

/// What is where a storage lies; unknown if it has no place().
template <class Storage>
[[nodiscard]] place_kind place_kind_of(const Storage& store) {
    if constexpr (place_prober<Storage>) {
        return store.place();
    } else {
        return place_kind::unknown;
    }
}

/// Optional: problems() returns what part of the data cannot be read through the storage, as of the last check: damage
/// of an archive, unread data of another tool.
template <class Storage>
concept problem_reporter = requires(const Storage& store) {
    { store.problems() } -> std::same_as<std::vector<problem>>;
};

/// The problems of a storage; none if it has no problems().
template <class Storage>
[[nodiscard]] std::vector<problem> problems_of(const Storage& store) {
    if constexpr (problem_reporter<Storage>) {
        return store.problems();
    } else {
        return {};
    }
}

/// Lists what has appeared below a prefix since the last call. A type Follower models `key_follower` when:
///  1. next() returns keys in byte order, each once; all answers so far together contain every key that existed when
///     the last call began. A key may be repeated in later answers;
///  2. a next() that throws loses nothing: later calls return what it would have returned;
///  3. forget() makes the next call list everything;
///  4. it outlives the storage that made it, and is used by one thread at a time.
template <class Follower>
concept key_follower = std::movable<Follower> && requires(Follower& follower) {
    { follower.next() } -> std::same_as<std::vector<std::string>>;
    { follower.forget() } -> std::same_as<void>;
};

/// Optional: follow(prefix) returns a key_follower, whose cost depends on what is new, not on what exists. The prefix
/// ends in '/'.
template <class Storage>
concept followable_storage = requires(const Storage& store, std::string_view prefix) {
    { store.follow(prefix) } -> key_follower;
};

/// Optional: watch(prefixes) returns a signal that wakes when objects whose keys start with one of the prefixes appear
/// or change, or nothing if the system has no signal to give. A prefix is a whole key, or ends in '/'; neither its
/// objects nor the storage's own place need exist yet. The signal outlives the storage.
template <class Storage>
concept announcing_storage = requires(const Storage& store, std::span<const std::string> prefixes) {
    { store.watch(prefixes) } -> std::same_as<std::unique_ptr<change_signal>>;
};

/// The same of any storage; nothing if it has no watch().
template <class Storage>
[[nodiscard]] std::unique_ptr<change_signal> watch_changes(const Storage& store,
                                                           [[maybe_unused]] std::span<const std::string> prefixes) {
    if constexpr (announcing_storage<Storage>) {
        return store.watch(prefixes);
    } else {
        return nullptr;
    }
}

/// Optional: modified(key) returns when the object was last written, or nothing if it does not exist.
template <class Storage>
concept dated_storage = requires(const Storage& store, std::string_view key) {
    { store.modified(key) } -> std::same_as<std::optional<std::chrono::system_clock::time_point>>;
};

/// The same of any storage; nothing if it has no modified().
template <class Storage>
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> time_of(const Storage& store,
                                                                           [[maybe_unused]] std::string_view key) {
    if constexpr (dated_storage<Storage>) {
        return store.modified(key);
    } else {
        return std::nullopt;
    }
}

/// Notes that an observer made about an object during decompression: see inflate_observer.
class object_notes {
public:
    object_notes() = default;
    object_notes(const object_notes&) = delete;
    object_notes& operator=(const object_notes&) = delete;
    virtual ~object_notes() = default;
};

/// An open object, read piece by piece into the reader's own memory: replacing it in the storage does not change what
/// is read here.
/// Threads: everything may be called concurrently.
class opened_object {
public:
    opened_object() = default;
    opened_object(const opened_object&) = delete;
    opened_object& operator=(const opened_object&) = delete;
    virtual ~opened_object() = default;

    /// Its size in bytes when it was opened.
    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;

    /// Reads from `offset` on until `into` is full or the object ends; returns the number of bytes read.
    /// Errors: those of the storage's read().
    [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

    /// A view of at most so many bytes from `offset` on if they are in memory; fewer, or none, otherwise.
    /// Errors: as read_at().
    [[nodiscard]] virtual byte_buffer part(std::uint64_t /*offset*/, std::uint64_t /*most*/) const { return {}; }

    /// The notes made about it; null: none. They live as long as the object.
    [[nodiscard]] virtual const object_notes* notes() const noexcept { return nullptr; }
};

/// Optional: open(key) opens an object whose pieces cost no more than their bytes; null if that is impossible or the
/// object does not exist: use read() then, which reports the error.
template <class Storage>
concept opening_storage = requires(const Storage& store, std::string_view key) {
    { store.open(key) } -> std::same_as<std::unique_ptr<opened_object>>;
};

/// The same of any storage; null if it has no open().
template <class Storage>
[[nodiscard]] std::unique_ptr<opened_object> open_object(const Storage& store, [[maybe_unused]] std::string_view key) {
    if constexpr (opening_storage<Storage>) {
        return store.open(key);
    } else {
        return nullptr;
    }
}

/// Sees each file of a compressed archive while its directory is read, so that what is computed of values needs no
/// second inflating: see archive_options::in_passing.
/// Threads: one call at a time.
class inflate_observer {
public:
    inflate_observer() = default;
    inflate_observer(const inflate_observer&) = delete;
    inflate_observer& operator=(const inflate_observer&) = delete;
    virtual ~inflate_observer() = default;

    /// Called once for each object with its key in the archive, in archive order. Returns notes to remember, which
    /// opened_object::notes() provides later; null: none.
    /// `object` is valid during the call. Cost: reading its bytes by ascending offsets costs nothing beyond inflating;
    /// other reads may inflate again.
    /// Errors: reading errors may be passed on: then no notes are remembered, and reading the object again reports the
    /// error.
    [[nodiscard]] virtual std::shared_ptr<const object_notes> pass(std::string_view key,
                                                                   const opened_object& object) = 0;
};

// Names of before 0.2.
using held_objects [[deprecated("smdebug::pinned_ranges")]] = pinned_ranges;
using passing_reader [[deprecated("smdebug::inflate_observer")]] = inflate_observer;

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/concepts.ipp>
#endif
