// An event with one tensor as the Python package and our hook write it, taken apart in one go.
// Nearly every record of a run is such a one; walking four nested messages field by field takes several times as long,
// which is most of what a small tensor costs.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/varint.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// What such an event holds.
/// Borrows: everything points into the message.
struct usual_event {
    std::string_view tag;
    tensor_proto tensor;  ///< with content
};

namespace detail {

/// Goes through a message from its beginning; each step says whether what it expects stands there.
class expected_fields {
public:
    explicit expected_fields(byte_view message) noexcept : at_(message.data()), end_(at_ + message.size()) {}

    [[nodiscard]] bool at_end() const noexcept { return at_ == end_; }
    [[nodiscard]] bool stands(std::byte tag) const noexcept { return at_ != end_ && *at_ == tag; }
    /// A field of eight bytes.
    [[nodiscard]] bool skip_fixed64(std::byte tag) noexcept {
        const bool there = end_ - at_ > 8 && *at_ == tag;
        at_ += there ? 9 : 0;
        return there;
    }
    [[nodiscard]] bool take_number(std::byte tag, std::uint64_t& value) noexcept {
        if (end_ - at_ < 2 || *at_ != tag) {
            return false;
        }
        if (at_[1] < std::byte{0x80}) {
            value = static_cast<std::uint64_t>(at_[1]);
            at_ += 2;
            return true;
        }
        byte_view rest{at_ + 1, end_};
        const status taken = take_varint(rest, value);
        at_ = rest.data();
        return taken == status::ok;
    }
    [[nodiscard]] bool take_bytes(std::byte tag, byte_view& bytes) noexcept {
        std::uint64_t length = 0;
        if (!take_number(tag, length) || length > left()) {
            return false;
        }
        bytes = byte_view{at_, static_cast<std::size_t>(length)};
        at_ += length;
        return true;
    }
    /// A message that reaches to the end of this one: what follows is its fields.
    [[nodiscard]] bool enter_last(std::byte tag) noexcept {
        std::uint64_t length = 0;
        return take_number(tag, length) && length == left();
    }

private:
    [[nodiscard]] std::uint64_t left() const noexcept { return static_cast<std::uint64_t>(end_ - at_); }

    const std::byte* at_;
    const std::byte* end_;
};

}  // namespace detail

/// Fills `out` where the message is: wall time, a step unless it is 0, and a summary of one value, which is a tag, a
/// tensor (dtype, shape, content that is not empty) and metadata or none; each field once, in this order, and nothing
/// else.  The general decoders find the same in it.  False for any other message, whether there is anything wrong with
/// it or not; `out` is then unspecified.      Cost: some tens of nanoseconds.
[[nodiscard]] inline bool match_usual_event(byte_view message, usual_event& out) noexcept {
    constexpr std::byte wall_time{0x09};
    constexpr std::byte step{0x10};
    constexpr std::byte summary{0x2a};
    constexpr std::byte value{0x0a};
    constexpr std::byte tag{0x0a};
    constexpr std::byte tensor{0x42};
    constexpr std::byte metadata{0x4a};
    constexpr std::byte dtype{0x08};
    constexpr std::byte shape{0x12};
    constexpr std::byte content{0x22};
    detail::expected_fields fields{message};
    std::uint64_t number = 0;
    byte_view bytes;
    if (!fields.skip_fixed64(wall_time) || (fields.stands(step) && !fields.take_number(step, number)) ||
        !fields.enter_last(summary) || !fields.enter_last(value) || !fields.take_bytes(tag, bytes)) {
        return false;
    }
    out.tag = as_text(bytes);
    tensor_proto& found = out.tensor;
    if (!fields.take_bytes(tensor, found.message) ||
        (!fields.at_end() && !(fields.take_bytes(metadata, bytes) && fields.at_end()))) {
        return false;
    }
    detail::expected_fields inner{found.message};
    if (!inner.take_number(dtype, found.dtype_code) || !inner.take_bytes(shape, bytes) ||
        !inner.take_bytes(content, found.content) || !inner.at_end() || found.content.empty()) {
        return false;
    }
    found.shape = bytes;
    found.fields = 1U << tensor_field::dtype | 1U << tensor_field::shape | 1U << tensor_field::content;
    return true;
}

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
