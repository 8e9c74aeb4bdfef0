// Prefetched parts of objects, by key: present or on their way, and kept while a holder wants them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/batch_read.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug::inline v1::detail {

/// A part from byte 0 on whose requested length exceeds the object's size is the whole object.
/// Threads: everything may be called concurrently. Memory: each part until its last holder has released it.
class held_parts {
public:
    /// One part. Its private members are protected by the table's mutex.
    class part {
    public:
        part(std::string_view key, byte_range asked) : key_(key), asked_(asked) {}
        [[nodiscard]] const std::string& key() const noexcept { return key_; }
        [[nodiscard]] byte_range asked() const noexcept { return asked_; }

    private:
        friend class held_parts;
        std::string key_;
        byte_range asked_;
        bool over = false;  // it has arrived or failed
        std::optional<byte_buffer> bytes;
        object_version version;
        std::size_t holders = 0;
    };
    using part_handle = std::shared_ptr<part>;

    struct promised {
        part_handle what;
        bool fresh = false;  ///< no other holder is fetching it: the caller must
    };

    /// Holds a part, which counts as on its way from now on unless it was already held.
    [[nodiscard]] promised promise(std::string_view key, byte_range asked);
    /// Ends the wait for a part. `bytes`: the fetched bytes; nothing if they cannot be read or do not exist. If their
    /// version differs from that of other parts of the object, all its parts are dropped.
    void put(const part_handle& what, std::optional<byte_buffer> bytes, object_version version = {});
    /// Releases one hold on it.
    void release(const part_handle& what);
    /// Whether anyone still holds it.
    [[nodiscard]] bool is_held(const part_handle& what) const;

    /// A range of an object, cut at the object's end, if it is within the held parts; waits if it is on its way.
    /// Nothing for an empty range, and for one behind the object's end.
    /// `version`: set to its version, if known.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, byte_range where,
                                                  object_version* version = nullptr) const;
    [[nodiscard]] bool covers(std::string_view key, byte_range where) const;

    /// Call it when an object has been, or may have been, replaced: its held parts are no longer returned.
    void forget(std::string_view key);
    void forget();

private:
    [[nodiscard]] static bool covers(const part& one, byte_range where) noexcept;

    [[nodiscard]] part_handle look(std::string_view key, byte_range where) const;

    // Whether any of these parts has another version.
    [[nodiscard]] static bool of_two(const std::vector<part_handle>& known, const object_version& version);

    void erase(const part_handle& what);

    mutable std::mutex guard_;
    mutable std::condition_variable over_;
    std::unordered_map<std::string, std::vector<part_handle>, text_hash, std::equal_to<>> by_key_;
};

/// Single flight: if several threads want the same object, one fetches it and the others wait for its result.
/// The fetches in flight are one per thread: few.
/// Threads: everything may be called concurrently.
class single_flight {
public:
    /// What fetches: a reader, or a prefetch.
    enum class by : std::uint8_t { reader, ahead };

    /// Returns the result of fetch() on this thread; if another thread is already fetching the key, a reader waits for
    /// that result, and a prefetch returns nothing.
    /// keep(bytes) is called before the waiting threads continue, unless the key was forgotten meanwhile; it runs under
    /// a lock and must be fast.
    /// Errors: what fetch() throws, to all that waited for a reader's fetch; a reader that waited for a prefetch
    /// fetches again itself.
    template <class Fetch, class Keep>
    [[nodiscard]] std::optional<byte_buffer> get(std::string_view key, std::string_view version, by who, Fetch&& fetch,
                                                 Keep&& keep) {
        std::unique_lock lock{guard_};
        while (const auto other = find(key, version)) {
            if (who == by::ahead) {
                return std::nullopt;
            }
            over_.wait(lock, [&] { return other->over; });
            if (other->bytes) {
                return other->bytes;
            }
            if (other->why) {
                lock.unlock();
                std::rethrow_exception(other->why);
            }
        }
        const auto mine = std::make_shared<fetching>();
        mine->key = key;
        mine->version = version;
        under_way_.push_back(mine);
        lock.unlock();
        std::optional<byte_buffer> bytes;
        try {
            bytes = fetch();
        } catch (...) {
            lock.lock();
            mine->why = who == by::reader ? std::current_exception() : nullptr;
            end(mine);
            throw;
        }
        lock.lock();
        mine->bytes = bytes;
        try {
            if (!mine->forgotten) {
                keep(*bytes);
            }
        } catch (...) {
            // No memory to cache it; the read itself succeeds.
        }
        end(mine);
        return bytes;
    }

    /// The result of a fetch in flight, once it ends; nothing if there is none, or if it fails.
    [[nodiscard]] std::optional<byte_buffer> wait(std::string_view key, std::string_view version);
    [[nodiscard]] bool is_under_way(std::string_view key, std::string_view version) const;

    /// The object may have been replaced: a fetch in flight still serves the threads that already wait for it, but is
    /// not cached.
    void forget(std::string_view key);
    void forget();

private:
    struct fetching {
        std::string key;
        std::string version;
        bool over = false;
        bool forgotten = false;
        std::optional<byte_buffer> bytes;
        std::exception_ptr why;  // for the waiting threads
    };

    [[nodiscard]] std::shared_ptr<fetching> find(std::string_view key, std::string_view version) const;

    void end(const std::shared_ptr<fetching>& mine);

    void forget_if(function_ref<bool(const fetching&)> which);

    mutable std::mutex guard_;
    std::condition_variable over_;
    std::vector<std::shared_ptr<fetching>> under_way_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/held_parts.ipp>
#endif
