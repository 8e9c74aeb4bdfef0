#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/histogram.hpp>

#include <reduce/corpus.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug;
using reduce_test::owned_tensor;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double last_edge = reduce::detail::default_edges.back();
using counts = std::vector<std::uint64_t>;

/// Untrimmed counts by a search for each number.
counts by_search(const std::vector<double>& edges, const std::vector<double>& values) {
    counts found(edges.size());
    for (const double value : values) {
        if (value >= edges.front() && value <= edges.back()) {
            const auto place =
                static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin());
            ++found[std::min(place, edges.size() - 1)];
        }
    }
    return found;
}

std::uint64_t total(const histogram& all) {
    return std::accumulate(all.buckets.begin(), all.buckets.end(), all.nan + all.below + all.above);
}

void check_default(const tensor_view& view, const std::vector<double>& values) {
    const auto found = histogram_of(view, default_bins{}, {.trim = false});
    REQUIRE(found.ok());
    CHECK(found->bucket_limits == reduce::detail::default_slots::edges());
    CHECK(found->buckets == by_search(found->bucket_limits, values));
    CHECK(found->num == values.size());
    CHECK(total(*found) == values.size());
    if (!values.empty()) {
        CHECK(found->min == *std::min_element(values.begin(), values.end()));
        CHECK(found->max == *std::max_element(values.begin(), values.end()));
    }
}

template <class T>
void check_integers(dtype type) {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        for (const std::size_t count : {1U, 70U, 20'000U}) {
            const std::vector<T> values = reduce_test::integers<T>(count, which);
            check_default(owned_tensor(type, values, 1).view(), {values.begin(), values.end()});
        }
    }
}

std::vector<double> sample() {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) {
        values.push_back(((i * 7919 + 13) % 1009 - 500) * 0.37);
    }
    return values;
}

}  // namespace

TEST_CASE("histogram_of: what the Python package writes, default bins") {
    const owned_tensor few(dtype::float64, std::vector<double>{1.0, 1.05, 1.1, 2.0, 1.0});
    const histogram found = *histogram_of(few.view());
    CHECK(found.min == 1);
    CHECK(found.max == 2);
    CHECK(found.num == 5);
    CHECK(found.sum == 0x1.899999999999ap+2);
    CHECK(found.sum_squares == doctest::Approx(0x1.0a00000000000p+3).epsilon(1e-15));
    CHECK(found.bucket_limits == std::vector<double>{0x1.d5a1519699908p-1, 0x1.024becdfa142bp+0, 0x1.1c20515c64963p+0,
                                                     0x1.3889f318d50bap+0, 0x1.57caf1ce83f33p+0, 0x1.7a2c09fcc4585p+0,
                                                     0x1.9ffd3e2fa4c79p+0, 0x1.c996913468753p+0, 0x1.f758d2ecd94dcp+0,
                                                     0x1.14d740cf111e0p+1});
    CHECK(found.buckets == counts{0, 2, 2, 0, 0, 0, 0, 0, 0, 1});

    const histogram many = *histogram_of(owned_tensor(dtype::float64, sample()).view());
    REQUIRE(many.buckets.size() == 693);
    REQUIRE(many.bucket_limits.size() == 693);
    CHECK(many.bucket_limits.front() == -0x1.7d82a9392af92p+7);
    CHECK(many.bucket_limits.back() == 0x1.7d82a9392af92p+7);
    CHECK(counts(many.buckets.begin(), many.buckets.begin() + 9) == counts{0, 32, 42, 38, 35, 31, 29, 26, 24});
    CHECK(many.sum == doctest::Approx(0x1.a5e47ae147adfp+10).epsilon(1e-14));
    CHECK(many.sum_squares == doctest::Approx(0x1.62d0413ab9f5ap+23).epsilon(1e-14));

    const owned_tensor around(dtype::float64, std::vector<double>{0.5, -0.5, 0.0, -0.0, 0.25});
    const histogram zeros = *histogram_of(around.view());
    REQUIRE(zeros.buckets.size() == 569);
    CHECK(zeros.bucket_limits.front() == -0x1.09180ee2531b0p-1);
    const auto zero =
        std::find(zeros.bucket_limits.begin(), zeros.bucket_limits.end(), 0.0) - zeros.bucket_limits.begin();
    CHECK(zeros.buckets[static_cast<std::size_t>(zero)] == 0);
    CHECK(zeros.buckets[static_cast<std::size_t>(zero) + 1] == 2);
}

