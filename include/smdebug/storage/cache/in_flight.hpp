// What is in flight: the objects and parts that are fetched now, the fetched parts that are pinned, see pinned_ranges,
// and the threads that fetch what is needed soon.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/concepts.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Bytes of an object, and their version as far as it is known.
struct versioned_part {
    byte_buffer bytes;
    object_version version = {};
};

/// The parts of objects that are on their way, so that each is fetched once, however many threads want it. There are
/// two kinds:
///  - pinned parts: prefetched for a pinned_ranges, its holder, which keeps them after their arrival. They are found
///    by any range inside, and read as they were when they were fetched. One from byte 0 on whose requested length
///    exceeds the object's size is the whole object.
///  - whole objects of a listed version, on their way into a cache: they are found by that version, and gone once they
///    have arrived.
/// Threads: everything may be called concurrently. Memory: each part until its last handle is gone.
class in_flight {
public:
    /// Protected by the table's mutex.
    class part {
    public:
        part(std::string_view key, byte_range asked, std::optional<std::string> listed = {})
            : key_(key), asked_(asked), listed_(std::move(listed)) {}

    private:
        friend class in_flight;
        std::string key_;
        byte_range asked_;
        std::optional<std::string> listed_;  // the version of a whole object; nothing for a pinned part
        bool has_ended_ = false;             // it has arrived or failed
        std::optional<versioned_part> arrived_;
        std::exception_ptr failure_;  // for those that wait; if it failed without one, they fetch it themselves
    };
    using handle = std::shared_ptr<part>;

    // Pinned parts ---------------------------------------------------------------------------------------------

    struct pinned {
        handle what;         ///< holds the part
        bool fresh = false;  ///< no other holder is fetching it: the caller must
    };

    /// Holds a part, which counts as on its way from now on unless it was already held.
    [[nodiscard]] pinned pin(std::string_view key, byte_range asked);
    /// Ends the wait for a part, if it is still held or waited for. `bytes`: the fetched bytes; nothing if they cannot
    /// be read or do not exist. If their version differs from that of other pinned parts of the object, all of these
    /// are dropped.
    void put(const std::weak_ptr<part>& what, std::optional<byte_buffer> bytes, object_version version = {});

    /// A range of an object, cut at the object's end, if it is within the pinned parts; waits if it is on its way.
    /// Nothing for an empty range, and for one behind the object's end.
    [[nodiscard]] std::optional<versioned_part> find(std::string_view key, byte_range where) const;
    [[nodiscard]] bool covers(std::string_view key, byte_range where) const;

    // Whole objects ----------------------------------------------------------------------------------------------

    /// What fetches: a reader, or a prefetch.
    enum class by : std::uint8_t { reader, prefetch };

    /// Returns the result of fetch() on this thread; if another thread is already fetching the object, a reader waits
    /// for that result, and a prefetch returns nothing.
    /// keep(result) is called before the waiting threads continue, unless the key was forgotten meanwhile; it runs
    /// under a lock and must be fast.
    /// Errors: what fetch() throws, to all that waited for a reader's fetch; a reader that waited for a prefetch
    /// fetches again itself. Those of keep() are swallowed.
    [[nodiscard]] std::optional<versioned_part> get(std::string_view key, std::string_view listed, by who,
                                                    function_ref<versioned_part()> fetch,
                                                    function_ref<void(const versioned_part&)> keep);
    /// The result of a fetch in flight, once it ends; nothing if there is none, or if it fails.
    [[nodiscard]] std::optional<versioned_part> wait(std::string_view key, std::string_view listed) const;
    [[nodiscard]] bool is_under_way(std::string_view key, std::string_view listed) const;

    // Both -------------------------------------------------------------------------------------------------------

    /// Call it when an object has been, or may have been, replaced: parts that were pinned or fetched before are no
    /// longer found, nor kept by get(). Those that wait for a whole object still get it.
    void forget(std::string_view key);
    void forget();

private:
    using key_parts = std::vector<std::weak_ptr<part>>;

    [[nodiscard]] static bool covers(const part& one, byte_range where) noexcept;

    [[nodiscard]] handle first(std::string_view key, function_ref<bool(const part&)> which) const;
    [[nodiscard]] handle covering(std::string_view key, byte_range where) const;
    [[nodiscard]] handle whole(std::string_view key, std::string_view listed) const;

    void add(const handle& fresh);

    mutable std::mutex guard_;
    mutable std::condition_variable ended_;
    std::unordered_map<std::string, key_parts, text_hash, std::equal_to<>> by_key_;
    std::size_t sweep_at_ = 0;  // the number of keys at which those without parts are removed
};

/// Calls fetch(key) for the requested keys, on threads that are started when they are needed.
/// If too many requests are queued, the oldest are dropped. Errors of fetch are swallowed: reading the object reports
/// them.
/// Threads: wish() may be called concurrently; destruction drops queued requests and waits for running fetches.
/// A forked child has no threads: a crew that has started must not be used or destroyed there.
class fetch_crew {
public:
    fetch_crew(std::function<void(const std::string&)> fetch, std::size_t most_threads, std::size_t most_wishes)
        : fetch_(std::move(fetch)), most_threads_(most_threads), most_wishes_(most_wishes) {}
    fetch_crew(const fetch_crew&) = delete;
    fetch_crew& operator=(const fetch_crew&) = delete;
    ~fetch_crew();

    /// Returns at once, with whether there is a thread for it. A key that is already queued is not queued again.
    bool wish(std::string_view key);

private:
    void hire();

    void work();

    std::function<void(const std::string&)> fetch_;
    std::size_t most_threads_;
    std::size_t most_wishes_;
    std::mutex guard_;
    std::condition_variable wake_;
    std::deque<std::string> wishes_;  // oldest first
    std::size_t idle_ = 0;
    bool ended_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/in_flight.ipp>
#endif
