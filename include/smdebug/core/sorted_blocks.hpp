// A sorted sequence that can be extended anywhere and shares unchanged parts with its copies.
#pragma once

#include <smdebug/core/function_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Immutable elements in ascending order of KeyOf(element), each key once, in blocks that copies share.
/// Threads: const calls may run at once, also on copies. Lifetime: elements do not move as long as any sequence holds
/// their block.
/// Cost: a look-up is two binary searches; with() copies the blocks that it changes, at most 256 elements each, and a
/// reference count for each other block.
template <class Value, class KeyOf>
class sorted_blocks {
    using block = std::vector<Value>;

public:
    using key_type = std::remove_cvref_t<std::invoke_result_t<const KeyOf&, const Value&>>;

    /// Iterates in ascending order.
    class iterator {
    public:
        using value_type = Value;
        using difference_type = std::ptrdiff_t;
        using reference = const Value&;
        using pointer = const Value*;
        using iterator_category = std::forward_iterator_tag;

        iterator() = default;
        [[nodiscard]] reference operator*() const noexcept { return of(*block_)[place_]; }
        [[nodiscard]] pointer operator->() const noexcept { return &**this; }
        iterator& operator++() noexcept {
            if (++place_ == of(*block_).size()) {
                ++block_;
                place_ = 0;
            }
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        [[nodiscard]] friend bool operator==(const iterator&, const iterator&) = default;

    private:
        friend sorted_blocks;
        iterator(const std::shared_ptr<const void>* from, std::size_t place) noexcept : block_(from), place_(place) {}
        const std::shared_ptr<const void>* block_ = nullptr;
        std::size_t place_ = 0;
    };

    sorted_blocks() = default;
    /// Makes a sequence from elements in ascending order.
    explicit sorted_blocks(std::vector<Value> elements) { *this = sorted_blocks{}.with(std::move(elements)); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] iterator begin() const noexcept { return {blocks_.data(), 0}; }
    [[nodiscard]] iterator end() const noexcept { return {blocks_.data() + blocks_.size(), 0}; }
    /// Precondition: not empty.
    [[nodiscard]] const Value& front() const noexcept { return of(blocks_.front()).front(); }
    [[nodiscard]] const Value& back() const noexcept { return of(blocks_.back()).back(); }

    /// The first element whose key is not below `key`.
    [[nodiscard]] iterator lower_bound(const key_type& key) const noexcept {
        const auto holder = std::partition_point(blocks_.data(), blocks_.data() + blocks_.size(),
                                                 [&](const auto& each) { return key_of(of(each).back()) < key; });
        if (holder == blocks_.data() + blocks_.size()) {
            return {holder, 0};
        }
        const block& elements = of(*holder);
        const Value* const place = std::partition_point(elements.data(), elements.data() + elements.size(),
                                                        [&](const Value& element) { return key_of(element) < key; });
        return {holder, static_cast<std::size_t>(place - elements.data())};
    }
    /// The element with this key, or null.
    [[nodiscard]] const Value* find(const key_type& key) const noexcept {
        const iterator element = lower_bound(key);
        return element != end() && key_of(*element) == key ? &*element : nullptr;
    }

    /// The union of these elements and others, which are in ascending order, each key once. For a key that is already
    /// present, combine(present, other) makes the element.
    template <class Combine>
    [[nodiscard]] sorted_blocks with(std::vector<Value> others, Combine&& combine) const {
        sorted_blocks made;
        made.blocks_.reserve(blocks_.size() + 1 + others.size() / block_size);
        auto next = others.begin();
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const block& before = of(blocks_[i]);
            const bool last = i + 1 == blocks_.size();
            const auto end = last ? others.end() : std::partition_point(next, others.end(), [&](const Value& other) {
                return !(key_of(before.back()) < key_of(other));
            });
            // A full last block is kept when everything new comes after it.
            if (next == end || (last && before.size() == block_size && key_of(before.back()) < key_of(*next))) {
                made.share(blocks_[i]);
                continue;
            }
            made.cut(merged(before, next, end, combine), last);
            next = end;
        }
        if (next != others.end()) {
            made.cut(merged({}, next, others.end(), combine), true);
        }
        return made;
    }
    /// The union in which elements that are already present are kept.
    [[nodiscard]] sorted_blocks with(std::vector<Value> others) const {
        return with(std::move(others), [](const Value& present, Value&&) { return present; });
    }

