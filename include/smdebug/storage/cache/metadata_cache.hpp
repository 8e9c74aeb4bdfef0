// Learns sizes and versions of objects by listing a thousand neighbours with one request.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// Sizes and versions of objects, from listings; remembered for the recently used keys (LRU, in two generations).
namespace smdebug::inline v1::detail {

/// What is known of an object.
struct known_object {
    std::uint64_t size = 0;
    std::string version = {};
    bool passes = false;  ///< it changes, or is a claim: do not cache it
};

/// Remembers some ten thousand objects, but not that an object is missing.
/// Threads: everything may be called concurrently.
class known_objects {
public:
    static constexpr std::size_t usual_most = 32768;
    explicit known_objects(std::size_t most = usual_most) : half_(most / 2 + 1) {}

    [[nodiscard]] std::optional<known_object> find(std::string_view key);

    /// A number that changes when something is forgotten.
    [[nodiscard]] std::uint64_t state() const;

    /// Remembers the result of a listing. `state`: state() when it began. If something was forgotten since, the listing
    /// may be out of date and is ignored.
    void learn(std::vector<object_entry> listed, std::uint64_t state);
    void learn(std::string_view key, known_object listed, std::uint64_t state);

    /// Marks an object as not to be cached; only forget() undoes that.
    void pass(std::string_view key);

    /// Forgets that mark, too, for one key or for all.
    void forget(std::string_view key);
    void forget();

    /// Forgets sizes and versions of these keys, which may have changed.
    void doubt(const std::vector<std::string>& keys);

private:
    using map = std::unordered_map<std::string, known_object, text_hash, std::equal_to<>>;

    [[nodiscard]] const known_object* look(std::string_view key) const;

    void put(std::string key, known_object listed);

    void erase(std::string_view key);

    // Drops keys that were not looked up since the last call.
    void make_room();

    std::size_t half_;
    mutable std::mutex guard_;
    std::uint64_t state_ = 0;
    map young_;
    map old_;
};

/// A key just before another one, with hardly any key between them; printable if the other is.
[[nodiscard]] std::string key_before(std::string_view key);

/// Queries a storage and remembers the answers: sizes and versions, or sizes alone if the storage has no versions.
/// Threads: everything may be called concurrently; one thread queries at a time, as its answer usually covers the
/// others' keys.
class metadata_cache {
public:
    metadata_cache(any_storage inner, std::function<bool(std::string_view)> of_interest)
        : inner_(std::move(inner)), of_interest_(std::move(of_interest)) {}

    [[nodiscard]] known_objects& known() noexcept { return known_; }

    /// What is known of an object; if nothing is, the storage is queried for it and its neighbours.
    /// Nothing if it does not exist, or the storage does not report it: reading it will show the error.
    [[nodiscard]] std::optional<known_object> learn(std::string_view key);

    /// Whether an object was replaced or removed since the state `was`.
    [[nodiscard]] bool has_changed(std::string_view key, const known_object& was);

    /// Remembers a listing. `state`: that of known() when the listing began.
    void note(std::vector<object_entry> listed, std::uint64_t state);

    void forget();

    /// Lists entries from the key on, below its top folder; or some just before it if there are too many; nothing if
    /// the storage has no versions. Errors: those of the storage.
    [[nodiscard]] std::optional<std::vector<object_entry>> entries_from(std::string_view key) const;
    /// The entry of a key; null if it is not among them.
    [[nodiscard]] static const object_entry* entry_of(const std::vector<object_entry>& window, std::string_view key);

private:
    [[nodiscard]] std::optional<known_object> learn_size(std::string_view key, std::uint64_t state);

    any_storage inner_;
    std::function<bool(std::string_view)> of_interest_;
    known_objects known_;
    std::mutex asking_;
    std::atomic<bool> cannot_list_{false};
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/metadata_cache.ipp>
#endif
