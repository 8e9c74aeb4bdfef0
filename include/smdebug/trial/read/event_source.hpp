// Where the records of one event file come from: the whole file in memory, or pieces of it as they are needed.  Also
// what reduce_in_passing() has cached of a file.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

class opened_event_file;

/// The bytes of an event file.
class event_source {
public:
    event_source() = default;
    virtual ~event_source() = default;

    /// The bytes of a record, cut at the file's end; valid until the next call.  Errors: why they cannot be read.
    [[nodiscard]] virtual byte_view at(byte_range record) = 0;
    /// The bytes of an entry, as far as its claimed length is trusted: see trial_state::part_to_read().
    [[nodiscard]] SMDEBUG_INLINE virtual byte_view entry_bytes(const layout::entry& entry);
    /// This source as an open file, from which large values can be streamed; null if it is none.
    [[nodiscard]] SMDEBUG_INLINE virtual opened_event_file* opened() noexcept;
    /// Whether the storage shows the file in place, so that a process that wants to write to it may have to wait.
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

/// A file whose bytes are all in memory.  Borrows them.
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

/// Reads only the wanted parts of a file, a piece at a time.
/// Memory: one piece: `least` bytes or the current record, whichever is more.  Borrows the storage.
class piecewise_event_file : public event_source {
public:
    piecewise_event_file(const any_storage& store, std::string key, std::uint64_t least)
        : store_(store), key_(std::move(key)), least_(least) {}

    /// The bytes of a record, cut at the file's end; valid until the next call.  Adjacent records that are smaller than
    /// a piece come with one read.  Errors: what the storage throws.
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;

private:
    const any_storage& store_;
    std::string key_;
    std::uint64_t least_;
    byte_buffer piece_;
    std::uint64_t begin_ = 0;
    std::uint64_t asked_ = 0;
};

/// Opens the object, or reads it by ranges where the storage opens none; null if it does not exist.  For large objects.
[[nodiscard]] std::unique_ptr<opened_object> open_or_range(const any_storage& store, const std::string& key);

// What is cached of an event file that was read while an archive was inflated: the bytes of small records, the
// reductions of others.

/// Whether a trial would compute the same numbers as passing_reductions, which uses the default decoder and kernel.
[[nodiscard]] inline bool takes_early_reductions(const any_decoder& decoder, const any_kernel& kernel) noexcept {
    return decoder.abilities().is_usual && kernel.abilities().usual_bits;
}

/// The tensor of a record, verified and reduced while an archive was inflated.
struct early_reductions {
    std::string name = {};
    dtype type = dtype::invalid;
    shape_type shape = {};
    reduction_values reductions = {};  ///< all that its dtype has
};

/// The cache for one event file.  Filled by ascending offsets, then read-only, on any thread.
class cached_reductions final : public object_notes {
public:
    /// The bytes of a record up to this size take about as much memory as its reductions.
    static constexpr std::uint64_t small_record = 512;

    void add(byte_range record, byte_view bytes);
    void add(byte_range record, early_reductions tensor);

    /// The bytes of a record, if exactly this one was kept; else empty.  Borrowed.
    [[nodiscard]] byte_view bytes(byte_range record) const noexcept;

    /// The tensor of a record, if exactly this one was reduced and has that name; else null.  Borrowed.
    [[nodiscard]] const early_reductions* tensor(byte_range record, std::string_view name) const noexcept;

    /// Memory used, roughly, in bytes.
    [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

private:
    struct small {
        std::uint64_t offset = 0;
        std::size_t begin = 0;  // in bytes_
        std::size_t length = 0;
    };
    struct large {
        byte_range record;
        early_reductions tensor;
    };

    std::vector<small> small_;
    std::vector<std::byte> bytes_;
    std::vector<large> large_;
    std::uint64_t cost_ = 0;
};

// Reads an event file in pieces that stay in the CPU's cache until they are processed.
// A mapping costs a fault for every page of a file, and a buffer as large as the file costs writing to memory and
// reading back; reusing a small buffer costs the copy alone.

/// Memory for one piece of a file at a time; it is not initialized, and only grows.
class piece_buffer {
public:
    /// Room for `size` bytes whose first byte has the same offset in its cache line as `offset`: copying from such a
    /// place in a file costs least.  The first `kept` bytes of `from`, which lie in this buffer, are moved there.
    [[nodiscard]] std::span<std::byte> room_for(std::size_t size, std::uint64_t offset, byte_view kept = {});

private:
    static constexpr std::size_t line = 64;

    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// The records of an open file.  Bytes that the file already has in memory are not copied.
/// Memory: the buffer's: `piece` bytes or the largest record, whichever is more.  Borrows file and buffer.
class opened_event_file : public event_source {
public:
    /// Records of at least half a `piece` are read one by one, smaller ones with those that follow.
    opened_event_file(const opened_object& file, piece_buffer& buffer, std::size_t piece) noexcept
        : file_(file),
          buffer_(buffer),
          piece_(piece),
          notes_(file.notes() != nullptr ? dynamic_cast<const cached_reductions*>(file.notes()) : nullptr) {}

    /// The bytes of a record, cut at the file's end; valid until the next call.  Each byte of the file is read once if
    /// records are read by ascending offset.  Errors: what the file throws.
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;
    [[nodiscard]] SMDEBUG_INLINE opened_event_file* opened() noexcept override;

    /// The tensor of a record that was reduced while an archive was inflated; null if it was not.
    [[nodiscard]] const early_reductions* reduced_early(byte_range record, std::string_view name) const noexcept {
        return notes_ != nullptr ? notes_->tensor(record, name) : nullptr;
    }

    /// The buffer's contents from `offset` on, at least `least` bytes, cut at the file's end; valid until the next
    /// call.  Errors: what the file throws.
    [[nodiscard]] byte_view from(std::uint64_t offset, std::uint64_t least);

    /// The number of bytes from `offset` to the file's end.
    [[nodiscard]] std::uint64_t left_at(std::uint64_t offset) const noexcept {
        return file_.size() - std::min(offset, file_.size());
    }

    /// Reads without using the buffer, which does not change; see opened_object::read_at().
    [[nodiscard]] std::size_t read_apart(std::uint64_t offset, std::span<std::byte> into) const {
        return file_.read_at(offset, into);
    }

private:
    void read(std::uint64_t begin, std::size_t length);

    const opened_object& file_;
    piece_buffer& buffer_;
    std::size_t piece_;
    const cached_reductions* notes_;  // what is known without reading; null if nothing is
    byte_buffer part_;                // used if the file has the bytes in memory
    byte_view there_;                 // the bytes of the file from begin_ on
    std::uint64_t begin_ = 0;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_source.ipp>
#endif
