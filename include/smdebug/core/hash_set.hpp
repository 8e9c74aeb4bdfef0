// Many hashes in little memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// A set of hashes, none of which is {}: open addressing with linear probing.  `Hash`: an unsigned integer, or a struct
/// with == whose member `high`, of 64 bits, chooses its place.  Their bits must be as good as random: hashes that agree
/// in the bits that choose a place make it slow.
/// Memory: 1.25 to 2 times that of its hashes, and two thirds as much again while it grows.
/// Cost: a few hashes that lie side by side, for every call but reserve() and one that has to grow.
/// Errors: std::bad_alloc where it has to grow; then it is as it was.
/// Threads: const calls may run at once.
template <class Hash>
class hash_set {
public:
    /// Room for so many altogether, so that inserting them does not have to grow.
    void reserve(std::size_t count) {
        if (const std::size_t slots = count + count / 2 + 16; slots > slots_.size()) {
            resize(slots);
        }
    }
    /// Room for one more, so that the next insert() does not throw.
    void make_room() {
        if (size_ + 1 > slots_.size() / 5 * 4) {
            resize(slots_.size() + slots_.size() / 2 + 16);
        }
    }
    /// Returns whether it is new.
    bool insert(Hash hash) {
        make_room();
        Hash& slot = slots_[place_of(hash)];
        const bool is_new = std::exchange(slot, hash) != hash;
        size_ += is_new ? 1U : 0U;
        return is_new;
    }
    /// Does nothing if it is not there.
    void erase(Hash hash) noexcept {
        if (!contains(hash)) {
            return;
        }
        // What stands behind the gap moves into it, unless its probe begins behind the gap.
        std::size_t gap = place_of(hash);
        for (std::size_t next = after(gap); slots_[next] != Hash{}; next = after(next)) {
            const std::size_t home = home_of(slots_[next]);
            const bool begins_behind = gap < next ? home > gap && home <= next : home > gap || home <= next;
            if (!begins_behind) {
                slots_[gap] = slots_[next];
                gap = next;
            }
        }
        slots_[gap] = {};
        --size_;
    }
    [[nodiscard]] bool contains(Hash hash) const noexcept { return !slots_.empty() && slots_[place_of(hash)] == hash; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Its memory.
    [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Hash); }

private:
    /// The slot where a probe begins.
    [[nodiscard]] std::size_t home_of(const Hash& hash) const noexcept {
        if constexpr (requires { hash.high; }) {
            return static_cast<std::size_t>(hash.high % slots_.size());
        } else {
            return static_cast<std::size_t>(hash % slots_.size());
        }
    }
    [[nodiscard]] std::size_t after(std::size_t place) const noexcept {
        return place + 1 == slots_.size() ? 0 : place + 1;
    }
    /// Its slot, or the free one where it would go.
    [[nodiscard]] std::size_t place_of(const Hash& hash) const noexcept {
        std::size_t place = home_of(hash);
        while (slots_[place] != Hash{} && slots_[place] != hash) {
            place = after(place);
        }
        return place;
    }
    void resize(std::size_t slots) {
        std::vector<Hash> old(slots);
        old.swap(slots_);
        for (const Hash& hash : old) {
            if (hash != Hash{}) {
                slots_[place_of(hash)] = hash;
            }
        }
    }

    std::vector<Hash> slots_;  // {}: free; some always are
    std::size_t size_ = 0;
};

}  // namespace smdebug::inline v1::detail
