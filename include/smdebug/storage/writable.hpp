// What a place has to offer to those who write runs, and what it may offer beyond that: writing piece by piece,
// removing, holding keys alone.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A storage that can be written: write(key, bytes) makes the object appear whole or not at all, replacing an older
/// one.
template <class S>
concept writable_storage = storage<S> && requires(S& store, std::string_view key, byte_view bytes) {
    { store.write(key, bytes) } -> std::same_as<void>;
};

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
concept object_claim = std::movable<C> && !std::copy_constructible<C> && requires(C& claim) {
    { claim.release() } -> std::same_as<void>;
};

/// Whether a claim still holds, as far as it can tell.  Optional, beside release(): holds() tells it; false where
/// others took the key's object away, or put another in its place.
template <object_claim C>
[[nodiscard]] bool still_holds(const C& claim) {
    if constexpr (requires {
                      { claim.holds() } -> std::same_as<bool>;
                  }) {
        return claim.holds();
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

/// Holds a key; `on_disk`: by an object that survives the end of the machine's power whole, where the storage can promise
/// that.  Optional, beside claim(key): claim(key, how) does it.
template <claiming_storage S>
[[nodiscard]] auto take_claim(S& store, std::string_view key, [[maybe_unused]] durability how) {
    if constexpr (requires {
                      { store.claim(key, how) } -> object_claim;
                  }) {
        return store.claim(key, how);
    } else {
        return store.claim(key);
    }
}

/// Makes the removal of an object, and of the others in its folder, survive the end of the machine's power.  Optional: a
/// storage whose remove() does not wait for that has settle(key).
template <class S>
void settle_removal(S& store, std::string_view key) {
    if constexpr (requires {
                      { store.settle(key) } -> std::same_as<void>;
                  }) {
        store.settle(key);
    }
}

/// Gives up objects that were begun to be written, perhaps by a process that was killed: those whose keys start with
/// `prefix`, and which `which` takes.  Returns their keys, each once, in order.  There is no telling whether the writer
/// lives: `which` has to know.  Optional: a storage that keeps what has come of such objects does it by
/// remove_unfinished(prefix, which); of others nothing is left.
template <class S>
std::vector<std::string> remove_unfinished(S& store, std::string_view prefix,
                                           function_ref<bool(std::string_view)> which) {
    if constexpr (requires {
                      { store.remove_unfinished(prefix, which) } -> std::same_as<std::vector<std::string>>;
                  }) {
        return store.remove_unfinished(prefix, which);
    } else {
        return {};
    }
}

}  // namespace v1
}  // namespace smdebug
