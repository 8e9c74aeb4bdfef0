// What a checkpoint file says of its tensors: where each lies, and how.
// What every reader of formats/checkpoints gives, and what a run is made of.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// Reads a part of a file, cut at its end.  It may throw: what it throws comes out as it is.
using range_reader = function_ref<byte_buffer(byte_range)>;

struct stored_tensor {
    std::string name = {};
    dtype type = dtype::invalid;
    shape_type shape = {};
    byte_range where = {};       ///< of the elements, in the file; all of it is there
    bool big_endian = false;     ///< the bytes of each element stand in the other order
    bool columns_first = false;  ///< elements are in Fortran's order, the first extent the fastest; of rank 2 or more
};

/// What is there and is not read, and why, as a sentence without its end.
struct left_out {
    std::string name = {};
    std::string why = {};
    problem_kind kind = problem_kind::damaged;
    friend bool operator==(const left_out&, const left_out&) = default;
};

/// Of more extents a tensor is refused, as TensorFlow does; and so a header cannot be made of them.
inline constexpr std::size_t most_extents = 254;

struct stored_tensors {
    std::vector<stored_tensor> tensors = {};  ///< by name, each once
    std::vector<left_out> not_read = {};      ///< tensors of dtypes that this library does not have
    std::vector<std::pair<std::string, std::string>> metadata = {};  ///< texts that the writer put there
};

/// Bytes of the elements of a numeric tensor; nothing where they do not fit into 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> content_bytes(dtype type,
                                                                   std::span<const std::size_t> shape) noexcept {
    const std::optional<std::size_t> count = element_count(shape);
    if (!count || *count > UINT64_MAX / (size_of(type) == 0 ? 1 : size_of(type))) {
        return std::nullopt;
    }
    return *count * size_of(type);
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
