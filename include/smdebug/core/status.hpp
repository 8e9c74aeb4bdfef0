// What a parser returns: a status, or a value.  Nothing here throws.
// record, wire, tensor and reduce return these; trial and hook turn them into errors that name file and offset.
#pragma once

#include <smdebug/core/requirements.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// The outcome of looking at bytes.
enum class status : std::uint8_t {
    ok,
    truncated,             ///< the bytes end within a record or message; more bytes may come
    bad_length_checksum,   ///< the checksum of a record's length does not match: nothing after it can be trusted
    bad_payload_checksum,  ///< neither the package's constant nor the crc32c of the payload
    malformed,             ///< not the wire format: a bad varint, tag, wire type or nesting
    no_value,              ///< a well-formed event that holds no tensor
    wrong_tensor,          ///< a well-formed record of another tensor than the one asked for
    unsupported,           ///< well formed, but of a kind or dtype that has no value here
    size_mismatch,         ///< the data and the shape disagree about the number of elements
    too_large,             ///< a shape whose element count or byte count overflows
};

/// A few words for an error message.
[[nodiscard]] constexpr std::string_view describe(status what) noexcept {
    switch (what) {
        case status::ok:
            return "ok";
        case status::truncated:
            return "the record is cut";
        case status::bad_length_checksum:
            return "the checksum of the record's length does not match";
        case status::bad_payload_checksum:
            return "the checksum of the record's payload does not match";
        case status::malformed:
            return "the record is not a valid protobuf message";
        case status::no_value:
            return "the record holds no tensor";
        case status::wrong_tensor:
            return "the record is that of another tensor";
        case status::unsupported:
            return "the record holds a kind of value that is not supported";
        case status::size_mismatch:
            return "the tensor's data and shape disagree about its size";
        case status::too_large:
            return "the tensor's shape is too large";
    }
    return "unknown status";
}

/// A value, or the status that says why there is none.
template <class T>
class [[nodiscard]] result {
public:
    constexpr result(T value) : value_(std::move(value)) {}  // NOLINT: implicit, so that `return value;` reads well
    constexpr result(status why) noexcept : why_(why) {}     // NOLINT: `why` is never status::ok
    /// A value that is made where it stays: a large one is not copied into place.
    constexpr explicit result(std::in_place_t /*tag*/) : value_(std::in_place) {}

    [[nodiscard]] constexpr bool ok() const noexcept { return value_.has_value(); }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] constexpr status code() const noexcept { return why_; }

    /// The value; only where ok().
    [[nodiscard]] constexpr const T& operator*() const& noexcept { return *value_; }
    [[nodiscard]] constexpr T& operator*() & noexcept { return *value_; }
    [[nodiscard]] constexpr T&& operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &*value_; }
    [[nodiscard]] constexpr T* operator->() noexcept { return &*value_; }

private:
    std::optional<T> value_;
    status why_ = status::ok;
};

}  // namespace v1
}  // namespace smdebug
