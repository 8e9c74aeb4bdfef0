// Writers of TensorBoard's event files into memory, and a reader of these that shares nothing with the library.
#pragma once

#include <smdebug/hook/tensorboard_writer.hpp>

#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>

namespace smdebug_test::tensorboard_files {

using namespace smdebug;
using namespace smdebug::detail;

// The reader ----------------------------------------------------------------------------------------------------------

inline std::uint32_t plain_crc32c(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
        }
    }
    return ~crc;
}

inline std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U; }

template <class T>
T number_at(std::string_view bytes, std::size_t at = 0) {
    REQUIRE(at + sizeof(T) <= bytes.size());
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof(T));
    return number;
}

/// The payloads of a file, each with true checksums.
inline std::vector<std::string> payloads(std::string_view file) {
    std::vector<std::string> found;
    while (!file.empty()) {
        const auto length = number_at<std::uint64_t>(file);
        REQUIRE(number_at<std::uint32_t>(file, 8) == masked(plain_crc32c(file.substr(0, 8))));
        REQUIRE(length + 16 <= file.size());
        found.emplace_back(file.substr(12, length));
        REQUIRE(number_at<std::uint32_t>(file, 12 + length) == masked(plain_crc32c(found.back())));
        file.remove_prefix(16 + length);
    }
    return found;
}

/// A message: number of a field -> its contents, in order.
using message = std::map<unsigned, std::vector<std::string>>;

inline std::uint64_t take_number(std::string_view& rest) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        REQUIRE(!rest.empty());
        const auto byte = static_cast<unsigned char>(rest.front());
        rest.remove_prefix(1);
        number |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) {
            return number;
        }
    }
}

inline message parsed(std::string_view rest) {
    message fields;
    while (!rest.empty()) {
        const std::uint64_t tag = take_number(rest);
        std::size_t length = 0;
        switch (tag & 7U) {
            case 0: {
                const std::uint64_t number = take_number(rest);
                fields[static_cast<unsigned>(tag >> 3U)].emplace_back(reinterpret_cast<const char*>(&number), 8);
                continue;
            }
            case 1:
                length = 8;
                break;
            case 2:
                length = take_number(rest);
                break;
            default:
                REQUIRE((tag & 7U) == 5);
                length = 4;
        }
        REQUIRE(length <= rest.size());
        fields[static_cast<unsigned>(tag >> 3U)].emplace_back(rest.substr(0, length));
        rest.remove_prefix(length);
    }
    return fields;
}

inline double double_of(const message& fields, unsigned number) {
    const auto found = fields.find(number);
    return found == fields.end() ? 0.0 : number_at<double>(found->second.at(0));
}

inline std::vector<double> list_of(const message& fields, unsigned number) {
    std::vector<double> list;
    if (const auto found = fields.find(number); found != fields.end()) {
        for (std::size_t at = 0; at < found->second.at(0).size(); at += 8) {
            list.push_back(number_at<double>(found->second[0], at));
        }
    }
    return list;
}

struct read_value {
    double wall_time = 0;
    std::int64_t step = 0;
    std::string tag;
    std::optional<float> scalar;
    std::optional<message> histogram;
};

/// The values of a file.  Checks that its version comes first, and only there.
inline std::vector<read_value> values_in(const memory_storage& store, const std::string& key) {
    const byte_buffer file = store.read(key);
    std::vector<read_value> found;
    bool first = true;
    for (const std::string& payload : payloads(as_text(file.view()))) {
        const message event = parsed(payload);
        CHECK(event.contains(3) == first);
        if (first) {
            CHECK(event.at(3) == std::vector<std::string>{"brain.Event:2"});
            first = false;
            continue;
        }
        const message summary = parsed(event.at(5).at(0));
        for (const std::string& one : summary.at(1)) {
            const message value = parsed(one);
            read_value& read = found.emplace_back();
            read.wall_time = double_of(event, 1);
            read.step = event.contains(2) ? number_at<std::int64_t>(event.at(2).at(0)) : 0;
            read.tag = value.at(1).at(0);
            if (value.contains(2)) {
                read.scalar = number_at<float>(value.at(2).at(0));
            }
            if (value.contains(5)) {
                read.histogram = parsed(value.at(5).at(0));
            }
        }
    }
    return found;
}

// Making files -------------------------------------------------------------------------------------------------------

inline record_stamp at_step(step_number step, smdebug::mode which = smdebug::mode::train) {
    return {.wall_time = 1000 + static_cast<double>(step), .step = step, .mode = which, .mode_step = step};
}

/// A place that writes into a storage of any kind.
template <class Storage>
smdebug::tensorboard_place into(Storage store) {
    return [store](const std::string& key, smdebug::byte_view bytes) mutable { store.write(key, bytes); };
}

inline tensorboard_writer writer_to(const memory_storage& store, tensorboard_writer_options options = {}) {
    return {into(store), "worker_0", options};
}

}  // namespace smdebug_test::tensorboard_files
