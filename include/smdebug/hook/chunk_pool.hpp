// Memory for what waits to be written: chunks of one size, bounded in number, whose pages are touched in advance.
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

    /// Waits until one is free.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/chunk_pool.ipp>
#endif
