// A list that grows by chunks.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A list to which elements are only appended.  Growing copies nothing, and takes memory in pieces that an allocator uses
/// again, unlike those of a large std::vector; a std::deque allocates for every 512 bytes.
template <class T>
class chunked_list {
public:
    static constexpr std::size_t chunk_size = 1024;  ///< elements

    void push_back(const T& element) {
        if (chunks_.empty() || chunks_.back().size() == chunk_size) {
            chunks_.emplace_back().reserve(chunk_size);
        }
        chunks_.back().push_back(element);
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return chunks_.empty() ? 0 : (chunks_.size() - 1) * chunk_size + chunks_.back().size();
    }
    [[nodiscard]] bool empty() const noexcept { return chunks_.empty(); }

    /// Calls visit(const T&) for the elements from place `begin` up to, not including, `end`.
    template <class Visit>
    void each(std::size_t begin, std::size_t end, Visit&& visit) const {
        while (begin < end) {
            const std::vector<T>& chunk = chunks_[begin / chunk_size];
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
    std::vector<std::vector<T>> chunks_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
