// All that a storage may offer beyond reading, listing and writing whole objects: a class to derive from.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {
class source_maker;
}

/// What finds the tensors in a storage of another tool's data, so that trials on it need no index files: see as_run().
/// Null for a run with index files. A storage that wraps another one passes on the handle of that one.
using source_handle = std::shared_ptr<const detail::source_maker>;

/// What the users of a storage must know before they ask it. What an answer can say, such as that there is no view, is
/// not here: they ask.
struct storage_abilities {
    bool batches_ranges = true;  ///< read_ranges() costs less than single reads: collect ranges for it
    bool views = true;           ///< view() may return objects that were never read before
    bool reads_ahead = true;     ///< read_ahead() is worthwhile for small objects, too, and for those wanted much later
    bool opens_small = true;     ///< open() is worthwhile for small objects, too; otherwise above some 100 KiB only
    bool follows = false;        ///< a follower's cost depends on what is new; otherwise list(prefix, after) is cheaper
    bool writes = false;         ///< otherwise write() and create() throw unsupported
    bool removes = false;        ///< otherwise remove() throws unsupported
    bool claims = false;         ///< otherwise claim() and claimed() throw unsupported
    bool one_object = false;     ///< it is a single object, and name() is its path
    /// The least pause between two checks for changes, where each costs time or money.
    std::chrono::milliseconds look_interval{0};

    friend bool operator==(const storage_abilities&, const storage_abilities&) = default;
};

/// A storage that does more than the concept `storage` asks for: derive from it, and override what can be done better
/// than here. Every default is right, if slow: it reads one by one, has no versions, signals or times, gathers in
/// memory what is written piece by piece, and throws unsupported for what cannot be done at all.
/// Errors: as for the concept; of writing, also unsupported.
/// Threads: const functions may run concurrently.
class storage_base {
public:
    virtual ~storage_base() = default;

