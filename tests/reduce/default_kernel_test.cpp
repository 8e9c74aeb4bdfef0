#include <smdebug/reduce/default_kernel.hpp>

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug;

#ifdef SMDEBUG_COMPILED
static_assert(std::same_as<default_kernel, dispatched_kernel>);
#else
static_assert(std::same_as<default_kernel, simd_kernel<>>);
#endif
static_assert(reduction_kernel<default_kernel>);

TEST_CASE("default_kernel: reduces with the bits of every other kernel") {
    constexpr std::array<float, 5> values{1.0F, -2.5F, 1e-3F, 7.0F, 0.1F};
    const std::array<std::size_t, 1> shape{values.size()};
    const tensor_view tensor{
        .type = dtype::float32, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}};
    const auto ours = default_kernel{}.reduce(tensor, reduction_set::all());
    REQUIRE(ours.ok());
    for (const dispatched_kernel& other : dispatched_kernel::available()) {
        const auto theirs = other.reduce(tensor, reduction_set::all());
        REQUIRE(theirs.ok());
        CHECK((*ours)(reduction::mean) == (*theirs)(reduction::mean));
        CHECK((*ours)(reduction::l2, true) == (*theirs)(reduction::l2, true));
    }
}
#include <smdebug/core/strict_math/end.ipp>
