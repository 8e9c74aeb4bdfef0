// Builds protobuf messages from an input's bytes, with right lengths at any depth: a byte changed, inserted or removed
// still gives a message, which it would not in a raw one.
#pragma once

#include "support.hpp"

#include "support/standard.hpp"

namespace smdebug_fuzz {

/// A field for each instruction: five bits of number, three of layout.  Number 0 ends the message.
inline std::vector<std::byte> made_message(input& in, unsigned depth = 0) {
    std::vector<std::byte> message;
    const auto put_varint = [&](std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) {
            message.push_back(static_cast<std::byte>((value & 0x7FU) | 0x80U));
        }
        message.push_back(static_cast<std::byte>(value));
    };
    const auto put_bytes = [&](smdebug::byte_view bytes) { message.insert(message.end(), bytes.begin(), bytes.end()); };
    const auto put_delimited = [&](unsigned number, smdebug::byte_view bytes) {
        put_varint((number << 3U) | 2U);
        put_varint(bytes.size());
        put_bytes(bytes);
    };
    while (!in.empty()) {
        const std::uint8_t instruction = in.take_byte();
        const unsigned number = instruction >> 3U;
        if (number == 0) {
            return message;
        }
        const unsigned layout = instruction & 7U;
        switch (layout) {
            case 0:
                put_varint(number << 3U);
                put_varint(in.take_byte());
                break;
            case 1:
            case 5:
                put_varint((number << 3U) | layout);
                for (unsigned i = 0; i < (layout == 1 ? 8U : 4U); ++i) {
                    message.push_back(std::byte{in.take_byte()});
                }
                break;
            case 2:
                put_delimited(number, in.take_bytes(in.take_byte()));
                break;
            case 3:  // a nested message
                put_delimited(number, depth < 6 ? made_message(in, depth + 1) : std::vector<std::byte>{});
                break;
            case 4:  // long ones, and a byte many times
                put_delimited(number,
                              std::vector<std::byte>(in.take<std::uint16_t>() % 20'000U, std::byte{in.take_byte()}));
                break;
            case 6:
                put_varint(number << 3U);
                put_varint(in.take<std::uint64_t>());
                break;
            default:  // as they are: groups, other numbers, damage
                put_bytes(in.take_bytes(in.take_byte() % 16U));
                break;
        }
    }
    return message;
}

}  // namespace smdebug_fuzz
