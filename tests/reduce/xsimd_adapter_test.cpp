#include <smdebug/reduce/simd_batch.hpp>

#include "support/test.hpp"

namespace reduce = smdebug::reduce;

namespace {

using arch = xsimd::default_arch;
using doubles = xsimd::batch<double, arch>;
using words = xsimd::batch<std::uint64_t, arch>;

}  // namespace

TEST_CASE("xsimd_adapter: bits go from lanes of one type to lanes of the other and back") {
    constexpr std::array values{0.0, -0.0, 1.5, std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::denorm_min()};
    for (const double value : values) {
        std::array<std::uint64_t, words::size> bits{};
        reduce::detail::same_bits<arch, std::uint64_t>(doubles(value)).store_unaligned(bits.data());
        std::array<double, doubles::size> back{};
        reduce::detail::same_bits<arch, double>(words::load_unaligned(bits.data())).store_unaligned(back.data());
        for (std::size_t i = 0; i < bits.size(); ++i) {
            CHECK(bits[i] == std::bit_cast<std::uint64_t>(value));
            CHECK(std::bit_cast<std::uint64_t>(back[i]) == bits[i]);
        }
    }
}
