// A storage for the last steps of a run, in memory that is used again: a step takes the place of one that was removed.
// memory_storage would ask the system for the memory of each step anew, which costs several times the copying.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/output.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Objects in memory.  Copies are handles on the same objects.  Reading shares the bytes: a buffer of a removed object
/// stays valid; the memory is used again when its last buffer is gone.
/// Threads: everything may be called at once.
class step_memory {
    struct state;

public:
    class output;

    /// Keeps the memory of up to `spare` removed event files for new ones.
    explicit step_memory(std::size_t spare = 1);

    /// The whole object.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key) const;
    /// A part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return read(key).slice(where); }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;

    [[nodiscard]] std::string name() const { return "memory:watch"; }

    /// Puts an object there, or another in its place.  Copies the bytes.
    void write(std::string_view key, byte_view bytes);
    /// An object written piece by piece.  Copies the pieces, once.
    [[nodiscard]] output create(std::string_view key);

    /// Takes an object away.  Returns whether it was there.
    bool remove(std::string_view key);

    /// How many objects there are.
    [[nodiscard]] std::size_t objects() const;
    /// How many pieces of memory are kept to be used again.
    [[nodiscard]] std::size_t spare() const;

private:
    using piece = std::vector<std::byte>;

    struct heap;

    // A buffer over a piece, which goes back to the heap, if that is still there, after the buffer's last copy.
    [[nodiscard]] static byte_buffer lend(piece bytes, const std::shared_ptr<heap>& from);

    std::shared_ptr<state> state_;
};

/// An object being written into a step_memory, which it keeps alive; models object_output.
class step_memory::output {
public:
    void append(std::span<const byte_view> pieces) { smdebug::detail::gather(bytes_, pieces); }
    void commit(durability /*none is more than another*/);

private:
    friend class step_memory;
    output(std::shared_ptr<state> place, std::string_view key);

    std::shared_ptr<state> state_;
    std::string key_;
    bool recycles_;  // what the other files hold is small
    piece bytes_;
};

inline step_memory::output step_memory::create(std::string_view key) { return output{state_, key}; }

static_assert(writable_storage<step_memory> && appending_storage<step_memory> && removing_storage<step_memory>);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/step_memory.ipp>
#endif
