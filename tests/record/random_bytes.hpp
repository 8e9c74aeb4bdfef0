// Bytes to make checksums of.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

inline std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random() & 0xffU);
    }
    return bytes;
}

}  // namespace smdebug_test
