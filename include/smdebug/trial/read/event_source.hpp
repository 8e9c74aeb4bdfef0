// Where a scan takes the records of one event file from: the whole file in memory, or pieces of it as they are needed.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/read/bounded_record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A file whose bytes are all there.  Borrows them.
class whole_event_file {
public:
    explicit whole_event_file(byte_view bytes) noexcept : bytes_(bytes) {}

    /// The bytes of a record, cut at the file's end.
    [[nodiscard]] byte_view at(byte_range record) const noexcept;

private:
    byte_view bytes_;
};

/// A file of which only what is wanted is read, a piece at a time.
/// Memory: one piece: `least` bytes or the record at hand, whichever is more.  Borrows the storage.
class piecewise_event_file {
public:
    /// `bound`: what is to be read of a record; nothing: as much as is claimed.
    piecewise_event_file(const any_storage& store, std::string key, std::uint64_t least,
                         std::optional<record_bound> bound = {})
        : store_(store), key_(std::move(key)), least_(least), bound_(bound) {}

    /// The bytes of a record, cut at the file's end; gone at the next call.  Records that follow each other and are
    /// smaller than a piece come with one read.  Errors: what the storage throws, and record_bound.
    [[nodiscard]] byte_view at(byte_range record);

private:
    const any_storage& store_;
    std::string key_;
    std::uint64_t least_;
    std::optional<record_bound> bound_;
    byte_buffer piece_;
    std::uint64_t begin_ = 0;
    std::uint64_t asked_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_source.ipp>
#endif
