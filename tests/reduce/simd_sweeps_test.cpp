#include <smdebug/reduce/simd_kernel.hpp>

#include <reduce/corpus.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

using sweeps = simd_sweeps<xsimd::default_arch>;
constexpr parts all{.extrema = true, .smallest = true, .norms = true, .product = true};

template <class Lane>
std::vector<Lane> lanes(reduce_test::kind which, std::size_t count) {
    const auto values = reduce_test::numbers(which, count, reduce_test::single_range);
    return {values.begin(), values.end()};
}

template <class Lane>
void check_block(reduce_test::kind which, std::size_t count) {
    const auto values = lanes<Lane>(which, count);
    const std::byte* at = std::as_bytes(std::span{values}).data();
    const auto found = sweeps::sweep<Lane, all>(at, count, at + count * sizeof(Lane));
    const auto wanted = scalar_sweeps::sweep<Lane, all>(at, count, nullptr);
    CAPTURE(count);
    CAPTURE(static_cast<int>(which));
    CHECK(found.sum.high == wanted.sum.high);
    CHECK(found.sum.low == wanted.sum.low);
    CHECK(found.magnitudes.high == wanted.magnitudes.high);
    CHECK(found.squares.high == wanted.squares.high);
    CHECK(found.squares.low == wanted.squares.low);
    CHECK(found.min == wanted.min);
    CHECK(found.max == wanted.max);
    CHECK(found.abs_min == wanted.abs_min);
    if (wanted.abs_min != 0) {  // a zero's product is the walk's affair
        CHECK(found.product.mantissa == wanted.product.mantissa);
        CHECK(found.product.exponent == wanted.product.exponent);
    }
    for (const bool magnitudes : {false, true}) {
        const auto centred = sweeps::centre<Lane>(at, count, 0.3, magnitudes);
        const auto scalar = scalar_sweeps::centre<Lane>(at, count, 0.3, magnitudes);
        CHECK(centred.first == scalar.first);
        CHECK(centred.second == scalar.second);
    }
    CHECK(sweeps::count_zeros<Lane>(at, count) == scalar_sweeps::count_zeros<Lane>(at, count));
}

}  // namespace

TEST_CASE("simd_sweeps: every part of a block as the scalar sweeps have it") {
    for (const auto which : reduce_test::kinds) {
        for (const std::size_t count : reduce_test::lengths()) {
            if (count > 0 && count <= block_size) {
                check_block<float>(which, count);
                check_block<double>(which, count);
            }
        }
    }
}

TEST_CASE("simd_sweeps: unwanted parts keep their initial values") {
    const auto values = lanes<float>(reduce_test::kind::uniform, 100);
    const auto block = sweeps::sweep<float, parts{}>(std::as_bytes(std::span{values}).data(), values.size(), nullptr);
    CHECK(block.sum.high != 0);
    CHECK(block.squares.high == 0);
    CHECK(block.min == infinity);
    CHECK(block.product.mantissa == 1);
}

TEST_CASE("simd_sweeps: what is fetched ahead need not be memory") {
    const auto values = lanes<float>(reduce_test::kind::uniform, block_size);
    const std::byte* at = std::as_bytes(std::span{values}).data();
    const auto wanted = sweeps::sweep<float, all>(at, block_size, nullptr);
    for (const std::uintptr_t nowhere : {std::uintptr_t{1}, std::uintptr_t{1} << 46U, ~std::uintptr_t{0}}) {
        const auto found = sweeps::sweep<float, all>(at, block_size, reinterpret_cast<const std::byte*>(nowhere));
        CHECK(found.sum.high == wanted.sum.high);
        CHECK(found.min == wanted.min);
    }
}
