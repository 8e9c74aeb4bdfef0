// Memory for what waits to be written: chunks of one size, bounded in number, touched before they are needed.
// What was given back last is handed out first: it is still in the cache.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A bounded stock of chunks.  Threads: everything may be called at once.
class chunk_pool {
public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;

    /// One chunk, on loan: filled from the front by one thread, read by another, given back when it goes.
    class chunk {
    public:
        chunk(chunk&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), at_(other.at_), used_(std::exchange(other.used_, 0)) {}
        chunk& operator=(chunk&& other) noexcept;
        chunk(const chunk&) = delete;
        chunk& operator=(const chunk&) = delete;
        ~chunk();

        [[nodiscard]] std::size_t room() const noexcept { return chunk_bytes - used_; }
        [[nodiscard]] byte_view view() const noexcept { return {at_, used_}; }
        /// Copies as much of `bytes` as there is room for; returns the rest.
        [[nodiscard]] byte_view fill(byte_view bytes) noexcept;

    private:
        friend class chunk_pool;
        chunk(chunk_pool& pool, std::byte* at) noexcept : pool_(&pool), at_(at) {}
        chunk_pool* pool_;
        std::byte* at_;
        std::size_t used_ = 0;
    };

    /// At least two chunks, however small `bytes` is: one is filled while the other is written.
    explicit chunk_pool(std::size_t bytes);
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;
    ~chunk_pool() = default;

    /// Waits until one is free.
    [[nodiscard]] chunk take();

    /// Bytes in free chunks.
    [[nodiscard]] std::size_t free_bytes() const;

    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * chunk_bytes; }

private:
    void take_back(std::byte* at) noexcept;

    std::size_t count_;
    std::unique_ptr<std::byte[]> memory_;
    mutable std::mutex guard_;
    std::condition_variable given_back_;
    std::vector<std::byte*> free_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/chunk_pool.ipp>
#endif
