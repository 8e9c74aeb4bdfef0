// The saved reductions of one tensor as records that are kept from step to step and patched: their names, sizes and
// shapes do not change, so encoding them anew would cost more than computing them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A record among others in one buffer.
struct named_record {
    std::string name;
    std::size_t begin = 0;
    std::size_t size = 0;
};

/// What append_tensor_record would make of a tensor's reductions, 0-d tensors of doubles, one behind the other.
class reduction_records {
public:
    /// Brings the records up to date with a step.  `order` says which; those that were not computed are left out.
    /// Cost: some nanoseconds a record while the lengths of the step's numbers stay the same, else an encoding each.
    void update(std::string_view tensor, std::span<const reduction_key> order, const reduction_values& values,
                const record_stamp& stamp, record::footer_kind footer);

    [[nodiscard]] byte_view bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::span<const named_record> records() const noexcept { return records_; }

private:
    // What has to be equal for a record's bytes to lie at the same places.
    struct form {
        std::uint32_t computed = 0;
        std::size_t order_size = 0;
        std::size_t step_bytes = 0;
        std::size_t mode_step_digits = 0;
        bool has_wall_time = false;
        bool has_step = false;
        friend bool operator==(const form&, const form&) = default;
    };

    struct decimal {
        std::array<char, 20> text;
        std::size_t count = 0;
        [[nodiscard]] std::size_t size() const noexcept { return count; }
    };
    [[nodiscard]] static decimal digits_of(step_number number) noexcept;

    void encode(std::string_view tensor, std::span<const reduction_key> order, const reduction_values& values,
                const record_stamp& stamp);

    // Bytes of: metadata { plugin { "mode_step", digits }, plugin { "mode", digit } }, each with tag and length, and
    // the footer.
    [[nodiscard]] static std::size_t behind_value(const record_stamp& stamp) noexcept {
        return 2 + (2 + 2 + 9 + 2 + digits_of(stamp.mode_step).size()) + (2 + 2 + 4 + 2 + 1) + record::footer_size;
    }

    void patch(const reduction_values& values, const record_stamp& stamp, record::footer_kind footer);

    struct value_place {
        std::size_t reduction = 0;  // reduction_key::index()
        std::size_t offset = 0;
    };

    form form_;
    std::vector<reduction_key> order_;
    std::vector<std::byte> bytes_;
    std::vector<named_record> records_;
    std::vector<value_place> value_places_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/reduction_records.ipp>
#endif
