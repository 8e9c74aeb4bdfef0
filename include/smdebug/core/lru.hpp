// The last used ones of many values, by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace smdebug::inline v1::detail {

/// Holds values until their sizes add up to more than `most`: then the least recently used ones leave, but never the
/// last `least`.
/// Look: what finds a key, such as the std::string_view of a std::string.
/// Threads: one at a time. Cost: a hash look-up each, however many there are.
template <class Key, class Value, class Look = Key>
class lru {
public:
    explicit lru(std::uint64_t most, std::size_t least = 0) : most_(most), least_(least) {}

    /// The value, which is now the last used one; null if there is none. Valid until the next put() or erase().
    [[nodiscard]] Value* find(const Look& key) {
        const auto found = places_.find(key);
        if (found == places_.end()) {
            return nullptr;
        }
        uses_.splice(uses_.begin(), uses_, found->second);
        return &found->second->value;
    }
    /// The value, or null where there is none; this does not count as a use.
    [[nodiscard]] const Value* look(const Look& key) const {
        const auto found = places_.find(key);
        return found != places_.end() ? &found->second->value : nullptr;
    }

    /// Holds a value, as the last used one, in place of another of its key.
    void put(Key key, Value value, std::uint64_t size = 1) {
        erase(key);
        uses_.push_front({std::move(key), std::move(value), size});
        try {
            places_.emplace(uses_.front().key, uses_.begin());
        } catch (...) {
            uses_.pop_front();
            throw;
        }
        size_ += size;
        while (size_ > most_ && uses_.size() > least_) {
            erase(uses_.back().key);
        }
    }

    void erase(const Look& key) {
        if (const auto found = places_.find(key); found != places_.end()) {
            const place gone = found->second;
            size_ -= gone->size;
            places_.erase(found);
            uses_.erase(gone);
        }
    }
    void clear() {
        places_.clear();
        uses_.clear();
        size_ = 0;
    }

    /// What the sizes add up to.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }

private:
    struct entry {
        Key key;
        Value value;
        std::uint64_t size = 0;
    };
    using place = typename std::list<entry>::iterator;

    std::uint64_t most_;
    std::size_t least_;
    std::uint64_t size_ = 0;
    std::list<entry> uses_;                   // most recently used first
    std::unordered_map<Look, place> places_;  // by key, which the entry owns
};

}  // namespace smdebug::inline v1::detail
