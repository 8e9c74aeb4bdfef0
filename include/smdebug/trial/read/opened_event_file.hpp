// An event file that is read in pieces which stay in the CPU's cache until they are worked through.
// A mapping pays for every page of a file, and a buffer as large as the file for writing to memory and reading it back;
// a small buffer that is used over and over costs the copy alone.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/passed_records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Memory for one piece of a file after another; it is never filled, and only grows.
class piece_buffer {
public:
    /// Room for `size` bytes, whose first one lies as `offset` does among the bytes of a cache line: copying from such
    /// a place of a file costs least.  The first `kept` bytes of `from`, which lie in this buffer, are moved there.
    [[nodiscard]] std::span<std::byte> room_for(std::size_t size, std::uint64_t offset, byte_view kept = {});

private:
    static constexpr std::size_t line = 64;

    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// The records of an open file.  What the file has in memory is not copied.
/// Memory: the buffer's: `piece` bytes or the largest record, whichever is more.  Borrows file and buffer.
class opened_event_file : public event_source {
public:
    /// Records of half a `piece` and more are read each for itself, smaller ones with those that follow.
    opened_event_file(const opened_object& file, piece_buffer& buffer, std::size_t piece) noexcept
        : file_(file),
          buffer_(buffer),
          piece_(piece),
          notes_(file.notes() != nullptr ? dynamic_cast<const passed_records*>(file.notes()) : nullptr) {}

    /// The bytes of a record, cut at the file's end; gone at the next call.  Each byte of the file is read once where
    /// records are asked for by ascending offset.  Errors: what the file throws.
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;
    [[nodiscard]] SMDEBUG_INLINE opened_event_file* opened() noexcept override;

    /// The tensor of a record that was reduced in passing; null: it was not.
    [[nodiscard]] const passed_tensor* passed(byte_range record, std::string_view name) const noexcept {
        return notes_ != nullptr ? notes_->tensor(record, name) : nullptr;
    }

    /// What the buffer has of the file from `offset` on, and at least so many bytes, cut at the file's end; gone at the
    /// next call.  Errors: what the file throws.
    [[nodiscard]] byte_view from(std::uint64_t offset, std::uint64_t least);

    /// Bytes of the file from `offset` on.
    [[nodiscard]] std::uint64_t left_at(std::uint64_t offset) const noexcept {
        return file_.size() - std::min(offset, file_.size());
    }

    /// Reads past the buffer, which stays as it is; see opened_object::read_at().
    [[nodiscard]] std::size_t read_apart(std::uint64_t offset, std::span<std::byte> into) const {
        return file_.read_at(offset, into);
    }

private:
    void read(std::uint64_t begin, std::size_t length);

    const opened_object& file_;
    piece_buffer& buffer_;
    std::size_t piece_;
    const passed_records* notes_;  // what is known without reading; null: nothing
    byte_buffer part_;             // where the file has them in memory
    byte_view there_;              // the bytes of the file from begin_ on
    std::uint64_t begin_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/opened_event_file.ipp>
#endif