TEST_CASE("histogram_of: what the Python package writes, other bins") {
    const owned_tensor values(dtype::float64, sample());
    const histogram ten = *histogram_of(values.view(), equal_bins{10});
    CHECK(ten.bucket_limits == std::vector<double>{-0x1.7200000000000p+7, -0x1.276872b020c4ap+7, -0x1.b9a1cac083126p+6,
                                                   -0x1.2472b020c49b9p+6, -0x1.1e872b020c498p+5, 0x1.7ae147ae14800p+0,
                                                   0x1.36353f7ced91cp+5, 0x1.3049ba5e353fcp+6, 0x1.c578d4fdf3b68p+6,
                                                   0x1.2d53f7ced916ap+7, 0x1.77eb851eb851fp+7});
    CHECK(ten.buckets == counts{0, 100, 100, 100, 99, 100, 100, 100, 100, 101, 100});

    const owned_tensor alike(dtype::int32, std::vector<std::int32_t>{3, 3, 3});
    const histogram one = *histogram_of(alike.view(), equal_bins{4});
    CHECK(one.bucket_limits == std::vector<double>{3, 3.25});
    CHECK(one.buckets == counts{0, 3});
    CHECK(histogram_of(alike.view(), equal_bins{4}, {.trim = false})->bucket_limits ==
          std::vector<double>{2.5, 2.75, 3, 3.25, 3.5});

    const std::vector<double> edges{0, 2, 2, 4, 9};
    const owned_tensor whole(dtype::int64, std::vector<std::int64_t>{1, 2, 3, 4, 5, 9});
    const histogram between = *histogram_of(whole.view(), edge_bins{edges});
    CHECK(between.bucket_limits == edges);
    CHECK(between.buckets == counts{0, 1, 0, 2, 3});

    const owned_tensor close(dtype::float64, std::vector<double>{0.1, 0.2, 0.30000000000000004, 0.7, 0.6, 0.9});
    CHECK(histogram_of(close.view(), equal_bins{7})->buckets == counts{0, 2, 1, 0, 0, 1, 1, 1});
}

TEST_CASE("histogram_of: floats of every type, kind and length, as a search has them") {
    for (const auto& type : reduce_test::float_types) {
        for (const auto which : reduce_test::kinds) {
            for (const std::size_t count : {0U, 1U, 2U, 17U, 70U, 2049U, 8193U, 20'001U}) {
                const std::vector<double> values = reduce_test::numbers(which, count, type.range);
                check_default(reduce_test::float_tensor(type.type, values, count % 3).view(), values);
            }
        }
    }
}

TEST_CASE("histogram_of: integers and booleans") {
    check_integers<std::int8_t>(dtype::int8);
    check_integers<std::uint8_t>(dtype::uint8);
    check_integers<std::int16_t>(dtype::int16);
    check_integers<std::uint16_t>(dtype::uint16);
    check_integers<std::int32_t>(dtype::int32);
    check_integers<std::uint32_t>(dtype::uint32);
    const owned_tensor truths(dtype::boolean, std::vector<std::uint8_t>{0, 1, 9, 0});
    const histogram found = *histogram_of(truths.view(), equal_bins{2});
    CHECK(found.buckets == counts{0, 2, 2});
    CHECK(found.sum == 2);
}

TEST_CASE("histogram_of: 64-bit integers are binned as the doubles next to them") {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        const auto values = reduce_test::integers<std::uint64_t>(3000, which);
        check_default(owned_tensor(dtype::uint64, values).view(), {values.begin(), values.end()});
    }
}

