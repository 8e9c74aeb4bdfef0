// A list that grows at its end and shares what it has with its copies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Immutable values of T in pieces that copies share.
/// Threads: const calls may run at once, also on copies.  Lifetime: elements stay where they are as long as any list
/// that holds their piece.
/// Cost: an element by its place is two steps; a copy is a reference count for every 256 elements.
template <class T>
class shared_list {
public:
    shared_list() = default;
    explicit shared_list(std::vector<T> elements) { *this = shared_list{}.with(std::move(elements)); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const T& operator[](std::size_t place) const noexcept {
        return (*pieces_[place / piece_size])[place % piece_size];
    }
    /// Precondition: not empty.
    [[nodiscard]] const T& back() const noexcept { return pieces_.back()->back(); }

    /// This list and, behind it, others.  Cost: that of a copy, of the last piece, and of the others.
    [[nodiscard]] shared_list with(std::vector<T> others) const {
        shared_list longer = *this;
        auto next = others.begin();
        while (next != others.end()) {
            std::vector<T> piece;
            const std::size_t begun = longer.size_ % piece_size;
            const std::size_t wanted = begun + static_cast<std::size_t>(others.end() - next);
            piece.reserve(std::min(wanted, piece_size));
            if (begun > 0) {
                piece = *longer.pieces_.back();
                longer.pieces_.pop_back();
            }
            const auto taken = static_cast<std::ptrdiff_t>(std::min(wanted, piece_size) - begun);
            piece.insert(piece.end(), std::move_iterator{next}, std::move_iterator{next + taken});
            next += taken;
            longer.size_ += static_cast<std::size_t>(taken);
            longer.pieces_.push_back(std::make_shared<const std::vector<T>>(std::move(piece)));
        }
        return longer;
    }

    /// Calls visit(element) for each, in order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& piece : pieces_) {
            for (const T& element : *piece) {
                visit(element);
            }
        }
    }

    /// Heap bytes held, shared or not, without what the elements hold.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = pieces_.capacity() * sizeof(pieces_[0]);
        for (const auto& piece : pieces_) {
            bytes += sizeof(std::vector<T>) + piece->capacity() * sizeof(T);
        }
        return bytes;
    }

private:
    static constexpr std::size_t piece_size = 256;

    std::vector<std::shared_ptr<const std::vector<T>>> pieces_;  // all full but the last
    std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
