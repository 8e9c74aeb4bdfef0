// What a storage must offer to writers of runs, and what it may offer beyond that: writing piece by piece, removing
// objects, holding keys exclusively.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// A storage that can be written: write(key, bytes) makes the object appear whole or not at all, and replaces an older
/// one. As durable as the storage makes it: at least durability::cached.
template <class Store>
concept writable_storage = storage<Store> && requires(Store& store, std::string_view key, byte_view bytes) {
    { store.write(key, bytes) } -> std::same_as<void>;
};

/// How durable a committed object is: `cached` survives the end of the process, `on_disk` also a loss of power, if the
/// storage can promise that.
enum class durability : std::uint8_t { cached, on_disk };

/// An object being written, which is invisible until it is whole. A type O models `object_output` when:
///  1. append(pieces) appends the pieces in order, and does not need them after it returns;
///  2. commit(how) makes the object appear whole under its key and replaces an older one; nothing may be called after
///     it;
///  3. destroyed without a successful commit, it leaves no object behind and an older one unchanged;
///  4. after a throw only destruction is allowed. If commit threw, the object may have appeared: it is then whole, but
///     its durability is unknown;
///  5. it is used by one thread at a time, and does not outlive its storage. Other outputs may be written meanwhile,
///     even under the same key: the last commit wins.
template <class Output>
concept object_output =
    std::movable<Output> && requires(Output& out, std::span<const byte_view> pieces, durability how) {
        { out.append(pieces) } -> std::same_as<void>;
        { out.commit(how) } -> std::same_as<void>;
    };

/// Optional: create(key) returns an object_output, which avoids keeping the whole object in memory where possible.
/// create_output() returns one for every writable storage.
template <class Store>
concept appending_storage = requires(Store& store, std::string_view key) {
    { store.create(key) } -> object_output;
};

/// Optional: remove(key) removes an object; returns whether it existed. Beside it, optional: remove(key, how), which
/// with `on_disk` makes the removal of this object, and of those removed before in its folder, survive a loss of power,
/// also if the object was missing already.
template <class Store>
concept removing_storage = requires(Store& store, std::string_view key) {
    { store.remove(key) } -> std::same_as<bool>;
};

/// A key held by one writer exclusively, until release() or destruction, which remove the key's object.
/// Calling release() again is a no-op. Used by one thread at a time.
template <class Claim>
concept object_claim = std::movable<Claim> && !std::copy_constructible<Claim> && requires(Claim& claim) {
    { claim.release() } -> std::same_as<void>;
};

/// Whether a claim still holds, as far as it knows. Optional, beside release(): holds() returns false if others removed
/// or replaced the key's object.
template <object_claim Claim>
[[nodiscard]] bool still_holds(const Claim& claim) {
    if constexpr (requires {
                      { claim.holds() } -> std::same_as<bool>;
                  }) {
        return claim.holds();
    } else {
        return true;
    }
}

/// Optional: holding a key exclusively. A type Store models `claiming_storage` when:
///  1. claim(key) puts an object under the key, which shows others that it is held, and returns an object_claim;
///  2. claim(key) throws in_use if another live holder has the key, or if that cannot be determined; of many concurrent
///     calls, in any number of processes, one succeeds;
///  3. a dead holder, however it died, holds nothing;
///  4. claimed(key) returns whether claim(key) would have thrown in_use a moment ago;
///  5. an existing object that is not a claim, such as an empty one, counts as held.
/// Not promised: anything about objects under a held key that are written or removed by other means.
template <class Store>
concept claiming_storage = requires(Store& store, const Store& seen, std::string_view key) {
    { store.claim(key) } -> object_claim;
    { seen.claimed(key) } -> std::same_as<bool>;
};

/// Holds a key; `on_disk`: by an object that survives a loss of power whole, if the storage can promise that. Optional,
/// beside claim(key): claim(key, how).
template <claiming_storage Store>
[[nodiscard]] auto take_claim(Store& store, std::string_view key, [[maybe_unused]] durability how) {
    if constexpr (requires {
                      { store.claim(key, how) } -> object_claim;
                  }) {
        return store.claim(key, how);
    } else {
        return store.claim(key);
    }
}

/// Removes an object, as durably as the storage can; returns whether it existed.
template <removing_storage Store>
bool remove_object(Store& store, std::string_view key, [[maybe_unused]] durability how) {
    if constexpr (requires {
                      { store.remove(key, how) } -> std::same_as<bool>;
                  }) {
        return store.remove(key, how);
    } else {
        return store.remove(key);
    }
}

