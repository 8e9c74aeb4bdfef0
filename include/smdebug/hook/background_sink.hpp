// Writes steps on a background thread: the training thread pays for a copy into a bounded pool.
// Orders are carried out in sequence, so files appear in the same order as with a direct_sink.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Memory for bytes waiting to be written: a bounded number of chunks of one size, whose pages are touched in advance.
/// The chunk returned last is handed out first: it is still in the cache.
/// Threads: all functions may be called concurrently.
class chunk_pool {
public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;

    /// A borrowed chunk: filled from the front by one thread, read by another, given back by its destructor.
    class chunk {
    public:
        chunk(chunk&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), begin_(other.begin_), used_(std::exchange(other.used_, 0)) {}
        chunk& operator=(chunk&& other) noexcept;
        chunk(const chunk&) = delete;
        chunk& operator=(const chunk&) = delete;
        ~chunk();

        [[nodiscard]] std::size_t room() const noexcept { return chunk_bytes - used_; }
        [[nodiscard]] byte_view view() const noexcept { return {begin_, used_}; }
        /// Copies as much of `bytes` as there is room for; returns the rest.
        [[nodiscard]] byte_view fill(byte_view bytes) noexcept;

    private:
        friend class chunk_pool;
        chunk(chunk_pool& pool, std::byte* begin) noexcept : pool_(&pool), begin_(begin) {}
        chunk_pool* pool_;
        std::byte* begin_;
        std::size_t used_ = 0;
    };

    /// At least two chunks, however small `bytes` is: one is filled while the other is written.
    explicit chunk_pool(std::size_t bytes);
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;
    ~chunk_pool() = default;

    /// Waits until a chunk is free.
    [[nodiscard]] chunk take();

    /// Bytes in free chunks.
    [[nodiscard]] std::size_t free_bytes() const;

    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * chunk_bytes; }

private:
    void take_back(std::byte* begin) noexcept;

    std::size_t count_;
    std::unique_ptr<std::byte[]> memory_;
    mutable std::mutex guard_;
    std::condition_variable given_back_;
    std::vector<std::byte*> free_;
};

/// While the entry exists, finish(object) is called once when the program ends by exit() or by returning from main: on
/// the thread that ends it, while others may still run.  It is not called for a signal, abort(), _exit() or
/// quick_exit(), nor in a forked child.  Threads: may be created and destroyed on any.  The destructor waits for a
/// running finish().
class exit_entry {
public:
    exit_entry(void* object, void (*finish)(void*) noexcept);
    exit_entry(const exit_entry&) = delete;
    exit_entry& operator=(const exit_entry&) = delete;
    ~exit_entry();

private:
    struct entry {
        void* object;
        void (*finish)(void*) noexcept;
    };
    struct list {
        list* before = nullptr;  // the parent process's: kept reachable, so it is no leak
        long process = posix::process_number();
        std::mutex guard{};
        std::vector<entry> entries{};
    };

    // Never destroyed: hooks may be destroyed later.
    [[nodiscard]] static std::atomic<list*>& newest() noexcept;
    // A forked child starts its own list: the parent's refers to threads that do not exist here, and may be locked for
    // ever.
    [[nodiscard]] static list& list_of_this_process();
    static void finish_all() noexcept;

    void* object_;
    list* home_;
};

/// A file_sink that copies its input and writes it on another thread.  When the pool is full, append() waits; with
/// full_pool::drop, has_room() returns false instead.
/// lost() returns what failed; the thread continues with the next step.
/// Threads: one caller at a time.  The storage's create() and outputs are used on the background thread alone.
/// Ends:    the destructor carries out all pending orders.  So does the end of the program by exit(), which destroys no
///          local objects; an unfinished step is lost then.
class background_sink final : public file_sink {
public:
    background_sink(any_storage store, durability how, background_options options);

    background_sink(const background_sink&) = delete;
    background_sink& operator=(const background_sink&) = delete;
    SMDEBUG_INLINE ~background_sink() override;

    [[nodiscard]] SMDEBUG_INLINE bool has_room(std::uint64_t bytes) override;

    SMDEBUG_INLINE void begin(const std::string& key, std::uint64_t step) override;

    SMDEBUG_INLINE void append(std::span<const byte_view> pieces) override;

    /// The thread waits for the elements, and writes them from where they are: they take no room in the pool.
    SMDEBUG_INLINE void append_late(byte_view before, byte_view elements, const late_elements& late) override;

    SMDEBUG_INLINE void finish(const std::string& index_key, std::string_view index_text, bool replaces,
                               std::uint64_t step) override;

    SMDEBUG_INLINE void abandon() noexcept override;

    SMDEBUG_INLINE void put(const std::string& key, std::string_view text) override;

    SMDEBUG_INLINE void remove(const std::string& key) override;

    SMDEBUG_INLINE void drain() override;

    [[nodiscard]] std::uint64_t finished() const noexcept override { return finished_; }

    [[nodiscard]] SMDEBUG_INLINE std::vector<lost_write> lost() override;

private:
    struct order {
        enum class kind : std::uint8_t { begin, append, finish, abandon, put, remove, stop };

        kind what;
        std::string key = {};    // of the file; of the index file where a step is finished
        std::string text = {};   // of the file or the index file
        std::uint64_t step = 0;  // that is begun or finished
        bool replaces = false;
        std::optional<chunk_pool::chunk> bytes = {};  // to be appended
        byte_view elements = {};                      // appended instead, if there are no bytes; in late.owner
        late_elements late = {};
    };

    // Waits for the orders sent so far; the training may continue while the program ends.
    void finish_sent() noexcept;

    // Sends the pending orders.  Waking the other thread costs some microseconds: it is done once a step, or when a
    // good part of the pool is full.
    void send();

    [[nodiscard]] std::size_t text_bytes();

    void work();

    void carry_out(order& one);

    // Appends the chunk that is being filled.
    void append_filled();

    // After a step is lost, none of its remaining files are written; in particular not its index.
    void attempt(const std::string& key, function_ref<void()> doing);

    void note(const std::string& key, std::uint64_t step);

    chunk_pool pool_;
    full_pool when_full_;
    std::optional<chunk_pool::chunk> filling_;  // used by the caller, like the next three
    std::vector<order> pending_;                // not sent yet
    std::size_t most_pending_;
    bool is_begun_ = false;                   // whether an order of the current step was sent
    std::atomic<std::uint64_t> finished_{0};  // set by the thread, behind the losses of that step

    std::mutex guard_;  // of what follows, up to lost_
    std::condition_variable sent_;
    std::condition_variable done_;
    std::deque<order> orders_;
    std::size_t text_bytes_ = 0;    // of the small files in them
    std::uint64_t sent_count_ = 0;  // orders since the beginning
    std::uint64_t done_count_ = 0;
    bool busy_ = true;
    std::vector<lost_write> lost_;

    direct_sink target_;  // used by the thread, like what follows up to event_key_
    bool broken_ = false;
    bool last_is_lost_ = false;   // the step that was finished last
    std::uint64_t step_now_ = 0;  // the one that is being written
    std::string event_key_;
    std::thread worker_;  // it uses all of the above
    std::optional<exit_entry> at_exit_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/background_sink.ipp>
#endif
