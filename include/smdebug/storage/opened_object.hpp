// Objects that are opened once and read piece by piece: of one version, into memory of the reader's own.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What somebody who read an object in passing wrote down about it: see passing_reader.
class object_notes {
public:
    object_notes() = default;
    object_notes(const object_notes&) = delete;
    object_notes& operator=(const object_notes&) = delete;
    virtual ~object_notes() = default;
};

/// An object that was opened: another one that takes its place in the storage does not change what is read here.
/// Threads: everything may be called at once.
class opened_object {
public:
    opened_object() = default;
    opened_object(const opened_object&) = delete;
    opened_object& operator=(const opened_object&) = delete;
    virtual ~opened_object() = default;

    /// Its bytes when it was opened.
    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;

    /// Reads from `offset` on until `into` is full or the object ends; returns how many bytes there were.
    /// Errors: those of the storage's read().
    [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

    /// At most so many bytes from `offset` on, where they are in memory as they are; fewer, or none, where not.
    /// Errors: as read_at().
    [[nodiscard]] virtual byte_buffer part(std::uint64_t /*offset*/, std::uint64_t /*most*/) const { return {}; }

    /// What was written down about it in passing; null: nothing.  It lives as long as the object.
    [[nodiscard]] virtual const object_notes* notes() const noexcept { return nullptr; }
};

/// Optional: open(key) opens an object whose pieces cost no more than their bytes; null where that is not so, or the
/// object is not there: read() then is the way, and tells what is wrong.
template <class S>
concept opening_storage = requires(const S& store, std::string_view key) {
    { store.open(key) } -> std::same_as<std::unique_ptr<opened_object>>;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
