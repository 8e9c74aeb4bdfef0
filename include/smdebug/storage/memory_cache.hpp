// A cache of whole objects in this process's memory: the least recently used ones go first.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/object_cache.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smdebug {
inline namespace v1 {

/// Holds at most `most_bytes` of objects, each with 256 bytes for what is noted of it.  Of one storage alone: it goes
/// by keys, and has one version of each.  Copies nothing: what it holds is shared with those who read it, and what it
/// lets go stays whole for them. Threads: everything may be called at once.  Cost: a look-up by hash, whatever is in
/// it.
class memory_cache {
public:
    static constexpr bool needs_versions = false;
    static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20U;

    explicit memory_cache(std::uint64_t most_bytes = usual_bytes);

    /// The object, if it is there in this version; counts as a use.
    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what);

    [[nodiscard]] bool holds(const object_identity& what) const;

    /// Keeps the object, in the place of another version.  The buffer should be all of what it keeps alive.
    void keep(const object_identity& what, const byte_buffer& bytes);

    void drop(const object_identity& what);
    void forget(std::string_view key);
    void clear();

    [[nodiscard]] std::uint64_t largest() const noexcept {
        return state_->most > note_bytes ? state_->most - note_bytes : 0;
    }
    /// What counts against the bound now.
    [[nodiscard]] std::uint64_t held_bytes() const;

private:
    static constexpr std::uint64_t note_bytes = 256;

    struct entry {
        std::string key;
        std::string version;
        byte_buffer bytes;
    };
    [[nodiscard]] static std::uint64_t cost_of(const byte_buffer& bytes) noexcept { return bytes.size() + note_bytes; }

    struct state {
        std::mutex guard;
        std::uint64_t most = 0;
        std::uint64_t bytes = 0;  // of all entries, with note_bytes for each
        std::list<entry> uses;    // the last used one first
        // By key, which the entry holds.
        std::unordered_map<std::string_view, std::list<entry>::iterator> places;

        void remove(std::string_view key);
    };
    std::unique_ptr<state> state_;
};

static_assert(object_cache<memory_cache>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/memory_cache.ipp>
#endif
