// The front door of storage/: what a place that holds runs has to offer to those who read them, and what it may offer
// beyond that.  Writing is in writable.hpp; what a storage can do when it runs, in abilities.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/storage/change_signal.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A place that holds a run's objects under keys such as "index/000000000/000000000000_worker_0.json".
/// A type S models `storage` when:
///  1. read(key) gives the whole object; read(key, range) that part, shorter only at the object's end;
///  2. list(prefix, after) gives the full keys that start with `prefix`, in byte order, strictly after `after`
///     (an empty `after`: from the start); a prefix that nothing has gives none; data() of both is never null;
///  3. size(key) gives the object's size in bytes, or nothing when it is not there;
///  4. reading a missing key throws not_found, and a failed read throws an error of the library: what could not be
///     read whole is never returned;
///  5. const calls may run at once on many threads.
/// Not promised: that list sees an object written a moment ago.
template <class S>
concept storage = std::movable<S> && requires(const S& store, std::string_view key, byte_range where,
                                              std::string_view prefix, std::string_view after) {
    { store.read(key) } -> std::same_as<byte_buffer>;
    { store.read(key, where) } -> std::same_as<byte_buffer>;
    { store.list(prefix, after) } -> std::same_as<std::vector<std::string>>;
    { store.size(key) } -> std::same_as<std::optional<std::uint64_t>>;
    { store.name() } -> std::convertible_to<std::string>;
};

/// What read_each calls for each key: its place in the list, and the whole object, which is gone when the call returns;
/// nothing where the object is not (or no longer) there.
using object_sink = function_ref<void(std::size_t, std::optional<byte_view>)>;

/// Optional: read_each(keys, sink) reads many whole objects at less than one read() each (a buffer used again,
/// requests in flight together) and hands them over in the order of `keys`, on the calling thread.  What the sink
/// throws ends it and comes out as it is, whatever its type.  An object that is too large to be read whole is
/// `unsupported`.
template <class S>
concept batch_reader = requires(const S& store, std::span<const std::string> keys, object_sink sink) {
    { store.read_each(keys, sink) } -> std::same_as<void>;
};

/// A part of an object that is asked for.  Borrows the key.
struct object_range {
    std::string_view key;
    byte_range where;
};

/// What read_ranges calls for each range: its place in the list, and the bytes, which may share their memory with those
/// of other ranges; nothing where the object is not (or no longer) there.
using range_sink = function_ref<void(std::size_t, std::optional<byte_buffer>)>;

/// Optional: read_ranges(ranges, sink) reads many parts of objects at less than one read() each (neighbours in one
/// request, requests in flight together) and hands them over in the order of `ranges`, on the calling thread; each
/// shorter only at its object's end.  What the sink throws ends it and comes out as it is.
/// Ranges of one object that stand next to each other in the list, by ascending offset, are the ones that are merged.
template <class S>
concept range_batch_reader = requires(const S& store, std::span<const object_range> ranges, range_sink sink) {
    { store.read_ranges(ranges, sink) } -> std::same_as<void>;
};

/// What a listing says of an object.
struct object_entry {
    std::string key = {};
    std::uint64_t size = 0;
    std::string version = {};  ///< another one whenever the bytes are others: an ETag, say.  Never empty
    friend bool operator==(const object_entry&, const object_entry&) = default;
};

/// Optional: entries(prefix, after, most) gives what list(prefix, after) does, with sizes and versions; the first
/// `most` of them, where there are more.
template <class S>
concept entry_lister = requires(const S& store, std::string_view prefix, std::string_view after, std::size_t most) {
    { store.entries(prefix, after, most) } -> std::same_as<std::vector<object_entry>>;
};

/// Optional: view(key) gives a whole object as it lies somewhere already, at less than reading it, or nothing where it
/// does not lie there, or is not there at all.  The bytes stay as they are while the buffer lives, which may keep
/// writers waiting: it is to be held briefly.
template <class S>
concept viewing_storage = requires(const S& store, std::string_view key) {
    { store.view(key) } -> std::same_as<std::optional<byte_buffer>>;
};

/// Optional: read_ahead(key) asks that an object be brought nearer, as it will be wanted soon.  Returns at once,
/// whether it was near already.  Of an object that is not there it says nothing.
template <class S>
concept prefetching_storage = requires(const S& store, std::string_view key) {
    { store.read_ahead(key) } -> std::same_as<bool>;
};

