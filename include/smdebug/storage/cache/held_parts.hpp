// Prefetched parts of objects, by key: there, or on their way, and kept while a holder wants them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A part from byte 0 on that was asked for with more bytes than its object has is the whole object.
/// Threads: everything may be called at once.  Memory: each part until its last holder has let go of it.
class held_parts {
public:
    /// A whole object, whatever its size.
    static constexpr byte_range whole{0, std::numeric_limits<std::uint64_t>::max()};

    /// One part.  Its private members are guarded by the table's mutex.
    class part {
    public:
        part(std::string_view key, byte_range asked) : key_(key), asked_(asked) {}
        [[nodiscard]] const std::string& key() const noexcept { return key_; }
        [[nodiscard]] byte_range asked() const noexcept { return asked_; }

    private:
        friend class held_parts;
        std::string key_;
        byte_range asked_;
        bool over = false;  // it has come, or cannot be had
        std::optional<byte_buffer> bytes;
        object_version version;
        std::size_t holders = 0;
    };
    using part_handle = std::shared_ptr<part>;

    struct promised {
        part_handle what;
        bool fresh = false;  ///< nobody has begun to fetch it: the caller is to
    };

    /// Holds a part, which counts as on its way from now on, unless it was held already.
    [[nodiscard]] promised promise(std::string_view key, byte_range asked);
    /// Ends the wait for a part.  `bytes`: what was fetched; nothing where it cannot be read, or is not there.  Where it
    /// is of another version than other parts of its object, all of them are dropped.
    void put(const part_handle& what, std::optional<byte_buffer> bytes, object_version version = {});
    /// Takes one hold on it back.
    void release(const part_handle& what);
    /// Whether anybody still holds it.
    [[nodiscard]] bool is_held(const part_handle& what) const;

    /// A range of an object, cut at the object's end, if it is inside of what is held; waits for it, if it is on its
    /// way.  Nothing for an empty range, and for one behind the object's end.
    /// `version`: is set to the version that it is of, as far as that is known.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, byte_range where,
                                                  object_version* version = nullptr) const;
    [[nodiscard]] bool covers(std::string_view key, byte_range where) const;

    /// An object has been, or may have been, replaced: what is held of it is not given any more.
    void forget(std::string_view key);
    void forget();

private:
    [[nodiscard]] static bool covers(const part& one, byte_range where) noexcept;

    [[nodiscard]] part_handle look(std::string_view key, byte_range where) const;

    // Whether any of these parts is of another version.
    [[nodiscard]] static bool of_two(const std::vector<part_handle>& known, const object_version& version);

    void erase(const part_handle& what);

    mutable std::mutex guard_;
    mutable std::condition_variable over_;
    std::unordered_map<std::string, std::vector<part_handle>, text_hash, std::equal_to<>> by_key_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/held_parts.ipp>
#endif
