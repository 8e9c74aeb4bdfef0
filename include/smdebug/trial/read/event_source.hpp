// Where the records of one event file come from: the whole file in memory, or pieces of it as they are needed.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

class opened_event_file;

/// The bytes of an event file.
class event_source {
public:
    event_source() = default;
    virtual ~event_source() = default;

    /// The bytes of a record, cut at the file's end; gone at the next call.  Errors: why they cannot be read.
    [[nodiscard]] virtual byte_view at(byte_range record) = 0;
    /// The same of an entry, as far as what is claimed of its length is believed: see trial_state::part_to_read().
    [[nodiscard]] SMDEBUG_INLINE virtual byte_view entry_bytes(const layout::entry& entry);
    /// The file, where values can be left in it; else null.
    [[nodiscard]] SMDEBUG_INLINE virtual opened_event_file* opened() noexcept;
    /// Whether the storage shows the file, and who wants to write to it may have to wait.
    [[nodiscard]] bool in_place() const noexcept { return in_place_; }

protected:
    explicit event_source(bool in_place) noexcept : in_place_(in_place) {}
    event_source(const event_source&) = default;
    event_source(event_source&&) = default;
    event_source& operator=(const event_source&) = default;
    event_source& operator=(event_source&&) = default;

private:
    bool in_place_ = false;
};

/// A file whose bytes are all there.  Borrows them.
class whole_event_file : public event_source {
public:
    explicit whole_event_file(byte_view bytes, bool in_place = false) noexcept
        : event_source(in_place), bytes_(bytes) {}

    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;

    /// The bytes of a record, cut at the file's end.
    [[nodiscard]] byte_view part(byte_range record) const noexcept;

private:
    byte_view bytes_;
};

/// A file of which only what is wanted is read, a piece at a time.
/// Memory: one piece: `least` bytes or the record at hand, whichever is more.  Borrows the storage.
class piecewise_event_file : public event_source {
public:
    piecewise_event_file(const any_storage& store, std::string key, std::uint64_t least)
        : store_(store), key_(std::move(key)), least_(least) {}

    /// The bytes of a record, cut at the file's end; gone at the next call.  Records that follow each other and are
    /// smaller than a piece come with one read.  Errors: what the storage throws.
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;

private:
    const any_storage& store_;
    std::string key_;
    std::uint64_t least_;
    byte_buffer piece_;
    std::uint64_t begin_ = 0;
    std::uint64_t asked_ = 0;
};

/// The object, opened, or read by ranges where the storage opens none; null where it is not there.  For large ones.
[[nodiscard]] std::unique_ptr<opened_object> open_or_range(const any_storage& store, const std::string& key);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_source.ipp>
#endif
