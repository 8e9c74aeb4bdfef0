// A list that grows at its end and shares what it has with its copies.
#pragma once

#include <algorithm>
#include <cstddef>
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
        return piece(place / piece_size)[place % piece_size];
    }
    /// Precondition: not empty.
    [[nodiscard]] const T& back() const noexcept { return piece(pieces_.size() - 1).back(); }

    /// This list and, behind it, others.  Cost: that of a copy, of the last piece, and of the others.
    [[nodiscard]] shared_list with(std::vector<T> others) const {
        shared_list longer = *this;
        for (std::size_t next = 0; next < others.size();) {
            const std::size_t begun = longer.size_ % piece_size;
            std::vector<T> last;
            last.reserve(std::min(begun + others.size() - next, piece_size));
            if (begun > 0) {
                for (const T& element : longer.piece(longer.pieces_.size() - 1)) {
                    last.push_back(element);
                }
                longer.pieces_.pop_back();
            }
            for (; next < others.size() && last.size() < piece_size; ++next, ++longer.size_) {
                last.push_back(std::move(others[next]));
            }
            longer.pieces_.push_back(std::make_shared<const std::vector<T>>(std::move(last)));
        }
        return longer;
    }

    /// Calls visit(element) for each, in order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            for (const T& element : piece(i)) {
                visit(element);
            }
        }
    }

    /// Heap bytes held, shared or not, without what the elements hold.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = pieces_.capacity() * sizeof(pieces_[0]);
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            bytes += sizeof(std::vector<T>) + piece(i).capacity() * sizeof(T);
        }
        return bytes;
    }

private:
    static constexpr std::size_t piece_size = 256;

    [[nodiscard]] const std::vector<T>& piece(std::size_t i) const noexcept {
        return *static_cast<const std::vector<T>*>(pieces_[i].get());
    }

    // Of std::vector<T>, all full but the last; without the type, so that compilers make this vector once.
    std::vector<std::shared_ptr<const void>> pieces_;
    std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
