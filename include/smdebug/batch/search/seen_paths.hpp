// Which of many texts were seen before, at some bytes each: their hashes alone are kept.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cache/content_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A set of texts that are known by 64 bits.  Two texts are taken for one by chance once in 2^64 pairs: among a million texts
/// once in 37 million sets.
/// Memory: 9 to 19 bytes a text, and half as much again while it grows.      Threads: one at a time.
class seen_paths {
public:
    /// Whether it is new.
    bool insert(std::string_view text) {
        if ((count_ + 1) * 8 > slots_.size() * 7) {
            grow();
        }
        const std::uint64_t hash = content_hash(as_bytes(text));
        return place(hash == 0 ? 1 : hash);
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
    // Open addressing; 0 is an empty slot.
    bool place(std::uint64_t hash) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = static_cast<std::size_t>(hash) & mask;
        for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
            if (slots_[slot] == hash) {
                return false;
            }
        }
        slots_[slot] = hash;
        ++count_;
        return true;
    }

    void grow() {
        const std::vector<std::uint64_t> before =
            std::exchange(slots_, std::vector<std::uint64_t>(slots_.empty() ? 64 : slots_.size() * 2));
        count_ = 0;
        for (const std::uint64_t hash : before) {
            if (hash != 0) {
                place(hash);
            }
        }
    }

    std::vector<std::uint64_t> slots_;  // a power of two
    std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
