// From a tensor in the caller's memory, or its reductions, to framed records of an event file; elements are not copied.
// The bytes around the elements are few and go into a buffer; a gather write (writev) joins the two.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// A record's fields besides its tensor.
struct record_stamp {
    double wall_time = 0;  ///< seconds since 1970
    step_number step = 0;
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
    std::string_view computed_by = {};  ///< of reductions: what computed them, if it was not this library
};

/// The plugin whose content is record_stamp::computed_by, in the metadata of a record that has one.
inline constexpr std::string_view computed_by_plugin = "computed_by";

/// A record that has been appended to a buffer.
struct appended_record {
    std::uint64_t size = 0;       ///< bytes of the whole record, including omitted ones
    wire::omitted_bytes omitted;  ///< elements, and their position in the buffer; empty if copied
};

/// Smaller tensors are copied: a piece of a gather write costs more than that.
inline constexpr std::size_t copied_below = 4096;

/// The largest payload that every reader of the format accepts: protobuf counts the bytes of a message in 31 bits.
inline constexpr std::uint64_t largest_payload = std::numeric_limits<std::int32_t>::max();

// A tensor too large for a record: the caller gets this error, and the step continues without the tensor.
class tensor_too_large : public unsupported {
public:
    tensor_too_large(std::string_view name, std::size_t bytes, step_number step);
};

/// Appends `tensor` as the record that the Python package writes for it, byte for byte; elements of at least
/// `copied_up_to` bytes are left out.  A record above `largest_payload` has size 0, and nothing is appended.
/// Borrows: the omitted elements.      Cost: some hundred nanoseconds, and a pass over the elements if the footer is a
///          checksum.
[[nodiscard]] appended_record append_tensor_record(std::vector<std::byte>& out, std::string_view name,
                                                   const tensor_view& tensor, const record_stamp& stamp,
                                                   record::footer_kind footer, std::size_t copied_up_to = copied_below);

/// What is written of a tensor.
struct reduction_plan {
    std::vector<reduction_key> order = {};  ///< the reductions in the order of writing, each once
    reduction_set wanted = {};              ///< the same as a set
    bool raw = false;                       ///< the values
    bool shape = false;                     ///< the shape
    bool digest = false;                    ///< the digest of the values

    /// Whether nothing is written.
    [[nodiscard]] bool empty() const noexcept { return order.empty() && !raw && !shape && !digest; }

    /// Adds a reduction unless it is there.
    void add(reduction_key key);
    /// Appends what `other` writes and this does not.
    void add(const reduction_plan& other);
    /// Clears the plan, keeps the memory.
    void clear() noexcept;
};

inline constexpr std::array<std::string_view, 7> plain_reduction_names{"min",      "max", "mean", "std",
                                                                       "variance", "sum", "prod"};
inline constexpr std::array<std::string_view, 2> norm_names{"l1", "l2"};

/// The candidate of that name; else throws a value_error that lists the candidates.
[[nodiscard]] reduction known_reduction(std::string_view name, std::span<const std::string_view> candidates,
                                        const std::string& where);

/// A name as files have it: "min", "abs_max", "l1_norm"; "l1" for short.
[[nodiscard]] reduction_key known_file_reduction(std::string_view name, const std::string& where);

/// The plan of a config, in the order in which the Python package writes, whatever the config's order: plain
/// reductions, norms, reductions of magnitudes, norms of magnitudes.
/// Errors: value_error for an unknown reduction; its message begins with `where`.
[[nodiscard]] reduction_plan make_reduction_plan(const reduction_config& config,
                                                 const std::string& where = "reduction_config");

/// A record among others in one buffer.
struct named_record {
    std::string name;
    std::size_t begin = 0;
    std::size_t size = 0;
};

/// What append_tensor_record would write for a tensor's reductions: consecutive 0-d tensors of doubles.  The records
/// are kept from step to step and patched: their names, sizes and shapes do not change, and encoding them again would
/// cost more than computing the reductions.
class reduction_records {
public:
    /// Updates the records for a step.  `order` selects them; reductions that were not computed are left out.
    /// Cost: some nanoseconds a record while the step numbers keep their lengths, else an encoding each.
    void update(std::string_view tensor, std::span<const reduction_key> order, const reduction_values& values,
                const record_stamp& stamp, record::footer_kind footer);

    [[nodiscard]] byte_view bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::span<const named_record> records() const noexcept { return records_; }

private:
    // What must be equal for a record to keep its layout.
    struct form {
        std::string computed_by = {};
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

    // Bytes of: metadata { plugin { "computed_by", a name } if there is one, plugin { "mode_step", digits },
    // plugin { "mode", digit } }, each with tag and length, and the footer.
    [[nodiscard]] static std::size_t behind_value(const record_stamp& stamp) noexcept {
        const std::size_t mark =
            stamp.computed_by.empty() ? 0 : 2 + 2 + computed_by_plugin.size() + 2 + stamp.computed_by.size();
        return 2 + mark + (2 + 2 + 9 + 2 + digits_of(stamp.mode_step).size()) + (2 + 2 + 4 + 2 + 1) +
               record::footer_size;
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

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensor_record.ipp>
#endif
