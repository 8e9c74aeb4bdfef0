// What a cache knows of objects: their sizes and versions, from listings.
#pragma once

#include <smdebug/core/lru.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// What is known of an object.
struct known_object {
    std::uint64_t size = 0;
    std::string version = {};
    bool passes = false;  ///< it is not to be cached, as it grows, or is a claim
};

/// Remembers as many objects as `most` says, the last used ones, but not that an object is missing.
/// Threads: everything may be called concurrently.
class known_objects {
public:
    static constexpr std::size_t usual_most = 32768;
    explicit known_objects(std::size_t most = usual_most) : known_(most) {}

    [[nodiscard]] std::optional<known_object> find(std::string_view key) {
        const std::lock_guard lock{guard_};
        const known_object* const known = known_.find(key);
        return known != nullptr ? std::optional{*known} : std::nullopt;
    }

    /// A number that changes when something is forgotten.
    [[nodiscard]] std::uint64_t state() const {
        const std::lock_guard lock{guard_};
        return state_;
    }

    /// Remembers the result of a listing. `state`: state() when it began. If something was forgotten since, the listing
    /// may be out of date and is ignored.
    void learn(std::vector<object_entry> listed, std::uint64_t state) {
        const std::lock_guard lock{guard_};
        for (object_entry& one : listed) {
            if (state == state_ && !passes(one.key)) {
                known_.put(std::move(one.key), {.size = one.size, .version = std::move(one.version)});
            }
        }
    }
    void learn(std::string_view key, known_object listed, std::uint64_t state) {
        const std::lock_guard lock{guard_};
        if (state == state_ && !passes(key)) {
            known_.put(std::string{key}, std::move(listed));
        }
    }

    /// Marks an object as not to be cached; only forget() undoes that.
    void pass(std::string_view key) {
        const std::lock_guard lock{guard_};
        ++state_;
        known_.put(std::string{key}, {.passes = true});
    }

    /// Forgets that mark, too, for one key or for all.
    void forget(std::string_view key) {
        const std::lock_guard lock{guard_};
        ++state_;
        known_.erase(key);
    }
    void forget() {
        const std::lock_guard lock{guard_};
        ++state_;
        known_.clear();
    }

    /// Forgets sizes and versions of these keys, which may have changed.
    void doubt(const std::vector<std::string>& keys) {
        const std::lock_guard lock{guard_};
        state_ += keys.empty() ? 0U : 1U;
        for (const std::string& key : keys) {
            if (!passes(key)) {
                known_.erase(key);
            }
        }
    }

private:
    [[nodiscard]] bool passes(std::string_view key) const {
        const known_object* const known = known_.look(key);
        return known != nullptr && known->passes;
    }

    mutable std::mutex guard_;
    std::uint64_t state_ = 0;
    lru<std::string, known_object, std::string_view> known_;
};

/// A key just before another one, with hardly any key between them; printable if the other is.
[[nodiscard]] inline std::string key_before(std::string_view key) {
    std::string before{key};
    if (before.empty()) {
        return before;
    }
    const auto last = static_cast<unsigned char>(before.back());
    if (last > 0x20 && last < 0x7F) {
        before.back() = static_cast<char>(last - 1);
        return before + '~';
    }
    bool inside_character = true;  // remove the whole character if the key is UTF-8
    while (inside_character && !before.empty()) {
        inside_character = continues_utf8_character(before.back());
        before.pop_back();
    }
    return before;
}

}  // namespace smdebug::inline v1::detail
