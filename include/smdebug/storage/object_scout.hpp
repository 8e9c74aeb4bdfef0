// Finding out how large objects are and which version of them is there, at a question for a thousand.
// Used by: storage/caching_reader.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/known_objects.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// A key just before another one, such that hardly any key lies between them; printable where that one is.
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
    bool inside_character = true;  // which goes whole, should the key be UTF-8
    while (inside_character && !before.empty()) {
        inside_character = (static_cast<unsigned char>(before.back()) & 0xC0U) == 0x80U;
        before.pop_back();
    }
    return before;
}

}  // namespace detail

/// Asks a storage and remembers what it told.  Borrows the storage.
/// Threads: everything may be called at once; one asks at a time, as its answer is mostly that of the others, too.
template <storage Inner>
class object_scout {
public:
    /// `may_do_without` says that a size without a version will do, where a storage tells no more.
    object_scout(const Inner& inner, std::function<bool(std::string_view)> of_interest, bool may_do_without)
        : inner_(inner), of_interest_(std::move(of_interest)), may_do_without_(may_do_without) {}

    [[nodiscard]] known_objects& known() noexcept { return known_; }

    /// What is known of an object; where nothing is, the storage is asked, for its neighbours as well.
    /// Nothing where it is not there, or the storage does not say: reading it will tell why.
    [[nodiscard]] std::optional<known_object> learn(std::string_view key) {
        if (std::optional<known_object> known = known_.find(key)) {
            return known;
        }
        const std::lock_guard asking{asking_};
        if (std::optional<known_object> known = known_.find(key)) {
            return known;
        }
        const std::uint64_t state = known_.state();
        if constexpr (entry_lister<Inner>) {
            try {
                if (!cannot_list_) {
                    std::vector<object_entry> window = entries_from(key);
                    std::optional<known_object> told;
                    if (const object_entry* const entry = entry_of(window, key)) {
                        told = known_object{.size = entry->size, .version = entry->version};
                    }
                    note(std::move(window), state);
                    return told;
                }
            } catch (const access_denied&) {
                cannot_list_ = true;  // one may have the right to read objects and not to list them
            } catch (const error&) {
                return std::nullopt;
            }
        }
        return may_do_without_ ? learn_size(key, state) : std::nullopt;
    }

    /// Whether an object is another one than it was, or gone.
    [[nodiscard]] bool has_changed(std::string_view key, const known_object& was) {
        known_.forget(key);
        const std::optional<known_object> now = learn(key);
        return !now || now->size != was.size || now->version != was.version;
    }

    /// Remembers of a listing that began when known() had this state.
    void note(std::vector<object_entry> told, std::uint64_t state) {
        std::erase_if(told, [&](const object_entry& one) { return !of_interest_(one.key); });
        known_.learn(std::move(told), state);
    }

    void forget() {
        cannot_list_ = false;
        known_.forget();
    }

    /// What is listed from a key on, in its part of the run; what comes before it, where there is too much of that.
    /// Errors: those of the storage.
    [[nodiscard]] std::vector<object_entry> entries_from(std::string_view key) const requires entry_lister<Inner> {
        constexpr std::size_t most = 1000;                               // as many as S3 tells at once
        constexpr int most_windows = 16;                                 // a server may have no end of them
        const std::string_view part = key.substr(0, key.find('/') + 1);  // npos + 1 is 0
        std::string after = detail::key_before(key);
        for (int windows = 1;; ++windows) {
            std::vector<object_entry> window = inner_.entries(part, after, most);
            // By compare(), here and below: clang 14 does not find the operators.
            if (window.size() < most || window.back().key.compare(key) >= 0 || window.back().key.compare(after) <= 0 ||
                windows == most_windows) {
                return window;
            }
            after = window.back().key;
        }
    }
    /// The entry of a key; null where it is not among them.
    [[nodiscard]] static const object_entry* entry_of(const std::vector<object_entry>& window, std::string_view key) {
        const auto found = std::lower_bound(
            window.begin(), window.end(), key,
            [](const object_entry& one, std::string_view other) { return one.key.compare(other) < 0; });
        return found != window.end() && found->key.compare(key) == 0 ? &*found : nullptr;
    }

private:
    [[nodiscard]] std::optional<known_object> learn_size(std::string_view key, std::uint64_t state) {
        try {
            if (const std::optional<std::uint64_t> size = inner_.size(key)) {
                known_.learn(key, {.size = *size}, state);
                return known_object{.size = *size};
            }
        } catch (const error&) {
            // Reading will tell.
        }
        return std::nullopt;
    }

    const Inner& inner_;
    std::function<bool(std::string_view)> of_interest_;
    bool may_do_without_;
    known_objects known_;
    std::mutex asking_;
    std::atomic<bool> cannot_list_{false};
};

}  // namespace v1
}  // namespace smdebug
