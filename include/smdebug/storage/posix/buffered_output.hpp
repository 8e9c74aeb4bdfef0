// A file of this machine, written front to back through a buffer: for formats of many small pieces between large ones.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// Small pieces gather, large ones go to the system as they lie.  The file is under its path when it is whole: see
/// temporary_file.      Errors: as whole_file_output.
class buffered_output {
public:
    explicit buffered_output(std::string path) : path_(std::move(path)), file_(path_) {}

    void append(byte_view piece);
    void append(std::string_view text) { append(as_bytes(text)); }
    /// Bytes that were appended.
    [[nodiscard]] std::uint64_t size() const noexcept { return written_ + pending_.size(); }

    /// Writes over what was appended.
    void overwrite(std::uint64_t offset, byte_view bytes);
    /// Moves everything from `offset` on towards the end, by so many bytes; what is between then counts as appended,
    /// and is unspecified.      Cost: reading and writing what is moved.
    void make_room(std::uint64_t offset, std::uint64_t distance);

    /// Gives the file its path.
    void finish(durability how);

private:
    static constexpr std::size_t small = std::size_t{32} << 10U;

    void flush() { put({}); }
    // What is pending, and then this.
    void put(byte_view piece);

    std::string path_;
    temporary_file file_;
    std::vector<std::byte> pending_;
    std::uint64_t written_ = 0;
};

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/buffered_output.ipp>
#endif
