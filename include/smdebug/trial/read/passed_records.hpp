// What is remembered of an event file that was read in passing: of small records their bytes, of others the reductions.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/tensor/any_decoder.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Whether a trial would make the same numbers as passing_reductions, which has the usual decoder and kernel.
[[nodiscard]] inline bool takes_passed(const any_decoder& decoder, const any_kernel& kernel) noexcept {
    return decoder.abilities().is_usual && kernel.abilities().usual_bits;
}

/// The tensor of a record, verified and reduced.
struct passed_tensor {
    std::string name = {};
    dtype type = dtype::invalid;
    shape_type shape = {};
    reduction_values reductions = {};  ///< all that its dtype has
};

/// The notes about one event file.  Filled by ascending offsets, then only asked, by any thread.
class passed_records final : public object_notes {
public:
    /// The bytes of a record up to that size take about as much as its numbers would.
    static constexpr std::uint64_t small_record = 512;

    void add(byte_range record, byte_view bytes);
    void add(byte_range record, passed_tensor tensor);

    /// The bytes of a record, where just this one was kept; else empty.  Borrowed.
    [[nodiscard]] byte_view bytes(byte_range record) const noexcept;

    /// The tensor of a record, where just this one was reduced and has that name; else null.  Borrowed.
    [[nodiscard]] const passed_tensor* tensor(byte_range record, std::string_view name) const noexcept;

    /// About how many bytes of memory it takes.
    [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

private:
    struct small {
        std::uint64_t offset = 0;
        std::size_t begin = 0;  // in bytes_
        std::size_t length = 0;
    };
    struct large {
        byte_range record;
        passed_tensor tensor;
    };

    std::vector<small> small_;
    std::vector<std::byte> bytes_;
    std::vector<large> large_;
    std::uint64_t cost_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/passed_records.ipp>
#endif
