// Sizes and versions of objects, as listings told them; of the keys that were asked for last (LRU, in two generations).
#pragma once

#include <smdebug/core/form.hpp>
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
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is known of an object.
struct known_object {
    std::uint64_t size = 0;
    std::string version = {};
    bool passes = false;  ///< it changes, or is a claim: it is not to be cached
};

/// Remembers some ten thousand objects.  That an object is missing is not remembered.
/// Threads: everything may be called at once.
class known_objects {
public:
    static constexpr std::size_t usual_most = 32768;
    explicit known_objects(std::size_t most = usual_most) : half_(most / 2 + 1) {}

    [[nodiscard]] std::optional<known_object> find(std::string_view key);

    /// A number that moves when something is forgotten.
    [[nodiscard]] std::uint64_t state() const;

    /// Remembers what a listing told.  `state`: state() when it began.  Where something was forgotten since, the listing
    /// may be out of date, and is ignored.
    void learn(std::vector<object_entry> listed, std::uint64_t state);
    void learn(std::string_view key, known_object listed, std::uint64_t state);

    /// Notes that an object is not to be cached; forget() alone takes that back.
    void pass(std::string_view key);

    /// Forgets that, too, of one key, or of all.
    void forget(std::string_view key);
    void forget();

    /// Forgets sizes and versions of these keys, as they may be others by now.
    void doubt(const std::vector<std::string>& keys);

private:
    using map = std::unordered_map<std::string, known_object, text_hash, std::equal_to<>>;

    [[nodiscard]] const known_object* look(std::string_view key) const;

    void put(std::string key, known_object listed);

    void erase(std::string_view key);

    // Drops what was not asked for since the last call.
    void make_room();

    std::size_t half_;
    mutable std::mutex guard_;
    std::uint64_t state_ = 0;
    map young_;
    map old_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/known_objects.ipp>
#endif
