// What a parser returns: a status, or a value. Nothing here throws.
// record, wire, tensor and reduce return these; trial and hook turn them into errors that name file and offset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// The outcome of parsing bytes.
enum class status : std::uint8_t {
    ok,
    truncated,             ///< the bytes end within a record or message; more bytes may come
    bad_length_checksum,   ///< the checksum of a record's length does not match: nothing after it can be trusted
    bad_payload_checksum,  ///< neither the package's constant nor the crc32c of the payload
    malformed,             ///< not the wire format: a bad varint, tag, wire type or nesting
    no_value,              ///< a well-formed event that holds no tensor
    wrong_tensor,          ///< a well-formed record of another tensor than the requested one
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

/// A value, or the status that explains why there is none.
template <class Value>
class [[nodiscard]] result {
public:
    constexpr result(Value value) : value_(std::move(value)) {}  // NOLINT: implicit, so that `return value;` reads well
    constexpr result(status why) noexcept : why_(why) {}         // NOLINT: `why` is never status::ok
    /// Constructs the value in place, so that a large one is not copied.
    constexpr explicit result(std::in_place_t /*tag*/) : value_(std::in_place) {}

    [[nodiscard]] constexpr bool ok() const noexcept { return value_.has_value(); }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] constexpr status code() const noexcept { return why_; }

    /// The value; only where ok().
    [[nodiscard]] constexpr const Value& operator*() const& noexcept { return *value_; }
    [[nodiscard]] constexpr Value& operator*() & noexcept { return *value_; }
    [[nodiscard]] constexpr Value operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] constexpr const Value* operator->() const noexcept { return &*value_; }
    [[nodiscard]] constexpr Value* operator->() noexcept { return &*value_; }

private:
    std::optional<Value> value_;
    status why_ = status::ok;
};

/// Why part of a run was not read.
enum class problem_kind : std::uint8_t {
    damaged,      ///< it cannot be read, is cut, or contradicts itself
    unsupported,  ///< it is intact, but this library does not read it
    replaced,     ///< it was superseded by something written later: points of a log before a restart
    left_out,     ///< it is skipped: another kind of data is read, or it cannot be attributed
};

/// "damaged", "unsupported", "replaced", "left out".
[[nodiscard]] constexpr std::string_view name_of(problem_kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"damaged", "unsupported", "replaced", "left out"};
    return names[static_cast<std::size_t>(kind)];
}

/// A part of a run that was not read.
struct problem {
    problem_kind kind = problem_kind::damaged;
    std::string where =
        {};                 ///< the file's key in the storage, and the place in it: "a/events.out.tfevents.1, byte 248"
    std::string what = {};  ///< a sentence without its final period
    std::string topic = {};  ///< which of several at one place: it stays the same while the sentence counts on

    friend bool operator==(const problem&, const problem&) = default;
};

/// How a Git LFS pointer begins, which stands in place of a file that was not fetched; and the text that reports it.
inline constexpr std::string_view lfs_pointer_begin = "version https://git-lfs.github.com/spec/";
inline constexpr std::string_view lfs_pointer_text =
    "it is a pointer of Git LFS, not the file itself: fetch that by git lfs pull";

/// "a/events.out.tfevents.1, byte 248: the record is damaged".
[[nodiscard]] inline std::string text_of(const problem& one) {
    return one.where.empty() ? one.what : one.where + ": " + one.what;
}

}  // namespace smdebug::inline v1
