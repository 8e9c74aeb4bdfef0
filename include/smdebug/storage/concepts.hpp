// The front door of storage/: what a place that holds runs has to offer.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
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

/// read(key) and read(key, range).
template <class S>
concept object_reader = requires(const S& store, std::string_view key, byte_range where) {
    { store.read(key) } -> std::same_as<byte_buffer>;
    { store.read(key, where) } -> std::same_as<byte_buffer>;
};

/// list(prefix, after).
template <class S>
concept object_lister = requires(const S& store, std::string_view prefix, std::string_view after) {
    { store.list(prefix, after) } -> std::same_as<std::vector<std::string>>;
};

/// size(key): how many bytes, or nothing when there is no such object.
template <class S>
concept object_prober = requires(const S& store, std::string_view key) {
    { store.size(key) } -> std::same_as<std::optional<std::uint64_t>>;
};

/// name(): where the objects are, for messages.
template <class S>
concept described = requires(const S& store) {
    { store.name() } -> std::convertible_to<std::string>;
};

/// A place that holds a run's objects under keys such as "index/000000000/000000000000_worker_0.json".
/// A type S models `storage` when:
///  1. read(key) gives the whole object; read(key, range) that part, shorter only at the object's end;
///  2. list(prefix, after) gives the full keys that start with `prefix`, in byte order, strictly after `after`
///     (an empty `after`: from the start); a prefix that nothing has gives none;
///  3. size(key) gives the object's size in bytes, or nothing when it is not there;
///  4. reading a missing key throws not_found, and a failed read throws an error of the library: what could not be
///     read whole is never returned;
///  5. const calls may run at once on many threads.
/// Not promised: that list sees an object written a moment ago.
template <class S>
concept storage = std::movable<S> && object_reader<S> && object_lister<S> && object_prober<S> && described<S>;

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

/// Optional, beside read_ranges(): batches_ranges() tells whether it costs less than single reads do, where that is
/// known at run time only.  A storage that has it and does not tell is taken at its word.
template <class S>
concept range_batch_prober = requires(const S& store) {
    { store.batches_ranges() } -> std::same_as<bool>;
};

/// Whether ranges are worth collecting before they are asked for.
template <class S>
[[nodiscard]] constexpr bool worth_batching_ranges(const S& store) {
    if constexpr (range_batch_reader<S> && range_batch_prober<S>) {
        return store.batches_ranges();
    } else {
        return range_batch_reader<S>;
    }
}

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

/// Optional, beside view(): views() tells whether it is worth asking for a view of an object that nobody has asked for
/// yet.  A storage that views and does not tell is taken at its word.
template <class S>
concept view_prober = requires(const S& store) {
    { store.views() } -> std::same_as<bool>;
};

/// Whether view() may show objects that were not read before.
template <class S>
[[nodiscard]] constexpr bool worth_viewing(const S& store) {
    if constexpr (viewing_storage<S> && view_prober<S>) {
        return store.views();
    } else {
        return viewing_storage<S>;
    }
}

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

/// Optional: exists() tells whether the place itself is there, for messages.
template <class S>
concept place_prober = requires(const S& store) {
    { store.exists() } -> std::same_as<bool>;
};

/// Optional: is_file() tells whether there is a single file in the place of a folder, for messages.
template <class S>
concept file_prober = requires(const S& store) {
    { store.is_file() } -> std::same_as<bool>;
};

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

/// Optional, beside follow(): follows() tells whether its followers do cost by what is new, where that is known at run
/// time only.  A storage that follows and does not tell is taken at its word.
template <class S>
concept follow_prober = requires(const S& store) {
    { store.follows() } -> std::same_as<bool>;
};

/// Whether following is worth its while: else list(prefix, after) tells as much for less.
template <class S>
[[nodiscard]] constexpr bool worth_following(const S& store) {
    if constexpr (followable_storage<S> && follow_prober<S>) {
        return store.follows();
    } else {
        return followable_storage<S>;
    }
}

/// Optional: watch(prefixes) gives a signal that wakes when objects whose keys start with one of the prefixes appear or
/// change, or nothing where the system has none to give.  A prefix names a whole key, or ends in '/'; what it names
/// need not be there yet, and neither need the storage's own place.  The signal outlives the storage.
template <class S>
concept announcing_storage = requires(const S& store, std::span<const std::string> prefixes) {
    { store.watch(prefixes) } -> std::same_as<std::unique_ptr<change_signal>>;
};

/// Optional: look_interval() tells how long to rest between looks at whether anything is new, where each look costs
/// time or money.
template <class S>
concept pacing_storage = requires(const S& store) {
    { store.look_interval() } -> std::same_as<std::chrono::milliseconds>;
};

