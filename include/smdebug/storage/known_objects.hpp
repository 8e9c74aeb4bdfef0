// What listings told of objects: sizes and versions, of the keys that were asked for last.
// Used by: storage/caching_reader.hpp.
#pragma once

#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What is known of an object.
struct known_object {
    std::uint64_t size = 0;
    std::string version = {};
    bool passes = false;  ///< it changes, or is a claim: it is not to be cached
};

/// Remembers some ten thousand objects.  Never that there is none.
/// Threads: everything may be called at once.
class known_objects {
public:
    static constexpr std::size_t usual_most = 32768;
    explicit known_objects(std::size_t most = usual_most) : half_(most / 2 + 1) {}

    [[nodiscard]] std::optional<known_object> find(std::string_view key) {
        const std::lock_guard lock{guard_};
        if (const auto found = young_.find(key); found != young_.end()) {
            return found->second;
        }
        const auto aged = old_.find(key);
        if (aged == old_.end()) {
            return std::nullopt;
        }
        auto node = old_.extract(aged);
        known_object known = node.mapped();
        make_room();
        young_.insert(std::move(node));
        return known;
    }

    /// A number that moves when something is forgotten.
    [[nodiscard]] std::uint64_t state() const {
        const std::lock_guard lock{guard_};
        return state_;
    }

    /// Remembers what a listing told that began in this state; nothing of it where something was forgotten since, as
    /// the listing may tell of what was there before.
    void learn(std::vector<object_entry> told, std::uint64_t state) {
        const std::lock_guard lock{guard_};
        if (state == state_) {
            for (object_entry& one : told) {
                put(std::move(one.key), {.size = one.size, .version = std::move(one.version)});
            }
        }
    }
    void learn(std::string_view key, known_object told, std::uint64_t state) {
        const std::lock_guard lock{guard_};
        if (state == state_) {
            put(std::string{key}, std::move(told));
        }
    }

    /// Notes that an object is not to be cached; forget() alone takes that back.
    void pass(std::string_view key) {
        const std::lock_guard lock{guard_};
        ++state_;
        known_object& noted = young_.insert_or_assign(std::string{key}, known_object{}).first->second;
        noted.passes = true;
    }

    /// Forgets that, too, of one key, or of all.
    void forget(std::string_view key) {
        const std::lock_guard lock{guard_};
        ++state_;
        erase(key);
    }
    void forget() {
        const std::lock_guard lock{guard_};
        ++state_;
        young_.clear();
        old_.clear();
    }

    /// Forgets sizes and versions of these keys, as they may be others by now.
    void doubt(const std::vector<std::string>& keys) {
        const std::lock_guard lock{guard_};
        state_ += keys.empty() ? 0U : 1U;
        for (const std::string& key : keys) {
            if (const known_object* noted = look(key); noted != nullptr && !noted->passes) {
                erase(key);
            }
        }
    }

private:
    using map = std::unordered_map<std::string, known_object, text_hash, std::equal_to<>>;

    [[nodiscard]] const known_object* look(std::string_view key) const {
        for (const map* held : {&young_, &old_}) {
            if (const auto found = held->find(key); found != held->end()) {
                return &found->second;
            }
        }
        return nullptr;
    }

    void put(std::string key, known_object told) {
        if (const known_object* noted = look(key); noted != nullptr && noted->passes) {
            return;
        }
        make_room();
        young_.insert_or_assign(std::move(key), std::move(told));
    }

    void erase(std::string_view key) {
        for (map* held : {&young_, &old_}) {
            if (const auto found = held->find(key); found != held->end()) {
                held->erase(found);
            }
        }
    }

    // What has not been asked for since the last time goes.
    void make_room() {
        if (young_.size() >= half_) {
            old_ = std::exchange(young_, {});
        }
    }

    std::size_t half_;
    mutable std::mutex guard_;
    std::uint64_t state_ = 0;
    map young_;
    map old_;
};

}  // namespace v1
}  // namespace smdebug
