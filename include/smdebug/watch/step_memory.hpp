// A storage for the last steps of a run, in memory that is used again: a step takes the place of one that was removed.
// memory_storage would ask the system for the memory of each step anew, which costs several times the copying.
// Used by: watch/recent_steps.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/output.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Objects in memory.  Copies are handles on the same objects.  Reading shares the bytes: an object that is removed
/// stays whole for those who hold it; its memory is used again when nobody does.
/// Threads: everything may be called at once.
class step_memory {
    struct state;

public:
    class output;

    /// Keeps the memory of up to `spare` removed event files for new ones.
    explicit step_memory(std::size_t spare = 1) : state_(std::make_shared<state>(spare)) {}

    /// The whole object.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        if (found == state_->objects.end()) {
            throw not_found("there is no object " + std::string{key} + " among the last steps of the hook",
                            {.where = std::string{key}});
        }
        return found->second;
    }
    /// A part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return read(key).slice(where); }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        const std::shared_lock lock{state_->guard};
        return detail::listed_keys(state_->objects, prefix, after);
    }

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        return found == state_->objects.end() ? std::nullopt : std::optional<std::uint64_t>{found->second.size()};
    }

    [[nodiscard]] std::string name() const { return "memory:watch"; }

    /// Puts an object there, or another in its place.  Copies the bytes.
    void write(std::string_view key, byte_view bytes) {
        state_->put(key, byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end())));
    }
    /// An object written piece by piece.  Copies the pieces, once.
    [[nodiscard]] output create(std::string_view key);

    /// Takes an object away.  Returns whether it was there.
    bool remove(std::string_view key) {
        byte_buffer last;  // let go behind the lock
        const std::unique_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        if (found == state_->objects.end()) {
            return false;
        }
        last = std::move(found->second);
        state_->objects.erase(found);
        return true;
    }

    /// How many objects there are.
    [[nodiscard]] std::size_t objects() const {
        const std::shared_lock lock{state_->guard};
        return state_->objects.size();
    }
    /// How much memory waits to be used again, in pieces.
    [[nodiscard]] std::size_t spare() const {
        const std::lock_guard lock{state_->unused->guard};
        return state_->unused->pieces.size();
    }

private:
    using piece = std::vector<std::byte>;

    // Memory that nobody uses.  The largest piece is the one that is used again, and kept longest.
    struct heap {
        explicit heap(std::size_t number) : most(number) { pieces.reserve(number + 1); }

        [[nodiscard]] piece take() {
            const std::lock_guard lock{guard};
            if (pieces.empty()) {
                return {};
            }
            piece largest = std::move(pieces.back());
            pieces.pop_back();
            return largest;
        }
        void give_back(piece used) noexcept {
            used.clear();
            const std::lock_guard lock{guard};
            const auto smaller = [](const piece& a, const piece& b) { return a.capacity() < b.capacity(); };
            const auto place = std::upper_bound(pieces.begin(), pieces.end(), used, smaller);
            pieces.insert(place, std::move(used));  // there is room: it cannot fail
            if (pieces.size() > most) {
                pieces.erase(pieces.begin());
            }
        }

        const std::size_t most;
        std::mutex guard;
        std::vector<piece> pieces;  // by capacity
    };

    struct state {
        explicit state(std::size_t spare) : unused(std::make_shared<heap>(spare)) {}

        void put(std::string_view key, byte_buffer bytes) {
            const std::unique_lock lock{guard};
            std::swap(objects.try_emplace(std::string{key}).first->second, bytes);
        }

        mutable std::shared_mutex guard;
        std::map<std::string, byte_buffer, std::less<>> objects;
        std::shared_ptr<heap> unused;
    };

    // A buffer over a piece that goes back to the heap, if that is still there, when nobody holds it any more.
    [[nodiscard]] static byte_buffer lend(piece bytes, const std::shared_ptr<heap>& from) {
        const auto give_back = [home = std::weak_ptr<heap>{from}](piece* lent) {
            const std::unique_ptr<piece> mine{lent};
            if (const auto there = home.lock()) {
                there->give_back(std::move(*mine));
            }
        };
        auto held = std::make_unique<piece>(std::move(bytes));
        const std::shared_ptr<const piece> owner{held.release(), give_back};
        return byte_buffer{owner, *owner};
    }

    std::shared_ptr<state> state_;
};

/// An object being written into a step_memory, which it keeps alive; models object_output.
class step_memory::output {
public:
    void append(std::span<const byte_view> pieces) { gather(bytes_, pieces); }
    void commit(durability /*none is more than another*/) {
        if (!recycles_) {
            state_->put(key_, byte_buffer::take(std::exchange(bytes_, {})));
            return;
        }
        piece whole = std::exchange(bytes_, {});
        if (whole.size() < whole.capacity() / 4) {  // a small step is not to hold what a large one needs
            piece fitting{whole.begin(), whole.end()};
            state_->unused->give_back(std::exchange(whole, std::move(fitting)));
        }
        state_->put(key_, lend(std::move(whole), state_->unused));
    }

private:
    friend class step_memory;
    output(std::shared_ptr<state> place, std::string_view key)
        : state_(std::move(place)), key_(key), recycles_(key.starts_with(locations::events_folder)) {
        if (recycles_) {
            bytes_ = state_->unused->take();
        }
    }

    std::shared_ptr<state> state_;
    std::string key_;
    bool recycles_;  // what the other files hold is small
    piece bytes_;
};

inline step_memory::output step_memory::create(std::string_view key) { return output{state_, key}; }

static_assert(writable_storage<step_memory> && appending_storage<step_memory> && removing_storage<step_memory>);

}  // namespace v1
}  // namespace smdebug
