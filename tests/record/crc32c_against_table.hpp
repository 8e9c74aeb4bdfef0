// One implementation of crc32c against the table.
#pragma once

#include <smdebug/record/crc32c.hpp>

#include <record/random_bytes.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

namespace smdebug_test {

/// Checks lengths around each of some borders between the implementation's ways of working.
inline void check_around(smdebug::record::crc32c::detail::implementation which,
                         std::initializer_list<std::size_t> borders) {
    namespace crc32c = smdebug::record::crc32c;
    if (!crc32c::detail::supported(which)) {
        skipped(lacking::processor, "this CPU cannot run " + std::string{crc32c::detail::name_of(which)});
        return;
    }
    for (const std::size_t border : borders) {
        const auto bytes = random_bytes(border + 80, static_cast<unsigned>(border));
        for (std::size_t count = border > 70 ? border - 70 : 0; count <= border + 70; ++count) {
            const std::byte* const begin = bytes.data() + count % 9;
            REQUIRE(crc32c::detail::extend_by(which, 0x12345678, begin, count) ==
                    crc32c::detail::table::extend(0x12345678, begin, count));
        }
    }
}

}  // namespace smdebug_test
