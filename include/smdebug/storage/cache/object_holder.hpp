// The thread that prefetches the parts of a cached storage's objects that a holder asks for.
#pragma once

#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/concepts.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Brings parts in the order in which they were asked for, many with one call: what is cached from there, the rest from
/// the inner storage.  A disk_cache keeps what comes whole; a memory_cache does not, as it is held anyway.
/// Destruction waits for what is under way, no more.  A forked child has no thread: a holder that has begun must not be
/// used or destroyed there.
template <class Reader>
class object_holder final : public held_objects {
public:
    explicit object_holder(std::shared_ptr<Reader> reader) : reader_(std::move(reader)) {}
    object_holder(const object_holder&) = delete;
    object_holder& operator=(const object_holder&) = delete;
    ~object_holder() override;

    void bring(std::span<const object_range> parts) override;

    void release(std::string_view key) override;

private:
    using handle = held_parts::part_handle;
    struct has_no_holder {};                          // ends a batch whose holder is being destroyed
    static constexpr std::size_t most_at_once = 256;  // parts that are named to the storage in one call

    [[nodiscard]] held_parts& table() noexcept { return reader_->parts(); }

    void release_all();
    void give_up();

    void work();

    /// Waits for parts that are still held; false at the end.
    [[nodiscard]] bool next(std::vector<handle>& batch);
    [[nodiscard]] bool has_ended();

    std::shared_ptr<Reader> reader_;  // shared: this may outlive the storage that made it
    std::mutex guard_;
    std::condition_variable wake_;
    std::unordered_map<std::string, std::vector<handle>> by_key_;
    std::deque<handle> to_bring_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/storage/cache/impl/object_holder.tpp>
