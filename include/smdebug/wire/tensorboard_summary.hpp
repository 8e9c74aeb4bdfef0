// TensorBoard's summaries: scalars and histograms, in the messages that its dashboards draw.
// The run's own event files hold tensors (summary.hpp), which TensorBoard does not draw, and names that it refuses.
//
//   Event { double wall_time = 1; int64 step = 2; Summary summary = 5 { repeated Value value = 1 {
//             string tag = 1; one of: float simple_value = 2, HistogramProto histo = 5 } } }
//   HistogramProto { double min = 1, max = 2, num = 3, sum = 4, sum_squares = 5;
//                    packed double bucket_limit = 6, bucket = 7 }
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace smdebug::inline v1::detail::wire {

/// The file_version in the first event of a file that TensorBoard reads.
inline constexpr std::string_view tensorboard_file_version = "brain.Event:2";

/// A histogram to write.  TensorBoard draws buckets[i] from bucket_limits[i - 1] to bucket_limits[i], but the first
/// non-empty one from min, and the last one to max.
/// Borrows: both lists, which have the same length.
struct histogram_fields {
    double min = 0;
    double max = 0;
    double num = 0;  ///< the number of values in the buckets
    double sum = 0;
    double sum_squares = 0;
    std::span<const double> bucket_limits = {};
    std::span<const double> buckets = {};
};

/// A value to write.      Borrows: the tag, and what the histogram borrows.
struct tensorboard_value {
    std::string_view tag;  ///< see tensorboard_tag
    std::variant<float, histogram_fields> value;
};

/// An event to write.      Borrows: the values, and what they borrow.
struct tensorboard_event {
    double wall_time = 0;  ///< seconds since 1970
    std::int64_t step = 0;
    std::span<const tensorboard_value> values;
};

namespace detail {

inline constexpr field_number value_histogram = 5;
inline constexpr field_number histogram_bucket_limits = 6;
inline constexpr field_number histogram_buckets = 7;

/// The fields 1 to 5.
[[nodiscard]] constexpr std::array<double, 5> numbers_of(const histogram_fields& histogram) noexcept {
    return {histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares};
}

[[nodiscard]] constexpr std::size_t packed_size(field_number number, std::span<const double> list) noexcept {
    return list.empty() ? 0 : delimited_field_size(number, list.size_bytes());
}

inline void write_packed(field_writer& writer, field_number number, std::span<const double> list) {
    if (!list.empty()) {
        writer.write_bytes(number, std::as_bytes(list));
    }
}

/// Bytes of the tag's character at `at`; 0 for a character that a tag cannot have.
[[nodiscard]] constexpr std::size_t tag_character(std::string_view text, std::size_t at) noexcept {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                          c == '-' || c == '/' || c == '.';
        return kept ? 1 : 0;
    }
    return first_utf8_character(text.substr(at)).length;
}

}  // namespace detail

/// The tag under which TensorBoard shows `name`: letters, digits, "-_./" and everything beyond ASCII are kept; other
/// characters become '_'; leading slashes are removed.  Each invalid UTF-8 byte becomes '_': protobuf readers refuse a
/// whole event for one of them.
/// Source: the Python package's cleaning of tags, which also replaces symbols beyond ASCII that are not letters.
[[nodiscard]] inline std::string tensorboard_tag(std::string_view name) {
    std::string tag;
    tag.reserve(name.size());
    for (std::size_t at = std::min(name.find_first_not_of('/'), name.size()); at < name.size();) {
        const std::size_t length = detail::tag_character(name, at);
        if (length == 0) {
            tag += '_';
        } else {
            tag += name.substr(at, length);
        }
        at += std::max<std::size_t>(length, 1);
    }
    return tag;
}

/// Bytes of `histogram` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const histogram_fields& histogram) noexcept {
    std::size_t size = detail::packed_size(detail::histogram_bucket_limits, histogram.bucket_limits) +
                       detail::packed_size(detail::histogram_buckets, histogram.buckets);
    for (const double number : detail::numbers_of(histogram)) {
        size += detail::is_default(number) ? 0 : fixed64_field_size(1);
    }
    return size;
}

/// Appends `histogram` as a message.
inline void encode(field_writer& writer, const histogram_fields& histogram) {
    field_number field = 1;
    for (const double number : detail::numbers_of(histogram)) {
        if (!detail::is_default(number)) {
            writer.write_double(field, number);
        }
        ++field;
    }
    detail::write_packed(writer, detail::histogram_bucket_limits, histogram.bucket_limits);
    detail::write_packed(writer, detail::histogram_buckets, histogram.buckets);
}

/// Bytes of `value` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const tensorboard_value& value) noexcept {
    const auto* histogram = std::get_if<histogram_fields>(&value.value);
    return delimited_field_size(detail::value_tag, value.tag.size()) +
           (histogram == nullptr ? fixed32_field_size(detail::value_simple)
                                 : delimited_field_size(detail::value_histogram, encoded_size(*histogram)));
}

/// Appends `value` as a message.
inline void encode(field_writer& writer, const tensorboard_value& value) {
    writer.write_text(detail::value_tag, value.tag);
    if (const auto* histogram = std::get_if<histogram_fields>(&value.value)) {
        writer.begin_message(detail::value_histogram, encoded_size(*histogram));
        encode(writer, *histogram);
    } else if (const auto* scalar = std::get_if<float>(&value.value)) {
        writer.write_float(detail::value_simple, *scalar);  // even 0: the field marks the alternative
    }
}

/// Bytes of a summary of these values as a message.
[[nodiscard]] constexpr std::size_t encoded_size(std::span<const tensorboard_value> summary) noexcept {
    std::size_t size = 0;
    for (const tensorboard_value& value : summary) {
        size += delimited_field_size(detail::summary_value_field, encoded_size(value));
    }
    return size;
}

/// Appends `event` as a message.
inline void encode(field_writer& writer, const tensorboard_event& event) {
    detail::encode_head(writer, event.wall_time, event.step);
    writer.begin_message(detail::event_summary, encoded_size(event.values));
    for (const tensorboard_value& value : event.values) {
        writer.begin_message(detail::summary_value_field, encoded_size(value));
        encode(writer, value);
    }
}

}  // namespace smdebug::inline v1::detail::wire
