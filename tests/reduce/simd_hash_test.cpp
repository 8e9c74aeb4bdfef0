#include <smdebug/reduce/simd_digest.hpp>

#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include "support/test.hpp"

using namespace smdebug;
using reduce::detail::tensor_hash;
using reduce::detail::tensor_hash_by;
using reduce::detail::tensor_hash_of;

static_assert(reduce::detail::stripe_hasher<scalar_kernel> && reduce::detail::stripe_hasher<dispatched_kernel> &&
              reduce::detail::stripe_hasher<simd_kernel<>>);

TEST_CASE("simd_hash: each kernel gives the same, at the ends of stripes and blocks, at any alignment") {
    std::vector<std::byte> bytes(5000);
    std::mt19937 random{5};
    for (std::byte& each : bytes) {
        each = static_cast<std::byte>(random());
    }
    for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 2048U, 2111U, 4999U}) {
        for (const std::size_t shift : {0U, 1U}) {
            const std::vector<std::size_t> shape{size - (size > 0 ? shift : 0)};
            const tensor_view view{dtype::uint8, shape, std::span{bytes}.subspan(shift, shape[0]), {}};
            const tensor_hash expected = tensor_hash_by(scalar_kernel{}, view);
            CHECK(tensor_hash_of(view) == expected);
            CHECK(tensor_hash_by(simd_kernel<>{}, view) == expected);
            for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
                CHECK_MESSAGE(tensor_hash_by(kernel, view) == expected, kernel.name() << ", " << size << " bytes");
            }
            static constexpr reduce::detail::compiled_kernel without{.instruction_set = "mine", .reduce = nullptr};
            CHECK(tensor_hash_by(dispatched_kernel{without}, view) == expected);
        }
    }
}
