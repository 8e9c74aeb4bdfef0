// The words of a digest mixed with vectors: the sum of the scalar loops, for every count and first word.
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/simd_digest.hpp>

#include <reduce/corpus.hpp>
#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("simd_digest: the sums of the plain loops, around every row of vectors") {
    reduce_test::random_bits random{7};
    std::vector<std::byte> bytes(8 * 200 + 5);
    for (std::byte& each : bytes) {
        each = static_cast<std::byte>(random());
    }
    for (const std::size_t shift : {0U, 1U, 5U}) {
        for (std::size_t count = 0; count <= 200; ++count) {
            for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{31}, ~std::uint64_t{0} - 40}) {
                CAPTURE(count);
                CHECK(reduce::detail::simd_sum_of_mixed<xsimd::default_arch>(bytes.data() + shift, count, first) ==
                      reduce::detail::sum_of_mixed<void>(bytes.data() + shift, count, first));
            }
        }
    }
}

TEST_CASE("simd_digest: words of all bits and of none") {
    for (const std::byte fill : {std::byte{0}, std::byte{0xFF}, std::byte{0x80}}) {
        const std::vector<std::byte> bytes(8 * 512, fill);
        CHECK(reduce::detail::simd_sum_of_mixed<xsimd::default_arch>(bytes.data(), 512, 3) ==
              reduce::detail::sum_of_mixed<void>(bytes.data(), 512, 3));
    }
}
