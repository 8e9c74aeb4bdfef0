// A fast path for events with one tensor as the Python package and our hook write them.
// Nearly every record of a run is such an event; reading four nested messages field by field takes several times as
// long, which is most of the cost of a small tensor.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug::inline v1::detail::wire {

/// The parts of such an event.
/// Borrows: everything points into the message.
struct usual_event {
    double wall_time = 0;  ///< seconds since 1970
    std::string_view tag;
    tensor_proto tensor;  ///< with content
};

namespace detail {

/// Matches a message from its beginning; each step returns whether it finds what it expects.
/// Always inlined: with calls, positions would be stored to memory and loaded again at each of ten fields.
class expected_fields {
public:
    /// `beyond`: bytes of the message that follow the available ones.
    explicit expected_fields(byte_view message, std::uint64_t beyond = 0) noexcept
        : at_(message.data()), end_(at_ + message.size()), beyond_(beyond) {}

    [[nodiscard]] bool at_end() const noexcept { return at_ == end_; }
    [[nodiscard]] bool stands(std::byte tag) const noexcept { return at_ != end_ && *at_ == tag; }
    [[nodiscard, gnu::always_inline]] bool take_double(std::byte tag, double& value) noexcept {
        if (end_ - at_ <= 8 || *at_ != tag) {
            return false;
        }
        value = load_le<double>(at_ + 1);
        at_ += 9;
        return true;
    }
    [[nodiscard, gnu::always_inline]] bool take_number(std::byte tag, std::uint64_t& value) noexcept {
        if (end_ - at_ < 2 || *at_ != tag) {
            return false;
        }
        const auto first = static_cast<std::uint64_t>(at_[1]);
        if (first < 0x80) {
            value = first;
            at_ += 2;
            return true;
        }
        if (end_ - at_ > 2 && at_[2] < std::byte{0x80}) {
            value = (first & 0x7fU) | static_cast<std::uint64_t>(at_[2]) << 7U;
            at_ += 3;
            return true;
        }
        const long_number longer = take_long(at_ + 1, end_);
        value = longer.value;
        at_ = longer.behind;
        return at_ != nullptr;
    }
    [[nodiscard, gnu::always_inline]] bool take_bytes(std::byte tag, byte_view& bytes) noexcept {
        std::uint64_t length = 0;
        if (!take_number(tag, length) || length > there()) {
            return false;
        }
        bytes = byte_view{at_, std::size_t{length}};
        at_ += length;
        return true;
    }
    /// A nested message that reaches to the end of this one: its fields follow.
    [[nodiscard, gnu::always_inline]] bool enter_last(std::byte tag) noexcept {
        std::uint64_t length = 0;
        return take_number(tag, length) && length == left();
    }

    /// The remaining bytes of the message.
    [[nodiscard]] std::uint64_t left() const noexcept { return there() + beyond_; }

private:
    [[nodiscard]] std::uint64_t there() const noexcept { return static_cast<std::uint64_t>(end_ - at_); }

    struct long_number {
        std::uint64_t value = 0;
        const std::byte* behind = nullptr;  // null without a match
    };
    // Returns both in registers.
    [[nodiscard, gnu::noinline]] static long_number take_long(const std::byte* begin, const std::byte* end) noexcept {
        byte_view rest{begin, end};
        long_number found;
        if (take_varint(rest, found.value) == status::ok) {
            found.behind = rest.data();
        }
        return found;
    }

