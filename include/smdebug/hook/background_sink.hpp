// Writes steps on a thread of its own: the training thread pays for a copy into a bounded pool.
// The orders are carried out one after the other, so that files appear in the order of a direct_sink.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/hook/chunk_pool.hpp>
#include <smdebug/hook/exit_list.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/writable.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A file_sink that copies its input and writes it on another thread.  When the pool is full, append()
/// waits; or, with full_pool::drop, has_room() says no.
/// lost() returns what failed; the thread goes on with the next step.
/// Threads: one caller at a time.  The storage's create() and outputs are used on the other thread alone.
/// Ends:    the destructor carries out what was handed over, and so does the end of the program by exit(), which destroys
///          no local objects; a step that is not finished is lost then.
class background_sink final : public file_sink {
public:
    background_sink(any_storage store, durability how, background_options options);

    background_sink(const background_sink&) = delete;
    background_sink& operator=(const background_sink&) = delete;
    SMDEBUG_INLINE ~background_sink() override;

    [[nodiscard]] SMDEBUG_INLINE bool has_room(std::uint64_t bytes) override;

    SMDEBUG_INLINE void begin(const std::string& key) override;

    SMDEBUG_INLINE void append(std::span<const byte_view> pieces) override;

    SMDEBUG_INLINE void finish(const std::string& index_key, std::string_view index_text, bool replaces) override;

    SMDEBUG_INLINE void abandon() noexcept override;

    SMDEBUG_INLINE void put(const std::string& key, std::string_view text) override;

    SMDEBUG_INLINE void remove(const std::string& key) override;

    SMDEBUG_INLINE void drain() override;

    [[nodiscard]] SMDEBUG_INLINE std::vector<lost_write> lost() override;

private:
    struct begin_file {
        std::string key;
    };
    struct append_chunk {
        chunk_pool::chunk bytes;
    };
    struct finish_step {
        std::string index_key;
        std::string index_text;
        bool replaces = false;
    };
    struct abandon_file {};
    struct put_file {
        std::string key;
        std::string text;
    };
    struct remove_file {
        std::string key;
    };
    struct stop {};
    using order = std::variant<begin_file, append_chunk, finish_step, abandon_file, put_file, remove_file, stop>;

    // Waits for the orders sent so far: the training may go on while the program ends.
    void finish_sent() noexcept;

    // Sends the pending orders.  Waking the other thread costs some microseconds: it is done once a step, or when a
    // good part of the pool is full.
    void send();

    [[nodiscard]] static std::size_t bytes_of_text(const order& what) noexcept;
    [[nodiscard]] std::size_t text_bytes();

    void work();

    void carry_out(begin_file& what);
    void carry_out(append_chunk& what);
    void carry_out(finish_step& what);
    void carry_out(abandon_file& /*what*/);
    void carry_out(put_file& what);
    void carry_out(remove_file& what);
    void carry_out(stop& /*what*/) noexcept {}

    // Of a step that is lost nothing more is tried, above all not its index.
    void attempt(const std::string& key, function_ref<void()> doing);

    void note(const std::string& key);

    chunk_pool pool_;
    full_pool when_full_;
    std::optional<chunk_pool::chunk> filling_;  // the caller's, as are the next three
    std::vector<order> pending_;                // not sent yet
    std::size_t most_pending_;
    bool is_begun_ = false;  // whether anything of the current step was sent

    std::mutex guard_;  // of what follows, up to lost_
    std::condition_variable sent_;
    std::condition_variable done_;
    std::deque<order> orders_;
    std::size_t text_bytes_ = 0;    // of the small files in them
    std::uint64_t sent_count_ = 0;  // orders since the beginning
    std::uint64_t done_count_ = 0;
    bool busy_ = true;
    std::vector<lost_write> lost_;

    direct_sink target_;  // the thread's, as are broken_ and event_key_
    bool broken_ = false;
    std::string event_key_;
    std::thread worker_;  // it uses all of the above
    std::optional<exit_entry> at_exit_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/background_sink.ipp>
#endif
