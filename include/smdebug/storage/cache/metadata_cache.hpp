// Learns sizes and versions of objects by listing a thousand neighbours with one request.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
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

/// Queries a storage and remembers the answers. Borrows the storage.
/// Threads: everything may be called concurrently; one thread queries at a time, as its answer usually covers the
/// others' keys.
template <storage Inner>
class metadata_cache {
public:
    /// `may_do_without`: accept a size without a version if the storage reports no more.
    metadata_cache(const Inner& inner, std::function<bool(std::string_view)> of_interest, bool may_do_without)
        : inner_(inner), of_interest_(std::move(of_interest)), may_do_without_(may_do_without) {}

    [[nodiscard]] known_objects& known() noexcept { return known_; }

    /// What is known of an object; if nothing is, the storage is queried for it and its neighbours.
    /// Nothing if it does not exist, or the storage does not report it: reading it will show the error.
    [[nodiscard]] std::optional<known_object> learn(std::string_view key);

    /// Whether an object was replaced or removed since the state `was`.
    [[nodiscard]] bool has_changed(std::string_view key, const known_object& was);

    /// Remembers a listing. `state`: that of known() when the listing began.
    void note(std::vector<object_entry> listed, std::uint64_t state);

    void forget();

    /// Lists entries from the key on, below its top folder; or some just before it if there are too many.
    /// Errors: those of the storage.
    [[nodiscard]] std::vector<object_entry> entries_from(std::string_view key) const
        requires versioned_storage<Inner>;
    /// The entry of a key; null if it is not among them.
    [[nodiscard]] static const object_entry* entry_of(const std::vector<object_entry>& window, std::string_view key);

private:
    [[nodiscard]] std::optional<known_object> learn_size(std::string_view key, std::uint64_t state);

    const Inner& inner_;
    std::function<bool(std::string_view)> of_interest_;
    bool may_do_without_;
    known_objects known_;
    std::mutex asking_;
    std::atomic<bool> cannot_list_{false};
};

template <storage Inner>
std::optional<known_object> metadata_cache<Inner>::learn(std::string_view key) {
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::lock_guard asking{asking_};
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::uint64_t state = known_.state();
    if constexpr (versioned_storage<Inner>) {
        try {
            if (!cannot_list_) {
                std::vector<object_entry> window = entries_from(key);
                std::optional<known_object> listed;
                if (const object_entry* const entry = entry_of(window, key)) {
                    listed = known_object{.size = entry->size, .version = entry->version};
                }
                note(std::move(window), state);
                return listed;
            }
        } catch (const access_denied&) {
            cannot_list_ = true;  // reading objects may be permitted where listing is not
        } catch (const error&) {
            return std::nullopt;
        }
    }
    return may_do_without_ ? learn_size(key, state) : std::nullopt;
}

template <storage Inner>
bool metadata_cache<Inner>::has_changed(std::string_view key, const known_object& was) {
    known_.forget(key);
    const std::optional<known_object> now = learn(key);
    return !now || now->size != was.size || now->version != was.version;
}

template <storage Inner>
void metadata_cache<Inner>::note(std::vector<object_entry> listed, std::uint64_t state) {
    std::erase_if(listed, [&](const object_entry& one) { return !of_interest_(one.key); });
    known_.learn(std::move(listed), state);
}

template <storage Inner>
void metadata_cache<Inner>::forget() {
    cannot_list_ = false;
    known_.forget();
}

template <storage Inner>
std::vector<object_entry> metadata_cache<Inner>::entries_from(std::string_view key) const
    requires versioned_storage<Inner>
{
    constexpr std::size_t most = 1000;                               // as many as S3 lists at once
    constexpr int most_windows = 16;                                 // a faulty server may never end
    const std::string_view part = key.substr(0, key.find('/') + 1);  // npos + 1 is 0
    std::string after = detail::key_before(key);
    for (int windows = 1;; ++windows) {
        std::vector<object_entry> window = inner_.entries(part, after, most);
        // By compare(), here and below: clang 14 does not find the operators.
        if (window.size() < most || window.back().key.compare(key) >= 0 || window.back().key.compare(after) <= 0 ||
            windows == most_windows) {
            return window;
        }
        after = window.back().key;
    }
}

template <storage Inner>
const object_entry* metadata_cache<Inner>::entry_of(const std::vector<object_entry>& window, std::string_view key) {
    const auto entry =
        std::lower_bound(window.begin(), window.end(), key,
                         [](const object_entry& one, std::string_view other) { return one.key.compare(other) < 0; });
    return entry != window.end() && entry->key.compare(key) == 0 ? &*entry : nullptr;
}

template <storage Inner>
std::optional<known_object> metadata_cache<Inner>::learn_size(std::string_view key, std::uint64_t state) {
    try {
        if (const std::optional<std::uint64_t> size = inner_.size(key)) {
            known_.learn(key, {.size = *size}, state);
            return known_object{.size = *size};
        }
    } catch (const error&) {
        // Reading the object throws the error again.
    }
    return std::nullopt;
}

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/metadata_cache.ipp>
#endif
