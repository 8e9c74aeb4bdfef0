// Memory for what waits to be written: chunks of one size, bounded in number, touched before they are needed.
// What was given back last is handed out first: it is still in the cache.
// Used by: hook (background_sink).
#pragma once

#include <smdebug/core/bytes.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A bounded stock of chunks.  Threads: everything may be called at once.
class chunk_pool {
public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;

    /// One chunk, on loan: filled from the front by one thread, read by another, given back when it goes.
    class chunk {
    public:
        chunk(chunk&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), at_(other.at_), used_(std::exchange(other.used_, 0)) {}
        chunk& operator=(chunk&& other) noexcept {
            std::swap(pool_, other.pool_);
            std::swap(at_, other.at_);
            std::swap(used_, other.used_);
            return *this;
        }
        chunk(const chunk&) = delete;
        chunk& operator=(const chunk&) = delete;
        ~chunk() {
            if (pool_ != nullptr) {
                pool_->take_back(at_);
            }
        }

        [[nodiscard]] std::size_t room() const noexcept { return chunk_bytes - used_; }
        [[nodiscard]] byte_view view() const noexcept { return {at_, used_}; }
        /// Copies as much of `bytes` as there is room for; returns the rest.
        [[nodiscard]] byte_view fill(byte_view bytes) noexcept {
            const std::size_t count = std::min(bytes.size(), room());
            if (count != 0) {
                std::memcpy(at_ + used_, bytes.data(), count);
            }
            used_ += count;
            return bytes.subspan(count);
        }

    private:
        friend class chunk_pool;
        chunk(chunk_pool& pool, std::byte* at) noexcept : pool_(&pool), at_(at) {}
        chunk_pool* pool_;
        std::byte* at_;
        std::size_t used_ = 0;
    };

    /// At least two chunks, however small `bytes` is: one is filled while the other is written.
    explicit chunk_pool(std::size_t bytes) : count_(std::max<std::size_t>(2, (bytes + chunk_bytes - 1) / chunk_bytes)) {
        memory_ = std::make_unique_for_overwrite<std::byte[]>(count_ * chunk_bytes);
        // So that training does not pay for the pages' first use.
        std::memset(memory_.get(), 0, count_ * chunk_bytes);
        free_.reserve(count_);
        for (std::size_t i = count_; i > 0; --i) {
            free_.push_back(memory_.get() + (i - 1) * chunk_bytes);
        }
    }
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;
    ~chunk_pool() = default;

    /// Waits until one is free.
    [[nodiscard]] chunk take() {
        std::unique_lock lock{guard_};
        given_back_.wait(lock, [&] { return !free_.empty(); });
        std::byte* const at = free_.back();
        free_.pop_back();
        return chunk{*this, at};
    }

    /// Bytes in free chunks.
    [[nodiscard]] std::size_t free_bytes() const {
        const std::scoped_lock lock{guard_};
        return free_.size() * chunk_bytes;
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * chunk_bytes; }

private:
    void take_back(std::byte* at) noexcept {
        {
            const std::scoped_lock lock{guard_};
            free_.push_back(at);  // never grows: reserved
        }
        given_back_.notify_one();
    }

    std::size_t count_;
    std::unique_ptr<std::byte[]> memory_;
    mutable std::mutex guard_;
    std::condition_variable given_back_;
    std::vector<std::byte*> free_;
};

}  // namespace v1
}  // namespace smdebug
