// The bodies of <smdebug/hook/chunk_pool.hpp>.
#pragma once

#include <smdebug/hook/chunk_pool.hpp>

#include <algorithm>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE chunk_pool::chunk& chunk_pool::chunk::operator=(chunk&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(begin_, other.begin_);
    std::swap(used_, other.used_);
    return *this;
}

SMDEBUG_INLINE chunk_pool::chunk::~chunk() {
    if (pool_ != nullptr) {
        pool_->take_back(begin_);
    }
}

SMDEBUG_INLINE byte_view chunk_pool::chunk::fill(byte_view bytes) noexcept {
    const std::size_t count = std::min(bytes.size(), room());
    if (count != 0) {
        std::memcpy(begin_ + used_, bytes.data(), count);
    }
    used_ += count;
    return bytes.subspan(count);
}

SMDEBUG_INLINE chunk_pool::chunk_pool(std::size_t bytes)
    : count_(std::max<std::size_t>(2, (bytes + chunk_bytes - 1) / chunk_bytes)) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(count_ * chunk_bytes);
    // So that training does not pay for the pages' first use.
    std::memset(memory_.get(), 0, count_ * chunk_bytes);
    free_.reserve(count_);
    for (std::size_t i = count_; i > 0; --i) {
        free_.push_back(memory_.get() + (i - 1) * chunk_bytes);
    }
}

SMDEBUG_INLINE chunk_pool::chunk chunk_pool::take() {
    std::unique_lock lock{guard_};
    given_back_.wait(lock, [&] { return !free_.empty(); });
    std::byte* const begin = free_.back();
    free_.pop_back();
    return chunk{*this, begin};
}

SMDEBUG_INLINE std::size_t chunk_pool::free_bytes() const {
    const std::scoped_lock lock{guard_};
    return free_.size() * chunk_bytes;
}

SMDEBUG_INLINE void chunk_pool::take_back(std::byte* begin) noexcept {
    {
        const std::scoped_lock lock{guard_};
        free_.push_back(begin);  // never grows: reserved
    }
    given_back_.notify_one();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
