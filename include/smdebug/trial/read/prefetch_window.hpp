// How far ahead of a walk what it will come to has been asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Which items of a walk to ask for before it comes to them: each once, in order, and no more than `most_ahead` of
/// those that are to come.  An item is a number that ascends along the walk: a global step, the place of a file.
class prefetch_window {
public:
    using item = std::int64_t;

    explicit prefetch_window(std::size_t most_ahead) noexcept : most_ahead_(most_ahead) {}

    /// Calls ask(item) for each item of `coming`, the ascending list of those behind the one at hand, that is in the
    /// window and was not asked for.  Where it returns false there is no room: that item waits for the next call.
    template <class Items, class Ask>
    void advance(const Items& coming, Ask&& ask) {
        std::size_t left = most_ahead_;
        for (const auto next : coming) {
            if (left-- == 0 || (!is_asked_for(next) && !ask(next))) {
                return;
            }
            pass(next);
        }
    }

    /// Counts an item, and all before it, as asked for: it is near, or was asked for elsewhere.
    void pass(item last) noexcept { end_ = std::max(end_, last + 1); }

    [[nodiscard]] bool is_asked_for(item which) const noexcept { return which < end_; }
    /// What is not asked for begins here.
    [[nodiscard]] item end() const noexcept { return end_; }

private:
    std::size_t most_ahead_;
    item end_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