    /// Heap bytes held, shared or not, without what the elements own.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = blocks_.capacity() * sizeof(blocks_[0]);
        for (const auto& each : blocks_) {
            bytes += sizeof(block) + of(each).capacity() * sizeof(Value);
        }
        return bytes;
    }

private:
    static constexpr std::size_t block_size = 256;

    [[nodiscard]] static const block& of(const std::shared_ptr<const void>& piece) noexcept {
        return *static_cast<const block*>(piece.get());
    }
    [[nodiscard]] static key_type key_of(const Value& element) noexcept { return KeyOf{}(element); }

    template <class Iterator, class Combine>
    [[nodiscard]] static block merged(const block& before, Iterator next, Iterator end, Combine& combine) {
        block all;
        all.reserve(before.size() + static_cast<std::size_t>(end - next));
        for (const Value& present : before) {
            for (; next != end && key_of(*next) < key_of(present); ++next) {
                all.push_back(std::move(*next));
            }
            if (next != end && key_of(*next) == key_of(present)) {
                all.push_back(combine(present, std::move(*next)));
                ++next;
            } else {
                all.push_back(present);
            }
        }
        for (; next != end; ++next) {
            all.push_back(std::move(*next));
        }
        return all;
    }

    void share(std::shared_ptr<const void> piece) {
        size_ += of(piece).size();
        blocks_.push_back(std::move(piece));
    }

    // At the end of the sequence, where most elements are added, blocks are filled up; elsewhere they are split evenly,
    // so that each has room.
    void cut(block all, bool at_end) {
        if (all.size() <= block_size) {
            if (all.capacity() > all.size() + all.size() / 4) {  // reserved for keys that were already present
                all.shrink_to_fit();
            }
            share(std::make_shared<const block>(std::move(all)));
            return;
        }
        const std::size_t pieces = (all.size() + block_size - 1) / block_size;
        const std::size_t size = at_end ? block_size : (all.size() + pieces - 1) / pieces;
        for (std::size_t begin = 0; begin < all.size(); begin += size) {
            block piece;
            piece.reserve(std::min(size, all.size() - begin));
            for (std::size_t i = begin; i < all.size() && i < begin + size; ++i) {
                piece.push_back(std::move(all[i]));
            }
            share(std::make_shared<const block>(std::move(piece)));
        }
    }

    // Holds blocks, none of them empty; type-erased, so that this vector is compiled once.
    std::vector<std::shared_ptr<const void>> blocks_;
    std::size_t size_ = 0;
};

/// A list to which elements are only appended. Growing copies no elements. It allocates pieces of one size, which an
/// allocator can reuse, unlike the blocks of a large std::vector; a std::deque allocates for every 512 bytes.
template <class Value>
class chunked_list {
public:
    static constexpr std::size_t chunk_size = 1024;  ///< elements

    void push_back(const Value& element) {
        if (chunks_.empty() || chunks_.back().size() == chunk_size) {
            chunks_.emplace_back().reserve(chunk_size);
        }
        chunks_.back().push_back(element);
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return chunks_.empty() ? 0 : (chunks_.size() - 1) * chunk_size + chunks_.back().size();
    }
    [[nodiscard]] bool empty() const noexcept { return chunks_.empty(); }

    /// Calls visit(const Value&) for the elements from place `begin` up to, not including, `end`.
    template <class Visit>
    void each(std::size_t begin, std::size_t end, Visit&& visit) const {
        while (begin < end) {
            const std::vector<Value>& chunk = chunks_[begin / chunk_size];
            const std::size_t from = begin % chunk_size;
            const std::size_t to = std::min(from + (end - begin), chunk_size);
            for (std::size_t place = from; place < to; ++place) {
                visit(chunk[place]);
            }
            begin += to - from;
        }
    }
    void clear() noexcept { chunks_.clear(); }

private:
    std::vector<std::vector<Value>> chunks_;
};