/// Removes unfinished uploads, perhaps of a killed process: those whose keys start with `prefix` and that `which`
/// accepts. Returns their keys, each once, in order. Whether a writer still lives is unknown here: `which` has to
/// decide. Optional: remove_unfinished(prefix, which), for a storage that keeps the parts of unfinished objects; other
/// storages leave nothing behind.
template <class Store>
std::vector<std::string> remove_unfinished(Store& store, std::string_view prefix,
                                           function_ref<bool(std::string_view)> which) {
    if constexpr (requires {
                      { store.remove_unfinished(prefix, which) } -> std::same_as<std::vector<std::string>>;
                  }) {
        return store.remove_unfinished(prefix, which);
    } else {
        return {};
    }
}

namespace detail {

/// Appends the pieces. Cost: one copy of them, and one of the previous contents at each doubling.
void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces);

/// An object_output for a storage without create(): gathers the pieces in memory and calls write() at commit.
/// The storage must outlive it. It is as durable as write(), whatever durability was requested.
/// Errors: those of write(), from commit() only; an impossible key is also found then.
template <writable_storage Storage>
class gathered_output {
public:
    gathered_output(Storage& store, std::string_view key) : store_(std::addressof(store)), key_(key) {}
    gathered_output(gathered_output&&) = default;
    gathered_output& operator=(gathered_output&&) = default;
    gathered_output(const gathered_output&) = delete;
    gathered_output& operator=(const gathered_output&) = delete;
    ~gathered_output() = default;

    void append(std::span<const byte_view> pieces) { gather(bytes_, pieces); }
    void commit(durability /*as write() has it*/);

private:
    Storage* store_;
    std::string key_;
    std::vector<std::byte> bytes_;
};

}  // namespace detail

/// An object_output for the object `key`: the storage's own if it has create(), else one that gathers the pieces in
/// memory and writes them together. Errors: those of the storage.
template <writable_storage Storage>
[[nodiscard]] auto create_output(Storage& store, std::string_view key) {
    if constexpr (appending_storage<Storage>) {
        return store.create(key);
    } else {
        return detail::gathered_output<Storage>{store, key};
    }
}

namespace detail {

/// Writes a whole small object.  Errors: those of the storage.
template <writable_storage Storage>
void put_whole(Storage& store, std::string_view key, byte_view bytes, durability how) {
    auto output = create_output(store, key);
    output.append({&bytes, 1});
    output.commit(how);
}

}  // namespace detail

/// What a storage can do at run time. Optional: a storage whose operations may be impossible or not worthwhile has
/// `storage_abilities abilities() const`, which names those operations: `return {.views = false};`.
struct storage_abilities {
    bool batches_ranges = true;  ///< read_ranges() costs less than single reads: collect ranges for it
    bool views = true;           ///< view() may return objects that were never read before
    bool reads_ahead = true;     ///< read_ahead() is worthwhile for small objects, too, and for those wanted much later
    bool opens_small = true;     ///< open() is worthwhile for small objects, too; otherwise above some 100 KiB only
    bool follows = true;         ///< a follower's cost depends on what is new; otherwise list(prefix, after) is cheaper
    bool writes = true;          ///< otherwise write() and create() throw unsupported
    bool removes = true;         ///< otherwise remove() throws unsupported
    bool claims = true;          ///< otherwise claim() and claimed() throw unsupported
    bool one_object = false;     ///< it is a single object, and name() is its path
    /// The least pause between two checks for changes, where each costs time or money.
    std::chrono::milliseconds look_interval{0};

    friend bool operator==(const storage_abilities&, const storage_abilities&) = default;
};

/// What a storage can do: everything for which it has the operation, except what its abilities() exclude.
/// Cost: that of abilities(), if it has any.
template <class Store>
[[nodiscard]] constexpr storage_abilities abilities_of(const Store& store) {
    storage_abilities told;
    if constexpr (requires(Store& any) { any.abilities(); }) {
        static_assert(
            requires {
                { store.abilities() } -> std::same_as<storage_abilities>;
            }, "abilities() of a storage is const and gives storage_abilities");
        told = store.abilities();
    }
    return {.batches_ranges = told.batches_ranges && range_batch_reader<Store>,
            .views = told.views && viewing_storage<Store>,
            .reads_ahead = told.reads_ahead && prefetching_storage<Store>,
            .opens_small = told.opens_small && opening_storage<Store>,
            .follows = told.follows && followable_storage<Store>,
            .writes = told.writes && writable_storage<Store>,
            .removes = told.removes && removing_storage<Store>,
            .claims = told.claims && claiming_storage<Store>,
            .one_object = told.one_object,
            .look_interval = told.look_interval};
}

