// Tars whose headers have right checksums, whatever else they hold.
#pragma once

#include "support/standard.hpp"

namespace smdebug_fuzz {

/// Corrects the checksum of each block that has "ustar" where a header has it.
inline void put_sums_right(std::string& tar) {
    for (std::size_t begin = 0; begin + 512 <= tar.size(); begin += 512) {
        if (tar.compare(begin + 257, 5, "ustar") != 0) {
            continue;
        }
        tar.replace(begin + 148, 8, "        ");
        unsigned sum = 0;
        for (std::size_t i = begin; i < begin + 512; ++i) {
            sum += static_cast<unsigned char>(tar[i]);
        }
        std::array<char, 8> text{};
        std::snprintf(text.data(), text.size(), "%06o", sum);
        std::memcpy(tar.data() + begin + 148, text.data(), 7);
    }
}

}  // namespace smdebug_fuzz