// A list that grows at its end and shares its elements with its copies.

/// Immutable values of Value in pieces that copies share.
/// Threads: const calls may run at once, also on copies. Lifetime: elements do not move as long as any list holds their
/// piece.
/// Cost: reading an element by index follows two pointers; a copy costs a reference count for every 256 elements.
template <class Value>
class shared_list {
public:
    shared_list() = default;
    explicit shared_list(std::vector<Value> elements) { *this = shared_list{}.with(std::move(elements)); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const Value& operator[](std::size_t place) const noexcept {
        return piece(place / piece_size)[place % piece_size];
    }
    /// Precondition: not empty.
    [[nodiscard]] const Value& back() const noexcept { return piece(pieces_.size() - 1).back(); }

    /// This list followed by others. Cost: a copy of the list, of its last piece, and of the others.
    [[nodiscard]] shared_list with(std::vector<Value> others) const {
        shared_list longer = *this;
        for (std::size_t next = 0; next < others.size();) {
            const std::size_t begun = longer.size_ % piece_size;
            std::vector<Value> last;
            last.reserve(std::min(begun + others.size() - next, piece_size));
            if (begun > 0) {
                for (const Value& element : longer.piece(longer.pieces_.size() - 1)) {
                    last.push_back(element);
                }
                longer.pieces_.pop_back();
            }
            for (; next < others.size() && last.size() < piece_size; ++next, ++longer.size_) {
                last.push_back(std::move(others[next]));
            }
            longer.pieces_.push_back(std::make_shared<const std::vector<Value>>(std::move(last)));
        }
        return longer;
    }

    /// Calls visit(element) for each, in order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            for (const Value& element : piece(i)) {
                visit(element);
            }
        }
    }

    /// Heap bytes held, shared or not, without what the elements own.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = pieces_.capacity() * sizeof(pieces_[0]);
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            bytes += sizeof(std::vector<Value>) + piece(i).capacity() * sizeof(Value);
        }
        return bytes;
    }

private:
    static constexpr std::size_t piece_size = 256;

    [[nodiscard]] const std::vector<Value>& piece(std::size_t i) const noexcept {
        return *static_cast<const std::vector<Value>*>(pieces_[i].get());
    }

    // Holds std::vector<Value>s, all full but the last; type-erased, so that this vector is compiled once.
    std::vector<std::shared_ptr<const void>> pieces_;
    std::size_t size_ = 0;
};

/// The indices from 0 to size - 1, sorted by before(a, b), which compares the elements at two indices; equal elements
/// keep their order.
/// Precondition: size is below 2^32. Errors: what `before` throws. Cost: an indirect call per comparison.
[[nodiscard]] std::vector<std::uint32_t> places_in_order(std::size_t size,
                                                         function_ref<bool(std::size_t a, std::size_t b)> before);

/// Sorts stably.
/// Cost: one pass if all are in order; otherwise each comparison costs an indirect call, and elements are moved into
/// new memory.
template <class Value, class Before>
void sort_stably(std::vector<Value>& all, const Before& before) {
    if (std::is_sorted(all.begin(), all.end(), before)) {
        return;
    }
    std::vector<Value> sorted;
    sorted.reserve(all.size());
    const auto by_place = [&](std::size_t a, std::size_t b) { return before(all[a], all[b]); };
    for (const std::uint32_t place : places_in_order(all.size(), by_place)) {
        sorted.push_back(std::move(all[place]));
    }
    all = std::move(sorted);
}

inline std::vector<std::uint32_t> places_in_order(std::size_t size,
                                                  function_ref<bool(std::size_t a, std::size_t b)> before) {
    std::vector<std::uint32_t> places(size);
    std::iota(places.begin(), places.end(), std::uint32_t{0});
    std::sort(places.begin(), places.end(),
              [before](std::uint32_t a, std::uint32_t b) { return before(a, b) || (a < b && !before(b, a)); });
    return places;
}

}  // namespace smdebug::inline v1::detail