TEST_CASE("histogram_of: both kernels, and a plain loop, have the same sums") {
    for (const auto& type : reduce_test::float_types) {
        const std::vector<double> values = reduce_test::numbers(reduce_test::kind::near_mean, 50'000, type.range);
        const owned_tensor tensor = reduce_test::float_tensor(type.type, values);
        const histogram scalar = *histogram_of(tensor.view());
        const histogram simd = *histogram_of(tensor.view(), default_bins{}, {}, simd_kernel<>{});
        CHECK(scalar.sum == simd.sum);
        CHECK(scalar.sum_squares == simd.sum_squares);
        CHECK(scalar.buckets == simd.buckets);
        CHECK(scalar.sum == doctest::Approx(std::accumulate(values.begin(), values.end(), 0.0)).epsilon(1e-12));
        CHECK(scalar.sum_squares ==
              doctest::Approx(std::inner_product(values.begin(), values.end(), values.begin(), 0.0)).epsilon(1e-12));
    }
}

TEST_CASE("histogram_of: the outermost edges are inside, what is beyond them is counted apart") {
    const double beyond = std::nextafter(last_edge, inf);
    const owned_tensor tensor(dtype::float64,
                              std::vector<double>{last_edge, -last_edge, last_edge, beyond, -beyond, 1e300, inf, -inf});
    const histogram found = *histogram_of(tensor.view(), default_bins{}, {.trim = false});
    CHECK(found.buckets.back() == 2);
    CHECK(found.buckets[1] == 1);
    CHECK(found.below == 2);
    CHECK(found.above == 3);
    CHECK(found.max == inf);
    CHECK(found.min == -inf);
    CHECK(smdebug::is_nan(found.sum));
    CHECK(found.sum_squares == inf);

    const histogram open = *histogram_of(tensor.view(), default_bins{.open_ends = true}, {.trim = false});
    REQUIRE(open.buckets.size() == 1551);
    CHECK(open.bucket_limits.front() == -std::numeric_limits<double>::max());
    CHECK(open.bucket_limits.back() == std::numeric_limits<double>::max());
    CHECK(open.buckets[1] == 1);     // -beyond
    CHECK(open.buckets[2] == 1);     // the edge
    CHECK(open.buckets[1549] == 0);  // up to the last inner edge
    CHECK(open.buckets[1550] == 4);
    CHECK(open.below == 1);
    CHECK(open.above == 1);
    CHECK(total(open) == 8);
}

TEST_CASE("histogram_of: NaN of both signs are in no bin") {
    for (const auto type : {dtype::float32, dtype::float64}) {
        std::vector<double> values(9000, 1.0);
        values[3] = reduce::detail::not_a_number;
        values[4] = -reduce::detail::not_a_number;
        values[8999] = -inf;
        const owned_tensor tensor = reduce_test::float_tensor(type, values);
        const histogram found = *histogram_of(tensor.view());
        CHECK(found.nan == 2);
        CHECK(found.below == 1);
        CHECK(found.above == 0);
        CHECK(found.num == 9000);
        CHECK(found.buckets == counts{0, 8997});
        CHECK(smdebug::is_nan(found.min));
        CHECK(smdebug::is_nan(found.max));
        CHECK(smdebug::is_nan(found.sum));
        CHECK(smdebug::is_nan(found.sum_squares));
        CHECK(histogram_of(tensor.view(), equal_bins{3}).code() == status::unsupported);
    }
    std::vector<std::uint64_t> bits{0xFFF0000000000001U, 0x7FF0000000000001U, 0xFFF0000000000000U};
    const histogram least = *histogram_of(owned_tensor(dtype::float64, bits).view());
    CHECK(least.nan == 2);
    CHECK(least.below == 1);
    CHECK(least.above == 0);
    CHECK(least.buckets.empty());
    CHECK(least.bucket_limits.empty());
    const std::vector<double> edges{0, 1, 2};
    const owned_tensor mixed(dtype::float64, std::vector<double>{reduce::detail::not_a_number, 1, 1, inf, -2});
    const histogram given = *histogram_of(mixed.view(), edge_bins{edges});
    CHECK(given.bucket_limits == std::vector<double>{1, 2});  // as numpy and the package have it
    CHECK(given.buckets == counts{0, 2});
    CHECK(given.nan == 1);
    CHECK(given.below == 1);
    CHECK(given.above == 1);
}

TEST_CASE("histogram_of: magnitudes, complex tensors by them only") {
    const owned_tensor tensor(dtype::float32, std::vector<float>{-1, 1, -HUGE_VALF, HUGE_VALF});
    const histogram found = *histogram_of(tensor.view(), default_bins{}, {.abs = true});
    CHECK(found.buckets == counts{0, 2});
    CHECK(found.min == 1);
    CHECK(found.above == 2);
    CHECK(found.below == 0);
    const histogram open = *histogram_of(tensor.view(), default_bins{.open_ends = true}, {.abs = true});
    CHECK(open.above == 2);
    CHECK(open.below == 0);
    const owned_tensor complex(dtype::complex64, std::vector<std::complex<float>>{{3, 4}, {0, -5}});
    CHECK(histogram_of(complex.view()).code() == status::unsupported);
    CHECK(histogram_of(complex.view(), equal_bins{2}).code() == status::unsupported);
    const histogram sizes = *histogram_of(complex.view(), default_bins{}, {.abs = true});
    CHECK(sizes.buckets == counts{0, 2});
    CHECK(sizes.sum == 10);
    CHECK(sizes.sum_squares == doctest::Approx(50).epsilon(1e-15));
}

TEST_CASE("histogram_of: an empty tensor has no elements in any bin") {
    const owned_tensor empty(dtype::float32, std::vector<float>{});
    const histogram found = *histogram_of(empty.view());
    CHECK(found.num == 0);
    CHECK(found.buckets.empty());
    CHECK(found.sum == 0);
    CHECK(smdebug::is_nan(found.min));
    CHECK(histogram_of(empty.view(), equal_bins{2}, {.trim = false})->bucket_limits == std::vector<double>{0, 0.5, 1});
}

TEST_CASE("histogram_of: sums that overflow are infinite, a range that does is refused") {
    const double most = std::numeric_limits<double>::max();
    const owned_tensor tensor(dtype::float64, std::vector<double>(10'000, most));
    const histogram found = *histogram_of(tensor.view(), default_bins{.open_ends = true});
    CHECK(found.sum == inf);
    CHECK(found.sum_squares == inf);
    CHECK(found.buckets.back() == 10'000);
    const owned_tensor wide(dtype::float64, std::vector<double>{-most, most});
    CHECK(histogram_of(wide.view(), equal_bins{2}).code() == status::unsupported);
    const owned_tensor tiny(dtype::float64, std::vector<double>{0, 5e-324});
    CHECK(total(*histogram_of(tiny.view(), equal_bins{1})) == 2);
}

TEST_CASE("histogram_of: text and bins that are none are refused") {
    const std::vector<std::string_view> words{"a", "b"};
    const std::size_t shape[] = {2};
    const tensor_view text{dtype::string, shape, {}, words};
    CHECK(histogram_of(text).code() == status::unsupported);
    CHECK(histogram_of(text, equal_bins{2}).code() == status::unsupported);
    CHECK(histogram_of(tensor_view{}).code() == status::unsupported);
    const owned_tensor tensor(dtype::float32, std::vector<float>{1});
    CHECK(histogram_of(tensor.view(), equal_bins{0}).code() == status::unsupported);
    for (const std::vector<double>& edges :
         {std::vector<double>{}, {1}, {2, 1}, {0, reduce::detail::not_a_number}, {reduce::detail::not_a_number, 0}}) {
        CHECK(histogram_of(tensor.view(), edge_bins{edges}).code() == status::unsupported);
    }
}

TEST_CASE("histogram_of: numbers as a hook saves them, in each kind of bins, by any kernel") {
    const std::vector<float> list{1, 2, 2, 4};
    const std::vector<double> edges{0, 2, 5};
    const owned_tensor same = reduce_test::float_tensor(dtype::float32, {1, 2, 2, 4});
    CHECK(histogram_of(list)->buckets == histogram_of(same.view())->buckets);
    CHECK(histogram_of(list, {.open_ends = true})->num == 4);
    CHECK(histogram_of(std::span{list}, equal_bins{3})->buckets == counts{0, 1, 2, 1});
    CHECK(histogram_of(std::array<std::int64_t, 4>{1, 2, 2, 4}, edge_bins{edges})->buckets == counts{0, 1, 3});
    CHECK(histogram_of(list, equal_bins{3}, {}, simd_kernel<>{})->buckets == counts{0, 1, 2, 1});
    CHECK(histogram_of(std::vector<bool>{true, false}, equal_bins{2})->buckets == counts{0, 1, 1});
}
