// A file of framed records that may still grow: reads each record once, as it appears.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail {

/// Reads records, beginning where the last call ended.
class record_file {
public:
    /// The place of a record, and its payload, which is valid during the call only.
    using record_sink = function_ref<void(byte_range, byte_view)>;
    /// The place of a record whose payload does not match its checksum, or that exceeds the size limit.
    using damage_sink = function_ref<void(byte_range, status)>;

    /// `most`: the size limit of a record in bytes.
    explicit record_file(std::string key, std::uint64_t most = usual_most_record_bytes)
        : key_(std::move(key)), most_(most) {}

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// The end of the last whole record.
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
    /// ok: the file ends with a record.  truncated: with a part of one, which may become whole.  Anything else: the
    /// bytes after position() cannot be read, and read() does nothing more.
    /// Zeros up to the file's end, also from within a record on, count as a part of a record: a file gets its length
    /// before its bytes.
    [[nodiscard]] status state() const noexcept { return state_; }
    /// What is wrong at position() if the file does not grow any more: it is empty, or cut.  An empty text if nothing
    /// is wrong.
    [[nodiscard]] std::string cut_text() const;

    /// Reads every record that has become whole since the last call, and checks its checksums; returns their number,
    /// including damaged ones.      Errors: those of the storage; records that were read before the error are not read
    /// again.
    /// Memory: 256 KiB (4 MiB if the storage cannot keep objects open), or the largest record.
    std::size_t read(const any_storage& store, record_sink on_record, damage_sink on_damage);

private:
    std::string key_;
    std::uint64_t most_;
    std::uint64_t position_ = 0;
    std::uint64_t size_ = UINT64_MAX;  // the file's size when it was last read
    status state_ = status::ok;
    std::uint64_t missing_ = 0;  // missing bytes of a cut record, if its length is known
    bool has_zeros_ = false;     // where the next record would begin
};

/// "a/events.out.tfevents.1, byte 248".
[[nodiscard]] std::string place_in(std::string_view key, std::uint64_t offset);

/// Why a record is not read.  A file that does not begin with a record is identified if possible: a Git LFS pointer, an
/// HTML page, something compressed.      Errors: those of the storage.
[[nodiscard]] problem record_problem(const any_storage& store, const std::string& key, byte_range where, status why);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/record_file.ipp>
#endif
