#include <smdebug/reduce/simd_kernel.hpp>

#include <reduce/corpus.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

using arch = xsimd::default_arch;
constexpr parts sums{.norms = true};

/// The sums of whole rows, column by column, against the scalar sweep.
void check(reduce_test::kind which, std::size_t rows) {
    const auto numbers = reduce_test::numbers(which, rows * lane_count, reduce_test::single_range);
    const std::vector<double> values(numbers.begin(), numbers.end());
    column_results<arch> results;
    block_result block;
    for (std::size_t lane = 0; lane < lane_count; lane += xsimd::batch<double, arch>::size) {
        wide_column<arch, sums>(values.data(), rows, lane, nullptr, nullptr, results, block);
    }
    const auto wanted =
        scalar_sweeps::sweep<double, sums>(std::as_bytes(std::span{values}).data(), values.size(), nullptr);
    const wide_sum sum = wide_vector_tree_sum<arch>(results.sum, results.sum_low);
    const wide_sum squares = wide_vector_tree_sum<arch>(results.squares, results.squares_low);
    CHECK(sum.high == wanted.sum.high);
    CHECK(sum.low == wanted.sum.low);
    CHECK(squares.high == wanted.squares.high);
    CHECK(squares.low == wanted.squares.low);
}

}  // namespace

TEST_CASE("wide_column: columns of whole rows leave the lanes that the definition asks for") {
    for (const auto which : {reduce_test::kind::uniform, reduce_test::kind::cancelling}) {
        for (const std::size_t rows :
             {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9}, std::size_t{128}}) {
            CAPTURE(rows);
            check(which, rows);
        }
    }
}

TEST_CASE("wide_column: the last row, filled up, counts once; a product takes the factors") {
    std::vector<double> values(lane_count, double{2});
    const padded_row<arch, double> last(values.data(), 3);
    column_results<arch> results;
    block_result block;
    constexpr parts all{.extrema = true, .smallest = true, .norms = true, .product = true};
    for (std::size_t lane = 0; lane < lane_count; lane += xsimd::batch<double, arch>::size) {
        wide_column<arch, all>(values.data(), 1, lane, &last, nullptr, results, block);
    }
    CHECK(wide_vector_tree_sum<arch>(results.sum, results.sum_low).high == 38);
    CHECK(wide_vector_tree_sum<arch>(results.squares, results.squares_low).high == 76);
    CHECK(block.max == 2);
    CHECK(block.min == 2);
    // 2^19: sixteen factors and three, normalised away lane by lane.
    const scaled_product product = vector_tree_product<arch>(results.product, 0);
    CHECK(product.mantissa == 1);
}