/// The pause between two looks: the one that was chosen, or a storage's own where that is longer.
template <class S>
[[nodiscard]] constexpr std::chrono::milliseconds look_interval(const S& store, std::chrono::milliseconds chosen) {
    if constexpr (pacing_storage<S>) {
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

/// Optional: write(key, bytes) makes the object appear whole or not at all, replacing an older one.
template <class S>
concept object_writer = requires(S& store, std::string_view key, byte_view bytes) {
    { store.write(key, bytes) } -> std::same_as<void>;
};

/// A storage that can be written.
template <class S>
concept writable_storage = storage<S> && object_writer<S>;

// Writing piece by piece, removing, holding alone -----------------------------------------------------------------

/// How safe a committed object is: `cached` survives the end of the process, `on_disk` the end of the machine's power,
/// too, where the storage can promise that.
enum class durability : std::uint8_t { cached, on_disk };

/// An object being written, which nobody sees before it is whole.  A type O models `object_output` when:
///  1. append(pieces) puts the pieces behind what is there, in order; it needs them no longer when it returns;
///  2. commit(how) makes the object appear whole under its key, replacing an older one; nothing may be called after
///     it;
///  3. destroyed without a commit that returned, it leaves no object behind, and an older one as it was;
///  4. after a throw only destruction is left.  When it was commit that threw, the object may have appeared all the
///     same: it is then whole, and what is not known is how safe it is;
///  5. it is used by one thread at a time, and does not outlive its storage.  Other outputs may be written meanwhile,
///     under the same key, too: the last commit wins.
template <class O>
concept object_output = std::movable<O> && requires(O& out, std::span<const byte_view> pieces, durability how) {
    { out.append(pieces) } -> std::same_as<void>;
    { out.commit(how) } -> std::same_as<void>;
};

/// Optional: create(key) gives an object_output, which does not keep the whole object in memory where that can be
/// helped.  create_output() (storage/output.hpp) gives one for every writable storage.
template <class S>
concept appending_storage = requires(S& store, std::string_view key) {
    { store.create(key) } -> object_output;
};

/// Optional: remove(key) takes an object away; returns whether it was there.
template <class S>
concept removing_storage = requires(S& store, std::string_view key) {
    { store.remove(key) } -> std::same_as<bool>;
};

/// A key that is held for one writer alone, until release() or destruction, which take the key's object away.
/// release() may be called again, and then does nothing.  Used by one thread at a time.
template <class C>
concept object_claim = std::movable<C> && !std::copy_constructible<C> && requires(C & held) {
    { held.release() } -> std::same_as<void>;
};

/// Optional, beside release(): holds() tells whether the key is still held; false where others took its object away, or
/// put another in its place.
template <class C>
concept observable_claim = object_claim<C> && requires(const C& held) {
    { held.holds() } -> std::same_as<bool>;
};

/// Whether a claim still holds, as far as it can tell.
template <object_claim C>
[[nodiscard]] bool still_holds(const C& held) {
    if constexpr (observable_claim<C>) {
        return held.holds();
    } else {
        return true;
    }
}

/// Optional: holding a key alone.  A type S models `claiming_storage` when:
///  1. claim(key) puts an object under the key, by which others see that it is held, and gives an object_claim;
///  2. claim(key) throws in_use when another living holder has the key, or when there is no telling; of many that
///     call it at once, in any number of processes, one gets it;
///  3. a holder that died, by whatever death, holds nothing;
///  4. claimed(key) tells whether claim(key) would have thrown in_use a moment ago;
///  5. an object that is there and is no claim, such as an empty one, is somebody's, and counts as held.
/// Not promised: anything about objects under a held key that are written or removed by other means.
template <class S>
concept claiming_storage = requires(S& store, const S& seen, std::string_view key) {
    { store.claim(key) } -> object_claim;
    { seen.claimed(key) } -> std::same_as<bool>;
};

/// Optional, beside claim(): claims() tells whether claims do hold, where that is known at run time only.  Where they
/// do not, claim() throws unsupported.
template <class S>
concept claim_prober = requires(const S& store) {
    { store.claims() } -> std::same_as<bool>;
};

/// Whether a key can be held alone.
template <class S>
[[nodiscard]] constexpr bool worth_claiming(const S& store) {
    if constexpr (claiming_storage<S> && claim_prober<S>) {
        return store.claims();
    } else {
        return claiming_storage<S>;
    }
}

}  // namespace v1
}  // namespace smdebug
