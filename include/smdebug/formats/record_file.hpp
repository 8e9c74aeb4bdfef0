// A file of framed records that may still grow: each record once, as it comes.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Reads records from where the last call ended.
class record_file {
public:
    /// Where a record lies, and its payload, which is gone when the call returns.
    using record_sink = function_ref<void(byte_range, byte_view)>;
    /// Where a record lies whose payload is not what its checksum says, or that is larger than any may be.
    using damage_sink = function_ref<void(byte_range, status)>;

    /// `most`: bytes of the largest record that is believed.
    explicit record_file(std::string key, std::uint64_t most = (std::uint64_t{1} << 31U) + 64)
        : key_(std::move(key)), most_(most) {}

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// Behind the last whole record.
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
    /// ok: it ends with a record.  truncated: with a part of one, which may become whole.  Anything else: nothing behind
    /// position() can be read, and read() does nothing more.
    /// Zeros up to the file's end are a part of one, too: a file is given its length before its bytes.
    [[nodiscard]] status state() const noexcept { return state_; }
    /// What is wrong at position() where nothing more is written: the file is empty, or cut.  "": nothing is.
    [[nodiscard]] std::string cut_text() const;

    /// Every record that has become whole since the last call, with its checksums checked; returns how many there were,
    /// damaged ones too.      Errors: those of the storage; what was read is not read again then.
    /// Memory: 256 KiB (4 MiB where the storage opens nothing), or the largest record.
    std::size_t read(const any_storage& store, record_sink on_record, damage_sink on_damage);

private:
    std::string key_;
    std::uint64_t most_;
    std::uint64_t position_ = 0;
    std::uint64_t size_ = 0;  // of the file, when it was read last
    status state_ = status::ok;
    std::uint64_t missing_ = 0;  // bytes of the record that is cut, where its length is known
    bool has_zeros_ = false;     // in the place of the next record
};

/// "a/events.out.tfevents.1, byte 248".
[[nodiscard]] std::string place_in(std::string_view key, std::uint64_t offset);

/// Why a record is not read.  A file that does not begin with a record is named as what it is: a Git LFS pointer, a page of
/// HTML, something compressed.      Errors: those of the storage.
[[nodiscard]] problem record_problem(const any_storage& store, const std::string& key, byte_range where, status why);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/record_file.ipp>
#endif
