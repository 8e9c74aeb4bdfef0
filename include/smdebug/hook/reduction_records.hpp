// The saved reductions of one tensor as records that are kept from step to step and patched: their names, sizes and
// shapes do not change, so encoding them anew would cost more than computing them.
// Used by: hook (hook_core).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/varint.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

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
                const record_stamp& stamp, record::footer_kind footer) {
        const form wanted{.computed = values.computed.mask,
                          .order_size = order.size(),
                          .step_bytes = wire::varint_size(static_cast<std::uint64_t>(stamp.step)),
                          .mode_step_digits = digits_of(stamp.mode_step).size(),
                          .has_wall_time = stamp.wall_time != 0,
                          .has_step = stamp.step != 0};
        if (!(wanted == form_) || !std::equal(order.begin(), order.end(), order_.begin(), order_.end())) {
            encode(tensor, order, values, stamp);
            form_ = wanted;
            order_.assign(order.begin(), order.end());
        }
        patch(values, stamp, footer);
    }

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
    [[nodiscard]] static decimal digits_of(step_number number) noexcept {
        decimal digits{};
        const auto end = std::to_chars(digits.text.data(), digits.text.data() + digits.text.size(), number).ptr;
        digits.count = static_cast<std::size_t>(end - digits.text.data());
        return digits;
    }

    void encode(std::string_view tensor, std::span<const reduction_key> order, const reduction_values& values,
                const record_stamp& stamp) {
        bytes_.clear();
        records_.clear();
        values_at_.clear();
        for (const reduction_key key : order) {
            if (!values.computed.contains(key)) {
                continue;
            }
            const double value = values.value[key.index()];
            named_record record{.name = reduction_tensor_name(tensor, key), .begin = bytes_.size()};
            static_cast<void>(append_tensor_record(
                bytes_, record.name,
                {.type = dtype::float64, .shape = {}, .bytes = std::as_bytes(std::span{&value, 1}), .strings = {}},
                stamp, record::footer_kind::package_constant));
            record.size = bytes_.size() - record.begin;
            // Behind the value come the metadata and the footer; before it, in the tensor, nothing of this length.
            values_at_.push_back({key.index(), bytes_.size() - behind_value(stamp) - sizeof(double)});
            records_.push_back(std::move(record));
        }
    }

    // Bytes of: metadata { plugin { "mode_step", digits }, plugin { "mode", digit } }, each with tag and length, and
    // the footer.
    [[nodiscard]] static std::size_t behind_value(const record_stamp& stamp) noexcept {
        return 2 + (2 + 2 + 9 + 2 + digits_of(stamp.mode_step).size()) + (2 + 2 + 4 + 2 + 1) + record::footer_size;
    }

    void patch(const reduction_values& values, const record_stamp& stamp, record::footer_kind footer) {
        const decimal digits = digits_of(stamp.mode_step);
        std::array<std::byte, 10> step{};
        std::size_t step_size = 0;
        for (auto rest = static_cast<std::uint64_t>(stamp.step); rest != 0; rest >>= 7U) {
            step[step_size++] = static_cast<std::byte>((rest & 0x7FU) | (rest > 0x7FU ? 0x80U : 0U));
        }
        for (std::size_t i = 0; i < records_.size(); ++i) {
            std::byte* const begin = bytes_.data() + records_[i].begin;
            std::byte* const payload = begin + record::header_size;
            std::byte* const end = begin + records_[i].size - record::footer_size;
            std::byte* at = payload;
            if (form_.has_wall_time) {
                store_le(at + 1, stamp.wall_time);
                at += 1 + sizeof(double);
            }
            if (form_.has_step) {
                std::copy_n(step.data(), step_size, at + 1);
            }
            store_le(bytes_.data() + values_at_[i].at, values.value[values_at_[i].reduction]);
            end[-1] = static_cast<std::byte>('0' + static_cast<int>(stamp.mode));
            std::copy_n(reinterpret_cast<const std::byte*>(digits.text.data()), digits.count,
                        end - (2 + 2 + 4 + 2 + 1) - digits.count);
            store_le(end, record::footer_of({payload, end}, footer));
        }
    }

    struct value_place {
        std::size_t reduction = 0;  // reduction_key::index()
        std::size_t at = 0;
    };

    form form_;
    std::vector<reduction_key> order_;
    std::vector<std::byte> bytes_;
    std::vector<named_record> records_;
    std::vector<value_place> values_at_;
};

}  // namespace v1
}  // namespace smdebug
