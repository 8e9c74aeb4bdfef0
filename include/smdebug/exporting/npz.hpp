// Exports a run for numpy: one .npz a step, or one .npz of one tensor over its steps.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/record/crc32c_table.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {
namespace detail::crc32 {

inline constexpr std::uint32_t polynomial = 0xedb88320;  ///< of zip, gzip, PNG; bit 31 is the coefficient of x^0
using record::crc32c::detail::polynomial::one;

/// a * b modulo the polynomial.
[[nodiscard]] constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
    return record::crc32c::detail::polynomial::product(a, b, polynomial);
}

/// x^exponent modulo the polynomial.
[[nodiscard]] constexpr std::uint32_t power_of_x(std::uint64_t exponent) noexcept {
    std::uint32_t power = one;
    for (std::uint32_t square = one >> 1U; exponent != 0; exponent >>= 1U, square = product(square, square)) {
        power = (exponent & 1U) != 0 ? product(power, square) : power;
    }
    return power;
}

/// The checksum of the bytes that have checksum `crc`, followed by `bytes`; 0 is the checksum of no bytes.
[[nodiscard]] std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept;

/// Computes what extend() does by tables, on any CPU.
[[nodiscard]] std::uint32_t extend_by_tables(std::uint32_t crc, byte_view bytes) noexcept;

/// The checksum of two consecutive parts, from the checksums of both and the length of the second in bytes, below 2^61.
[[nodiscard]] constexpr std::uint32_t combine(std::uint32_t first, std::uint32_t second,
                                              std::uint64_t length_of_second) noexcept {
    return product(first, power_of_x(8 * length_of_second)) ^ second;
}

}  // namespace detail::crc32

namespace detail {

/// numpy's name of a dtype, "<f4"; empty for those that it lacks: bfloat16, the two of 8 bits, strings.
[[nodiscard]] std::string_view numpy_type(dtype type) noexcept;

/// The header, byte for byte as numpy writes it, for arrays in C order.  Its size does not depend on the first extent.
[[nodiscard]] std::string npy_head(std::string_view type, std::span<const std::size_t> shape);

// Writes a zip of stored members, as numpy.savez does: without compression, so that writing costs no more than memory
// and disk do.
// Without dates, so that the same members give the same bytes.

/// The limit above which 64-bit fields are used; lower in tests only.
struct zip_limits {
    std::uint64_t size = 0xffffffff;
    std::size_t members = 0xffff;
};

/// Writes a zip into a file, front to back.  Names are UTF-8, relative, at most 65535 bytes long and unique, which the
/// caller ensures.      Borrows: the file.      Memory: some 100 bytes a member.
class zip_writer {
public:
    explicit zip_writer(buffered_output& to, zip_limits limits = {}) : to_(&to), limits_(limits) {}

    static constexpr std::size_t longest_name = 0xffff;

    /// A member made of these pieces, concatenated.      Cost: a pass over them for the checksum, and writing them.
    void add(std::string_view name, std::span<const byte_view> pieces);

    /// A member whose first `head` bytes are known last: append() takes the other bytes, and end() the first ones.
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
        bool is_large = false;  // its local header has 64-bit sizes
    };

    [[nodiscard]] static std::string local_header(const member& of);
    [[nodiscard]] std::string directory_entry(const member& of) const;

    buffered_output* to_;
    zip_limits limits_;
    std::vector<member> members_;
};

}  // namespace detail

/// Writes the values of tensors for numpy.load, uncompressed.
/// Output: a folder with "step_000000500.npz" for each step; the worker's name is appended where several workers have
///         selected steps ("step_000000500_worker_0.npz"), and the mode for a log with several modes
///         ("step_000000500_EVAL.npz").  An output that ends in ".npz" is one file: either one step, or one tensor of
///         one worker over several steps, stacked into an array with an additional dimension, with its steps in "steps"
///         and, for a log with several modes, "modes".
/// Names:  those of the tensors, except where a name would lead out of an archive: see detail::member_name.
/// Values: bit by bit; bfloat16 and float8, which numpy lacks, as float32, which holds each value exactly; strings as
///         bytes of one length (dtype "S").  Left out and reported: strings that end in a zero byte, which numpy drops,
///         tensors of more than 32 dimensions, and strings whose padding would exceed 1 GiB.
/// Errors: run_exists (the output exists), value_error (nothing to export; one file where several are needed; steps
///         that do not stack), stopped_error, collection_unavailable; unavailable (disk full), access_denied and
///         not_found of the output.  After an error no output is left.
/// Memory: a record, twice where elements are converted.  Cost: reading the run, a checksum, and writing.
export_result export_npz(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/npz.ipp>
#endif
