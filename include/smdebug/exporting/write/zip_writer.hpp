// A zip of stored members, as numpy.savez writes them: no compression, so that writing costs what memory and disk cost.
// Without dates: the same members give the same bytes.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/buffered_output.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Where the fields of 64 bits begin: lower for tests alone.
struct zip_limits {
    std::uint64_t size = 0xffffffff;
    std::size_t members = 0xffff;
};

/// Writes a zip into a file, front to back.  Names are UTF-8, relative, of at most 65535 bytes, and each once: who calls
/// sees to that.      Borrows: the file.      Memory: some 100 bytes a member.
class zip_writer {
public:
    explicit zip_writer(posix::buffered_output& to, zip_limits limits = {}) : to_(&to), limits_(limits) {}

    static constexpr std::size_t longest_name = 0xffff;

    /// A member of these pieces, one behind the other.      Cost: a pass over them for the checksum, and writing them.
    void add(std::string_view name, std::span<const byte_view> pieces);

    /// A member of which the first `head` bytes are known last: append() gives the others, and end() these.
    void begin(std::string_view name, std::size_t head);
    void append(byte_view bytes);
    void end(byte_view head);

    /// The directory.
    void finish();

private:
    struct member {
        std::string name;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        std::uint32_t checksum = 0;
        bool is_large = false;  // its local header has 64 bits for the size
    };

    [[nodiscard]] static std::string local_header(const member& of);
    [[nodiscard]] std::string directory_entry(const member& of) const;

    posix::buffered_output* to_;
    zip_limits limits_;
    std::vector<member> members_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/zip_writer.ipp>
#endif