/// The pause between two checks for changes: the chosen one, or the storage's own if that is longer.
template <class Store>
[[nodiscard]] constexpr std::chrono::milliseconds look_interval(const Store& store, std::chrono::milliseconds chosen) {
    return std::max(abilities_of(store).look_interval, chosen);
}

namespace detail {

/// Does not compile for a storage of which an optional operation has another signature than its concept wants: it would
/// be ignored without a word.
template <class Store>
struct checked_signatures {
    static_assert(
        batch_reader<Store> || !requires { &Store::read_each; },
        "read_each(keys, sink) of a storage is const, and takes an object_sink");
    static_assert(
        range_batch_reader<Store> || !requires { &Store::read_ranges; },
        "read_ranges(ranges, sink) of a storage is const, and takes a range_sink");
    static_assert(
        writable_storage<Store> || !requires(Store& any, std::string_view key, byte_view bytes) {
            any.write(key, bytes);
        }, "write(key, bytes) of a storage returns nothing");
    static_assert(
        viewing_storage<Store> || !requires(Store& any, std::string_view key) { any.view(key); },
        "view(key) of a storage is const, and returns std::optional<byte_buffer>");
    static_assert(
        opening_storage<Store> || !requires(Store& any, std::string_view key) { any.open(key); },
        "open(key) of a storage is const, and returns std::unique_ptr<opened_object>");
    static_assert(
        prefetching_storage<Store> || !requires(Store& any, std::string_view key) { any.read_ahead(key); },
        "read_ahead(key) of a storage is const, and returns bool");
    static_assert(
        holding_storage<Store> || !requires(Store& any) { any.hold(); },
        "hold() of a storage is const, and returns std::unique_ptr<pinned_ranges>");
    static_assert(
        versioned_storage<Store> || !requires(Store& any) { any.entries("", "", std::size_t{1}); },
        "a storage with entries() has read_versioned(), too, see versioned_storage");
    static_assert(
        followable_storage<Store> || !requires(Store& any, std::string_view prefix) { any.follow(prefix); },
        "follow(prefix) of a storage is const, and returns a key_follower");
    static_assert(
        announcing_storage<Store> || !requires(Store& any, std::span<const std::string> prefixes) {
            any.watch(prefixes);
        }, "watch(prefixes) of a storage is const, and returns std::unique_ptr<change_signal>");
    static_assert(
        dated_storage<Store> || !requires(Store& any, std::string_view key) { any.modified(key); },
        "modified(key) of a storage is const, and returns an optional std::chrono::system_clock::time_point");
    static_assert(
        place_prober<Store> || !requires(Store& any) { any.place(); },
        "place() of a storage is const, and returns place_kind");
    static_assert(
        problem_reporter<Store> || !requires(Store& any) { any.problems(); },
        "problems() of a storage is const, and returns std::vector<problem>");
    static_assert(
        appending_storage<Store> || !requires(Store& any, std::string_view key) { any.create(key); },
        "create(key) of a storage returns an object_output");
    static_assert(
        removing_storage<Store> || !requires(Store& any, std::string_view key) { any.remove(key); },
        "remove(key) of a storage returns bool");
    static_assert(
        claiming_storage<Store> || !requires(Store& any, std::string_view key) { any.claim(key); },
        "claim(key) of a storage returns an object_claim; beside it is claimed(key), which is const");
};

/// Where an object is, for messages.
template <class Store>
[[nodiscard]] std::string path_of(const Store& store, std::string_view key) {
    return abilities_of(store).one_object ? std::string{store.name()}
                                          : std::string{store.name()} + "/" + std::string{key};
}

template <writable_storage Storage>
void gathered_output<Storage>::commit(durability /*as write() has it*/) {
    store_->write(key_, bytes_);
    bytes_ = {};  // the memory is not needed until destruction
}

inline void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces) {
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
}  // namespace smdebug::inline v1