/// Parts of a storage's objects that are brought near, and stay there until they are let go.  Who reads such a part
/// through the storage meanwhile waits for it, should it be on its way, and asks nobody: it is fetched once, and it is
/// what was there when it was brought.  Destroying it lets go of everything; it may outlive the storage.
/// Threads: bring() and release() may be called at once.
class held_objects {
public:
    held_objects() = default;
    held_objects(const held_objects&) = delete;
    held_objects& operator=(const held_objects&) = delete;
    virtual ~held_objects() = default;

    /// Begins to bring these, behind those that were asked for before; returns at once.  A part from 0
    /// on that is longer than its object is the whole of it.  What cannot be brought is not held: who reads it is told
    /// why.
    virtual void bring(std::span<const object_range> parts) = 0;
    /// Lets go of all parts of an object.
    virtual void release(std::string_view key) = 0;
};

/// Optional: hold() gives such parts, none at first; null where nothing is far enough away to be held.
template <class S>
concept holding_storage = requires(const S& store) {
    { store.hold() } -> std::same_as<std::unique_ptr<held_objects>>;
};

/// Optional: exists() tells whether the place itself is there, for messages; is_file(), beside it, whether a single
/// file is in its place.
template <class S>
concept place_prober = requires(const S& store) {
    { store.exists() } -> std::same_as<bool>;
};

namespace detail {

/// Whether a single file is in the place of a folder, for messages.  Optional: is_file() of a storage tells it.
template <class S>
[[nodiscard]] bool is_file(const S& store) {
    if constexpr (requires {
                      { store.is_file() } -> std::same_as<bool>;
                  }) {
        return store.is_file();
    } else {
        return false;
    }
}

/// For messages: where an object lies.  A storage that is a single file has that file's name.
template <class S>
[[nodiscard]] std::string path_of(const S& store, std::string_view key) {
    return is_file(store) ? std::string{store.name()} : std::string{store.name()} + "/" + std::string{key};
}

}  // namespace detail

/// Optional: problems() gives what of the data cannot be seen through the storage, as it was when it was looked at last: damage
/// of an archive, what of another tool's data is not read.
template <class S>
concept problem_reporter = requires(const S& store) {
    { store.problems() } -> std::same_as<std::vector<problem>>;
};

/// Those of a storage; none where it has no such thing.
template <class S>
[[nodiscard]] std::vector<problem> problems_of(const S& store) {
    if constexpr (problem_reporter<S>) {
        return store.problems();
    } else {
        return {};
    }
}

/// Lists what has come below a prefix since it was last asked.  A type F models `key_follower` when:
///  1. next() gives keys in byte order, each once; the answers so far together hold every key that was there when the
///     last call began.  A key may come again;
///  2. a next() that throws loses nothing: the calls after it give what it would have given;
///  3. forget() makes the next call list everything;
///  4. it outlives the storage that made it, and is used by one thread at a time.
template <class F>
concept key_follower = std::movable<F> && requires(F& follower) {
    { follower.next() } -> std::same_as<std::vector<std::string>>;
    { follower.forget() } -> std::same_as<void>;
};

/// Optional: follow(prefix) gives a key_follower, which costs by what is new and not by what is there.  The prefix
/// ends in '/'.
template <class S>
concept followable_storage = requires(const S& store, std::string_view prefix) {
    { store.follow(prefix) } -> key_follower;
};

/// Optional: watch(prefixes) gives a signal that wakes when objects whose keys start with one of the prefixes appear or
/// change, or nothing where the system has none to give.  A prefix names a whole key, or ends in '/'; what it names
/// need not be there yet, and neither need the storage's own place.  The signal outlives the storage.
template <class S>
concept announcing_storage = requires(const S& store, std::span<const std::string> prefixes) {
    { store.watch(prefixes) } -> std::same_as<std::unique_ptr<change_signal>>;
};

/// The pause between two looks at whether anything is new: the one that was chosen, or the storage's own where that is
/// longer.  Optional: look_interval() tells the storage's own, where each look costs time or money.
template <class S>
[[nodiscard]] constexpr std::chrono::milliseconds look_interval(const S& store, std::chrono::milliseconds chosen) {
    if constexpr (requires {
                      { store.look_interval() } -> std::same_as<std::chrono::milliseconds>;
                  }) {
        const std::chrono::milliseconds own = store.look_interval();
        return own < chosen ? chosen : own;
    } else {
        return chosen;
    }
}

/// Optional: modified(key) tells when the object was last written, or nothing when it is not there.
template <class S>
concept dated_storage = requires(const S& store, std::string_view key) {
    { store.modified(key) } -> std::same_as<std::optional<std::chrono::system_clock::time_point>>;
};

}  // namespace v1
}  // namespace smdebug
