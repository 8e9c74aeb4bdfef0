#include <smdebug/reduce/simd_batch.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

using arch = xsimd::default_arch;
constexpr std::size_t width = doubles<arch>::size;

template <class Batch>
auto lanes_of(const Batch& batch) {
    std::array<typename Batch::value_type, Batch::size> lanes;
    batch.store_unaligned(lanes.data());
    return lanes;
}

}  // namespace

static_assert(vectors_per_row<arch> * width == lane_count);

TEST_CASE("load_doubles: floats and doubles at any alignment, widened exactly") {
    std::array<float, width> floats{};
    for (std::size_t i = 0; i < width; ++i) {
        floats[i] = 0.1F * static_cast<float>(i + 1);
    }
    floats[0] = std::numeric_limits<float>::denorm_min();
    std::array<std::byte, sizeof(floats) + 1> bytes{};
    std::memcpy(bytes.data() + 1, floats.data(), sizeof(floats));
    const auto lanes = lanes_of(load_doubles<arch>(reinterpret_cast<const float*>(bytes.data() + 1)));
    for (std::size_t i = 0; i < width; ++i) {
        CHECK(lanes[i] == static_cast<double>(floats[i]));
    }
    CHECK(lanes_of(load_doubles<arch>(lanes.data())) == lanes);
}

TEST_CASE("smaller, larger, rounded_product, plus_exact_square: lane by lane") {
    const doubles<arch> a(1 + 0x1p-30);
    const doubles<arch> b(-3.0);
    CHECK(lanes_of(smaller<arch, double>(a, b))[width - 1] == -3);
    CHECK(lanes_of(larger<arch, double>(a, b))[0] == 1 + 0x1p-30);
    CHECK(lanes_of(larger<arch, float>(singles<arch>(2.0F), singles<arch>(5.0F)))[1] == 5);
    CHECK(lanes_of(smaller<arch, float>(singles<arch>(2.0F), singles<arch>(5.0F)))[1] == 2);
    CHECK(lanes_of(rounded_product<arch>(a, a) - doubles<arch>(1 + 0x1p-29))[0] == 0);
    CHECK(lanes_of(plus_exact_square<arch>(b, doubles<arch>(3.0)))[width - 1] == 6);
}

TEST_CASE("vector trees: the same as the scalar ones") {
    lane_array<double> lanes{};
    for (std::size_t i = 0; i < lane_count; ++i) {
        lanes[i] = 1 / static_cast<double>(i + 3) * (i % 3 == 0 ? -1 : 1);
    }
    lane_vectors<arch> vectors;
    lane_vectors<arch> lows;
    const auto load = [&] {
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            vectors[i] = doubles<arch>::load_unaligned(&lanes[i * width]);
            lows[i] = vectors[i] * doubles<arch>(0x1p-60);
        }
    };
    load();
    lane_array<double> copy = lanes;
    CHECK(vector_tree_sum<arch>(vectors) == tree_sum<arch>(copy));
    load();
    copy = lanes;
    lane_array<double> low = lanes;
    for (double& value : low) {
        value *= 0x1p-60;
    }
    const wide_sum found = wide_vector_tree_sum<arch>(vectors, lows);
    const wide_sum wanted = tree_sum<arch>(copy, low);
    CHECK(found.high == wanted.high);
    CHECK(found.low == wanted.low);
    load();
    copy = lanes;
    const scaled_product product = vector_tree_product<arch>(vectors, 7);
    const scaled_product plain = tree_product<arch>(copy, 7);
    CHECK(product.mantissa == plain.mantissa);
    CHECK(product.exponent == plain.exponent);
}

TEST_CASE("lane_product: normalise takes the exponent out and keeps sign and mantissa") {
    lane_product<arch> product;
    product.mantissa = doubles<arch>(-12.0);
    product.normalise();
    CHECK(lanes_of(product.mantissa)[0] == -1.5);
    CHECK(lanes_of(product.exponent)[width - 1] == 1023 + 3);
    product.normalise();
    CHECK(lanes_of(product.mantissa)[0] == -1.5);
    CHECK(lanes_of(product.exponent)[0] == 2 * 1023 + 3);
}

TEST_CASE("wide_lane_sum: eight rows by a tree, the rest kept in low") {
    wide_lane_sum<arch> sum;
    wide_lane_sum<arch>::group rows;
    rows.fill(doubles<arch>(1.0));
    sum.add(rows);
    rows.fill(doubles<arch>(0x1p-60));
    sum.add(rows);
    CHECK(lanes_of(sum.high)[0] == 8);
    CHECK(lanes_of(sum.low)[0] == 0x1p-57);
}

TEST_CASE("padded_row: what is missing changes nothing") {
    const std::array<float, 3> values{-2, 5, 7};
    const padded_row<arch, float> row(values.data(), values.size());
    CHECK(row.sums[2] == 7);
    CHECK(row.sums[3] == 0);
    CHECK(row.factors[1] == 5);
    CHECK(row.factors[15] == 1);
    CHECK(row.extrema[2] == 7);
    CHECK(row.extrema[15] == -2);
}