    /// As far as it differs from the defaults of storage_abilities. Called often: cheap.
    [[nodiscard]] virtual storage_abilities abilities() const { return {}; }

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] virtual byte_buffer read(std::string_view key, byte_range where) const = 0;

    /// Reads many whole objects for less than one read() each (a reused buffer, several requests in flight), and passes
    /// them on in the order of `keys`, on the calling thread.
    /// Errors: those of read(), except not_found; unsupported for an object too large to be read whole. What the sink
    /// throws is passed on.
    SMDEBUG_INLINE virtual void read_each(std::span<const std::string> keys, object_sink sink) const;

    /// Reads many parts of objects for less than one read() each (neighbours in one request, several requests in
    /// flight) and passes them on in the order of `ranges`, on the calling thread; each is shorter only at its object's
    /// end. Ranges of one object are merged if they are adjacent in the list, in ascending order of offsets.
    /// Errors: as read_each().
    SMDEBUG_INLINE virtual void read_ranges(std::span<const object_range> ranges, range_sink sink) const;

    /// The whole object and its version. Errors: as read().
    [[nodiscard]] SMDEBUG_INLINE virtual versioned_object read_versioned(std::string_view key) const;

    /// A view of a whole object in place, for less than reading it; nothing if no such view is possible or the object
    /// does not exist. The bytes do not change while the buffer lives, which may block writers: hold it briefly.
    [[nodiscard]] virtual std::optional<byte_buffer> view(std::string_view /*key*/) const { return std::nullopt; }

    /// An object whose pieces cost no more than their bytes; null if that is impossible or the object does not exist:
    /// use read() then, which reports the error.
    [[nodiscard]] virtual std::unique_ptr<opened_object> open(std::string_view /*key*/) const { return nullptr; }

    /// Starts to prefetch an object that will be wanted soon. Returns immediately, with whether it was available
    /// already. A missing object is not an error.
    [[nodiscard]] virtual bool read_ahead(std::string_view /*key*/) const { return true; }

    /// Pinned ranges, none at first; null if the storage is local, so that pinning is useless.
    [[nodiscard]] virtual std::unique_ptr<pinned_ranges> hold() const { return nullptr; }

    // Listing ----------------------------------------------------------------------------------------------------

    [[nodiscard]] virtual std::vector<std::string> list(std::string_view prefix, std::string_view after) const = 0;

    /// Lists at most the first `most` objects with their sizes and versions; nothing if the storage has no versions.
    [[nodiscard]] virtual std::optional<std::vector<object_entry>> entries(std::string_view /*prefix*/,
                                                                           std::string_view /*after*/,
                                                                           std::size_t /*most*/) const {
        return std::nullopt;
    }

    [[nodiscard]] virtual std::optional<std::uint64_t> size(std::string_view key) const = 0;

    /// When the object was last written; nothing if it does not exist, or the storage does not know.
    [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> modified(
        std::string_view /*key*/) const {
        return std::nullopt;
    }

    /// A follower whose cost depends on what is new, not on what exists; if null, the caller lists everything each
    /// time. The prefix ends in '/'.
    [[nodiscard]] virtual std::unique_ptr<key_follower> follow(std::string_view /*prefix*/) const { return nullptr; }

    /// A signal that wakes when objects whose keys start with one of the prefixes appear or change; null if the system
    /// has no signal to give. A prefix is a whole key, or ends in '/'; neither its objects nor the storage's own place
    /// need exist yet. The signal outlives the storage.
    [[nodiscard]] virtual std::unique_ptr<change_signal> watch(std::span<const std::string> /*prefixes*/) const {
        return nullptr;
    }

    /// What messages call it.
    [[nodiscard]] virtual std::string name() const = 0;

    /// What is found at its name, for messages. It may cost a request.
    [[nodiscard]] virtual place_kind place() const { return place_kind::unknown; }

    /// What part of the data cannot be read through it, as of the last check: damage of an archive, unread data of
    /// another tool.
    [[nodiscard]] virtual std::vector<problem> problems() const { return {}; }

    /// What makes the catalogs of trials on this storage, instead of index files.  Null where index files are used.
    [[nodiscard]] virtual source_handle source() const { return nullptr; }

    // Writing ----------------------------------------------------------------------------------------------------

    /// See writable_storage.
    SMDEBUG_INLINE virtual void write(std::string_view key, byte_view bytes);

    /// An object to be written piece by piece. The default gathers the pieces and calls write() at the commit, as
    /// durable as write() is; the storage must outlive it.
    [[nodiscard]] SMDEBUG_INLINE virtual std::unique_ptr<object_output> create(std::string_view key);

    /// Removes an object; returns whether it existed. `on_disk`: the removal of this object, and of those removed
    /// before in its folder, survives a loss of power if the storage can promise that, also if the object was missing
    /// already.
    SMDEBUG_INLINE virtual bool remove(std::string_view key, durability how);

    /// Removes unfinished uploads, perhaps of a killed process: those whose keys start with `prefix` and that `which`
    /// accepts. Returns their keys, each once, in order. Whether a writer still lives is unknown here: `which` has to
    /// decide. For a storage that keeps the parts of unfinished objects.
    virtual std::vector<std::string> remove_unfinished(std::string_view /*prefix*/,
                                                       function_ref<bool(std::string_view)> /*which*/) {
        return {};
    }

    /// Holds a key exclusively.
    ///  1. It puts an object under the key, which shows others that it is held; `on_disk`: one that survives a loss of
    ///     power whole, if the storage can promise that;
    ///  2. it throws in_use if another live holder has the key, or if that cannot be determined; of many concurrent
    ///     calls, in any number of processes, one succeeds;
    ///  3. a dead holder, however it died, holds nothing;
    ///  4. an existing object that is not a claim, such as an empty one, counts as held.
    /// Not promised: anything about objects under a held key that are written or removed by other means.
    [[nodiscard]] SMDEBUG_INLINE virtual std::unique_ptr<object_claim> claim(std::string_view key, durability how);

    /// Whether claim(key) would have thrown in_use a moment ago.
    [[nodiscard]] SMDEBUG_INLINE virtual bool claimed(std::string_view key) const;

protected:
    storage_base() = default;
    storage_base(const storage_base&) = default;
    storage_base(storage_base&&) = default;
    storage_base& operator=(const storage_base&) = default;
    storage_base& operator=(storage_base&&) = default;
};

namespace detail {

/// Appends the pieces. Cost: one copy of them, and one of the previous contents at each doubling.
void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/storage_base.ipp>
#endif