    const std::byte* at_;
    const std::byte* end_;
    std::uint64_t beyond_;
};

struct event_tags {
    static constexpr std::byte wall_time{0x09};
    static constexpr std::byte step{0x10};
    static constexpr std::byte summary{0x2a};
    static constexpr std::byte value{0x0a};
    static constexpr std::byte name{0x0a};
    static constexpr std::byte tensor{0x42};
    static constexpr std::byte metadata{0x4a};
    static constexpr std::byte dtype{0x08};
    static constexpr std::byte shape{0x12};
    static constexpr std::byte content{0x22};
};

/// Matches what precedes the tensor.
[[nodiscard, gnu::always_inline]] inline bool take_name(expected_fields& fields, double& wall_time,
                                                        std::string_view& name) noexcept {
    std::uint64_t number = 0;
    byte_view bytes;
    if (!fields.take_double(event_tags::wall_time, wall_time) ||
        (fields.stands(event_tags::step) && !fields.take_number(event_tags::step, number)) ||
        !fields.enter_last(event_tags::summary) || !fields.enter_last(event_tags::value) ||
        !fields.take_bytes(event_tags::name, bytes)) {
        return false;
    }
    name = as_text(bytes);
    return true;
}

}  // namespace detail

/// Fills `out` if the message is: wall time, a step unless it is 0, and a summary of one value, which is a tag, a
/// tensor (dtype, shape, non-empty content) and optional metadata; each field once, in this order, and nothing else.
/// The general decoders give the same result.  False for any other message, valid or not; `out` is then unspecified.
/// Cost: some tens of nanoseconds.
[[nodiscard]] inline bool match_usual_event(byte_view message, usual_event& out) noexcept {
    using tags = detail::event_tags;
    detail::expected_fields fields{message};
    byte_view bytes;
    tensor_proto& found = out.tensor;
    if (!detail::take_name(fields, out.wall_time, out.tag) || !fields.take_bytes(tags::tensor, found.message) ||
        (!fields.at_end() && !(fields.take_bytes(tags::metadata, bytes) && fields.at_end()))) {
        return false;
    }
    detail::expected_fields inner{found.message};
    if (!inner.take_number(tags::dtype, found.dtype_code) || !inner.take_bytes(tags::shape, bytes) ||
        !inner.take_bytes(tags::content, found.content) || !inner.at_end() || found.content.empty()) {
        return false;
    }
    found.shape = bytes;
    found.fields = 1U << tensor_field::dtype | 1U << tensor_field::shape | 1U << tensor_field::content;
    return true;
}

/// The part of such an event before its elements.
/// Borrows: everything points into the message.
struct usual_head {
    std::string_view tag;
    std::uint64_t dtype_code = 0;
    byte_view shape;
    std::uint64_t content = 0;       ///< the elements' position in the message
    std::uint64_t content_size = 0;  ///< bytes of the elements, which end the tensor
};

/// Fills `out` from the first bytes of a message of `size` bytes, if match_usual_event() would match the whole message
/// and is_usual_tail() holds for the bytes after the elements.
[[nodiscard]] inline bool match_usual_head(byte_view first, std::uint64_t size, usual_head& out) noexcept {
    using tags = detail::event_tags;
    if (first.size() > size) {
        first = first.first(std::size_t{size});
    }
    detail::expected_fields fields{first, size - first.size()};
    std::uint64_t tensor_size = 0;
    double wall_time = 0;
    if (!detail::take_name(fields, wall_time, out.tag) || !fields.take_number(tags::tensor, tensor_size)) {
        return false;
    }
    const std::uint64_t before = fields.left();
    if (!fields.take_number(tags::dtype, out.dtype_code) || !fields.take_bytes(tags::shape, out.shape) ||
        !fields.take_number(tags::content, out.content_size)) {
        return false;
    }
    const std::uint64_t taken = before - fields.left();
    out.content = size - fields.left();
    return out.content_size > 0 && out.content_size <= fields.left() && tensor_size >= taken &&
           tensor_size - taken == out.content_size;
}

/// Whether these bytes may follow the tensor: metadata, or nothing.
[[nodiscard]] inline bool is_usual_tail(byte_view tail) noexcept {
    detail::expected_fields fields{tail};
    byte_view metadata;
    return fields.at_end() || (fields.take_bytes(detail::event_tags::metadata, metadata) && fields.at_end());
}

}  // namespace smdebug::inline v1::detail::wire
