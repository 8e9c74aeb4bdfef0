// What a cache knows of objects: their sizes and versions, from listings.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/lru.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
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

    [[nodiscard]] std::optional<known_object> find(std::string_view key);

    /// A number that changes when something is forgotten.
    [[nodiscard]] std::uint64_t state() const;

    /// Remembers the result of a listing. `state`: state() when it began. If something was forgotten since, the listing
    /// may be out of date and is ignored.
    void learn(std::vector<object_entry> listed, std::uint64_t state);
    void learn(std::string_view key, known_object listed, std::uint64_t state);

    /// Marks an object as not to be cached; only forget() undoes that.
    void pass(std::string_view key);

    /// Forgets that mark, too, for one key or for all.
    void forget(std::string_view key);
    void forget();

    /// Forgets sizes and versions of these keys, which may have changed.
    void doubt(const std::vector<std::string>& keys);

private:
    [[nodiscard]] bool passes(std::string_view key) const;

    mutable std::mutex guard_;
    std::uint64_t state_ = 0;
    lru<std::string, known_object, std::string_view> known_;
};

/// A key just before another one, with hardly any key between them; printable if the other is.
[[nodiscard]] std::string key_before(std::string_view key);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/known_objects.ipp>
#endif
