// The bodies of <smdebug/watch/step_memory.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/impl/listed_objects.tpp>
#include <smdebug/watch/step_memory.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Free memory.  The largest piece is used again first, and kept longest.
struct step_memory::heap {
    explicit heap(std::size_t number) : most(number) { pieces.reserve(number + 1); }

    [[nodiscard]] piece take();
    void give_back(piece used) noexcept;

    const std::size_t most;
    std::mutex guard;
    std::vector<piece> pieces;  // by capacity
};

struct step_memory::state {
    explicit state(std::size_t spare) : unused(std::make_shared<heap>(spare)) {}

    void put(std::string_view key, byte_buffer bytes);

    mutable std::shared_mutex guard;
    std::map<std::string, byte_buffer, std::less<>> objects;
    std::shared_ptr<heap> unused;
};

SMDEBUG_INLINE step_memory::step_memory(std::size_t spare) : state_(std::make_shared<state>(spare)) {}

SMDEBUG_INLINE void step_memory::write(std::string_view key, byte_view bytes) {
    state_->put(key, byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end())));
}

SMDEBUG_INLINE byte_buffer step_memory::read(std::string_view key) const {
    const std::shared_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    if (found == state_->objects.end()) {
        throw not_found("there is no object " + std::string{key} + " among the last steps of the hook",
                        {.where = std::string{key}});
    }
    return found->second;
}

SMDEBUG_INLINE std::vector<std::string> step_memory::list(std::string_view prefix, std::string_view after) const {
    const std::shared_lock lock{state_->guard};
    return detail::listed_keys(state_->objects, prefix, after);
}

SMDEBUG_INLINE std::optional<std::uint64_t> step_memory::size(std::string_view key) const {
    const std::shared_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    return found == state_->objects.end() ? std::nullopt : std::optional<std::uint64_t>{found->second.size()};
}

SMDEBUG_INLINE bool step_memory::remove(std::string_view key) {
    byte_buffer last;  // freed after the lock is released
    const std::unique_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    if (found == state_->objects.end()) {
        return false;
    }
    last = std::move(found->second);
    state_->objects.erase(found);
    return true;
}

SMDEBUG_INLINE std::size_t step_memory::objects() const {
    const std::shared_lock lock{state_->guard};
    return state_->objects.size();
}

SMDEBUG_INLINE std::size_t step_memory::spare() const {
    const std::lock_guard lock{state_->unused->guard};
    return state_->unused->pieces.size();
}

SMDEBUG_INLINE step_memory::piece step_memory::heap::take() {
    const std::lock_guard lock{guard};
    if (pieces.empty()) {
        return {};
    }
    piece largest = std::move(pieces.back());
    pieces.pop_back();
    return largest;
}

SMDEBUG_INLINE void step_memory::heap::give_back(piece used) noexcept {
    used.clear();
    const std::lock_guard lock{guard};
    const auto smaller = [](const piece& a, const piece& b) { return a.capacity() < b.capacity(); };
    const auto place = std::upper_bound(pieces.begin(), pieces.end(), used, smaller);
    pieces.insert(place, std::move(used));  // there is room: it cannot fail
    if (pieces.size() > most) {
        pieces.erase(pieces.begin());
    }
}

SMDEBUG_INLINE void step_memory::state::put(std::string_view key, byte_buffer bytes) {
    const std::unique_lock lock{guard};
    std::swap(objects.try_emplace(std::string{key}).first->second, bytes);
}

SMDEBUG_INLINE byte_buffer step_memory::lend(piece bytes, const std::shared_ptr<heap>& from) {
    const auto give_back = [home = std::weak_ptr<heap>{from}](piece* lent) {
        const std::unique_ptr<piece> mine{lent};
        if (const auto there = home.lock()) {
            there->give_back(std::move(*mine));
        }
    };
    auto lent_piece = std::make_unique<piece>(std::move(bytes));
    const std::shared_ptr<const piece> owner{lent_piece.release(), give_back};
    return byte_buffer{owner, *owner};
}

SMDEBUG_INLINE void step_memory::output::commit(durability /*none is more than another*/) {
    if (!recycles_) {
        state_->put(key_, byte_buffer::take(std::exchange(bytes_, {})));
        return;
    }
    piece whole = std::exchange(bytes_, {});
    if (whole.size() < whole.capacity() / 4) {  // a small step must not keep the memory of a large one
        piece fitting{whole.begin(), whole.end()};
        state_->unused->give_back(std::exchange(whole, std::move(fitting)));
    }
    state_->put(key_, lend(std::move(whole), state_->unused));
}

SMDEBUG_INLINE step_memory::output::output(std::shared_ptr<state> place, std::string_view key)
    : state_(std::move(place)), key_(key), recycles_(key.starts_with(locations::events_folder)) {
    if (recycles_) {
        bytes_ = state_->unused->take();
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
