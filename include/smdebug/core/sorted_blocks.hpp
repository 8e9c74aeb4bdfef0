// A sorted sequence that can be added to anywhere and shares what did not change with its copies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Immutable elements in ascending order of KeyOf(element), each key once, in blocks that copies share.
/// Threads: const calls may run at once, also on copies.  Lifetime: elements stay where they are as long as any
/// sequence that holds their block.
/// Cost: a look-up is two binary searches; with() copies the blocks that it changes, at most 256 elements each, and a
/// reference count for each other block.
template <class T, class KeyOf>
class sorted_blocks {
    using block = std::vector<T>;

public:
    using key_type = std::remove_cvref_t<std::invoke_result_t<const KeyOf&, const T&>>;

    /// Walks in ascending order.
    class iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using reference = const T&;
        using pointer = const T*;
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
    /// Of elements in ascending order.
    explicit sorted_blocks(std::vector<T> elements) { *this = sorted_blocks{}.with(std::move(elements)); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] iterator begin() const noexcept { return {blocks_.data(), 0}; }
    [[nodiscard]] iterator end() const noexcept { return {blocks_.data() + blocks_.size(), 0}; }
    /// Precondition: not empty.
    [[nodiscard]] const T& front() const noexcept { return of(blocks_.front()).front(); }
    [[nodiscard]] const T& back() const noexcept { return of(blocks_.back()).back(); }

    /// The first element whose key is not below `key`.
    [[nodiscard]] iterator lower_bound(const key_type& key) const noexcept {
        const auto holder = std::partition_point(blocks_.data(), blocks_.data() + blocks_.size(),
                                                 [&](const auto& each) { return key_of(of(each).back()) < key; });
        if (holder == blocks_.data() + blocks_.size()) {
            return {holder, 0};
        }
        const block& elements = of(*holder);
        const T* const place = std::partition_point(elements.data(), elements.data() + elements.size(),
                                                    [&](const T& element) { return key_of(element) < key; });
        return {holder, static_cast<std::size_t>(place - elements.data())};
    }
    /// The element with this key; null when there is none.
    [[nodiscard]] const T* find(const key_type& key) const noexcept {
        const iterator element = lower_bound(key);
        return element != end() && key_of(*element) == key ? &*element : nullptr;
    }

    /// These elements and others, in ascending order, each key once.  Where a key is present already, combine(present,
    /// other) makes its element.
    template <class Combine>
    [[nodiscard]] sorted_blocks with(std::vector<T> others, Combine&& combine) const {
        sorted_blocks made;
        made.blocks_.reserve(blocks_.size() + 1 + others.size() / block_size);
        auto next = others.begin();
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const block& before = of(blocks_[i]);
            const bool last = i + 1 == blocks_.size();
            const auto end = last ? others.end() : std::partition_point(next, others.end(), [&](const T& other) {
                return !(key_of(before.back()) < key_of(other));
            });
            // A last block that is full stays as it is when everything new lies behind it.
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
    /// The same; elements that are present already stay.
    [[nodiscard]] sorted_blocks with(std::vector<T> others) const {
        return with(std::move(others), [](const T& present, T&&) { return present; });
    }

    /// Heap bytes held, shared or not, without what the elements hold.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = blocks_.capacity() * sizeof(blocks_[0]);
        for (const auto& each : blocks_) {
            bytes += sizeof(block) + of(each).capacity() * sizeof(T);
        }
        return bytes;
    }

private:
    static constexpr std::size_t block_size = 256;

    [[nodiscard]] static const block& of(const std::shared_ptr<const void>& piece) noexcept {
        return *static_cast<const block*>(piece.get());
    }
    [[nodiscard]] static key_type key_of(const T& element) noexcept { return KeyOf{}(element); }

    template <class Iterator, class Combine>
    [[nodiscard]] static block merged(const block& before, Iterator next, Iterator end, Combine& combine) {
        block all;
        all.reserve(before.size() + static_cast<std::size_t>(end - next));
        for (const T& present : before) {
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
    // so that each of them has room.
    void cut(block all, bool at_end) {
        if (all.size() <= block_size) {
            if (all.capacity() > all.size() + all.size() / 4) {  // reserved for keys that were present already
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

    // Of blocks, none empty; without the type, so that compilers make this vector once.
    std::vector<std::shared_ptr<const void>> blocks_;
    std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
