// Logs like those of TensorBoard's writers, byte by byte: protobuf and frames are built here, without the library's
// writers.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

namespace proto {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) {
        bytes += static_cast<char>((value & 0x7FU) | 0x80U);
    }
    return bytes + static_cast<char>(value);
}

template <class T>
std::string raw(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

inline std::string tag(unsigned number, unsigned type) { return varint((number << 3U) | type); }
inline std::string whole(unsigned number, std::uint64_t value) { return tag(number, 0).append(varint(value)); }
inline std::string fixed(unsigned number, double value) { return tag(number, 1) + raw(value); }
inline std::string fixed(unsigned number, float value) { return tag(number, 5) + raw(value); }
inline std::string text(unsigned number, std::string_view bytes) {
    return tag(number, 2).append(varint(bytes.size())).append(bytes);
}
inline std::string packed(unsigned number, const std::vector<double>& values) {
    std::string bytes;
    for (const double value : values) {
        bytes += raw(value);
    }
    return text(number, bytes);
}

}  // namespace proto

/// A record's frame around a payload.
inline std::string framed(std::string_view payload) {
    namespace crc = smdebug::record::crc32c;
    const std::string length = proto::raw(static_cast<std::uint64_t>(payload.size()));
    return length + proto::raw(crc::mask(crc::value(length))) + std::string{payload} +
           proto::raw(crc::mask(crc::value(payload)));
}

inline std::string plugin_metadata(std::string_view plugin) {
    return proto::text(9, proto::text(1, proto::text(1, plugin)));
}

/// Values of a summary.
inline std::string scalar_value(std::string_view name, float number) {
    return proto::text(1, name) + proto::fixed(2, number);
}
inline std::string logged_tensor(std::string_view name, std::string_view plugin, unsigned type,
                                 const std::vector<std::size_t>& shape, std::string_view content) {
    std::string dims;
    for (const std::size_t extent : shape) {
        dims += proto::text(2, proto::whole(1, extent));
    }
    return proto::text(1, name) +
           proto::text(8, proto::whole(1, type) + proto::text(2, dims) + proto::text(4, content)) +
           (plugin.empty() ? std::string{} : plugin_metadata(plugin));
}
inline std::string text_value(std::string_view name, std::string_view content) {
    return proto::text(1, name) + proto::text(8, proto::whole(1, 7) + proto::text(2, "") + proto::text(8, content)) +
           plugin_metadata("text");
}
inline std::string histogram_value(std::string_view name, double min, double max, double num, double sum,
                                   double sum_squares, const std::vector<double>& limits,
                                   const std::vector<double>& counts) {
    return proto::text(1, name) +
           proto::text(5, proto::fixed(1, min) + proto::fixed(2, max) + proto::fixed(3, num) + proto::fixed(4, sum) +
                              proto::fixed(5, sum_squares) + proto::packed(6, limits) + proto::packed(7, counts));
}
inline std::string image_value(std::string_view name) {
    return proto::text(1, name) + proto::text(4, proto::whole(1, 1) + proto::text(4, "PNG"));
}

/// An event of these values, in its frame.
inline std::string log_record(std::int64_t step, const std::vector<std::string>& values, double wall_time = 1.5e9) {
    std::string summary;
    for (const std::string& value : values) {
        summary += proto::text(1, value);
    }
    return framed(proto::fixed(1, wall_time) + proto::whole(2, static_cast<std::uint64_t>(step)) +
                  proto::text(5, summary));
}
/// The first record of every log.
inline std::string log_head() { return framed(proto::fixed(1, 1.5e9) + proto::text(3, "brain.Event:2")); }
/// A training that starts again at a step.
inline std::string log_restart(std::int64_t step) {
    return framed(proto::fixed(1, 1.5e9) + proto::whole(2, static_cast<std::uint64_t>(step)) +
                  proto::text(7, proto::whole(1, 1)));
}

}  // namespace smdebug_test
