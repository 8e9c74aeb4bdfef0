#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/reduce_tensor.hpp>

#include <reduce/answers.hpp>
#include <reduce/corpus.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;
using namespace smdebug::reduce;

namespace {

struct tag {};

constexpr reduction_set both(reduction what) { return reduction_set{what, false} | reduction_set{what, true}; }

totals of(double squares) {
    totals all;
    all.count = 1;
    all.magnitudes = {1, 0};
    all.squares = {squares, 0};
    all.min = 1;
    all.max = 1;
    return all;
}

}  // namespace

static_assert(demand_of<tag>(reduction::mean).sweep == parts{});
static_assert(demand_of<tag>(reduction_set{reduction::mean} | reduction_set{reduction::sum}).sweep == parts{});
static_assert(demand_of<tag>({reduction::mean, true}).sweep == parts{.norms = true});
static_assert(demand_of<tag>(reduction_set::counts()).sweep == parts{.extrema = true, .smallest = true});
static_assert(demand_of<tag>(reduction::max).sweep == parts{.extrema = true});
static_assert(demand_of<tag>({reduction::max, true}).sweep == parts{.extrema = true});
static_assert(demand_of<tag>({reduction::min, true}).sweep.smallest);
static_assert(!demand_of<tag>(both(reduction::l2)).spread);
static_assert(demand_of<tag>(both(reduction::std)).spread && demand_of<tag>(both(reduction::std)).sweep.norms);
static_assert(demand_of<tag>({reduction::prod, true}).sweep ==
              parts{.extrema = true, .smallest = true, .product = true});

TEST_CASE("needed_scale: 1 for everything but squares near the ends of the range") {
    constexpr required_statistics more{.sweep = {.norms = true}, .spread = true};
    CHECK(needed_scale<tag>(of(1), more) == 1);
    CHECK(needed_scale<tag>(of(0x1p890), more) == 1);
    CHECK(needed_scale<tag>(of(0x1p901), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(infinity), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(not_a_number), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(0x1p-901), more) == 0x1p600);
    CHECK(needed_scale<tag>(of(0), more) == 0x1p600);
    totals zeros = of(0);
    zeros.magnitudes = {0, 0};
    CHECK(needed_scale<tag>(zeros, more) == 1);
    totals irregular = of(not_a_number);
    irregular.kinds.nan = 1;
    CHECK(needed_scale<tag>(irregular, more) == 1);
    CHECK(needed_scale<tag>(of(0), {}) == 1);
}

TEST_CASE("reduce_tensor: sums of doubles that overflow on the way come out right") {
    const double most = std::numeric_limits<double>::max();
    const std::vector<double> values{most, most, -most, -most, 3};
    const reduce_test::owned_tensor tensor(dtype::float64, values);
    for (const auto wanted : {reduction_set::all(), reduction_set{reduction::mean}}) {
        const auto found = *reduce_tensor<scalar_sweeps>(tensor.view(), wanted);
        CHECK(std::abs(found(reduction::sum)) <= 0x1p-50 * 4 * 0x1p1000 * 0x1p24);
        CHECK(smdebug::is_finite(found(reduction::mean)));
    }
    const reduce_test::owned_tensor two(dtype::float64, std::vector<double>{most, most});
    const auto found = *reduce_tensor<scalar_sweeps>(two.view(), reduction_set::all());
    CHECK(found(reduction::mean) == most);
    CHECK(found(reduction::sum) == infinity);
    CHECK(found(reduction::max) == most);
    CHECK(found(reduction::variance) == 0);
    const reduce_test::owned_tensor tiny(dtype::float64, std::vector<double>{3e-320, -4e-320});
    CHECK(reduce_tensor<scalar_sweeps>(tiny.view(), reduction::l2)->value[reduction_key{reduction::l2}.index()] ==
          5e-320);
}

namespace {

/// A value has the same bits whatever else is computed: alone, among all, in a set known at compile time.
template <class Sweeps, std::size_t... Index>
void check_alone(const tensor_view& tensor, std::index_sequence<Index...>) {
    const auto all = *reduce_tensor<Sweeps>(tensor, reduction_set::all());
    const auto same = [&](const reduction_values& found, reduction_key key) {
        CAPTURE(key.name());
        CHECK(found.computed.contains(key) == all.computed.contains(key));
        const auto bits = [&](const reduction_values& of) {
            return std::bit_cast<std::uint64_t>(of(key.what, key.abs));
        };
        CHECK(((smdebug::is_nan(found(key.what, key.abs)) && smdebug::is_nan(all(key.what, key.abs))) ||
               bits(found) == bits(all)));
    };
    (same(*reduce_tensor<Sweeps>(tensor, reduction_key::from_index(Index)), reduction_key::from_index(Index)), ...);
    (same(*reduce_tensor<Sweeps, reduction_key::from_index(Index)>(tensor), reduction_key::from_index(Index)), ...);
    const auto counted = *reduce_tensor<Sweeps, reduction_set::counts()>(tensor);
    CHECK(counted.zeros == all.zeros);
    CHECK(counted.nan == all.nan);
    CHECK(counted.pos_inf == all.pos_inf);
    CHECK(counted.neg_inf == all.neg_inf);
}

}  // namespace

TEST_CASE("reduce_tensor: each value alone is the value among all") {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{37}, std::size_t{2050}, std::size_t{5000}}) {
        for (const double scale : {1.0, 1e-160, 1e180}) {
            for (const double special : {1.0, 0.0, infinity, not_a_number}) {
                std::vector<double> values(count);
                for (std::size_t i = 0; i < count; ++i) {
                    values[i] = (static_cast<double>(i * 7919 % 1009) - 400) * scale;
                }
                if (count > 30) {
                    values[30] = special;
                }
                CAPTURE(count);
                CAPTURE(scale);
                CAPTURE(special);
                const reduce_test::owned_tensor doubles(dtype::float64, values);
                check_alone<scalar_sweeps>(doubles.view(), std::make_index_sequence<2 * reduction_count>{});
                const std::vector<float> singles(values.begin(), values.end());
                const reduce_test::owned_tensor floats(dtype::float32, singles);
                check_alone<simd_sweeps<xsimd::default_arch>>(floats.view(),
                                                              std::make_index_sequence<2 * reduction_count>{});
            }
        }
    }
}

TEST_CASE("reduce_tensor: a watch sees the bytes in pieces, each once, from the first on, and changes nothing") {
    for (const dtype type :
         {dtype::float32, dtype::float64, dtype::float16, dtype::int8, dtype::int64, dtype::complex128}) {
        for (const std::size_t count : {std::size_t{0}, std::size_t{2}, std::size_t{2048}, std::size_t{20'000}}) {
            std::vector<std::uint8_t> bytes(count * size_of(type) + (size_of(type) > 1 ? 1 : 0));
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                bytes[i] = static_cast<std::uint8_t>(i * 7919 % 61);
            }
            const reduce_test::owned_tensor tensor(type, bytes);
            const std::byte* next = tensor.view().bytes.data();
            std::size_t pieces = 0;
            const auto note = [&](byte_view piece) {
                CHECK(piece.data() == next);
                CHECK(!piece.empty());
                CHECK(piece.size() <= (std::size_t{32} << 10U));
                next += piece.size();
                ++pieces;
            };
            const byte_watch watch{note};
            const auto seen = *reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all(), &watch);
            const auto unseen = *reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all());
            CHECK(next == tensor.view().bytes.data() + count * size_of(type));
            CHECK((pieces > 1) == (count == 20'000));
            CHECK(std::memcmp(seen.value.data(), unseen.value.data(), sizeof(seen.value)) == 0);
        }
    }
}

TEST_CASE("reduce_tensor: bytes that are walked over twice are shown once") {
    const std::vector<double> huge(10'000, 1e200);
    const reduce_test::owned_tensor tensor(dtype::float64, huge);
    std::size_t shown = 0;
    const auto note = [&](byte_view piece) { shown += piece.size(); };
    const byte_watch watch{note};
    const auto found = *reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all(), &watch);
    CHECK(found(reduction::l2) == doctest::Approx(1e202));
    CHECK(shown == huge.size() * sizeof(double));
}

namespace {

/// Gives some bytes at a time, always in the same place, and what was there before is gone.
struct window {
    byte_view all;
    std::size_t most;
    std::size_t asked = 0;
    std::vector<std::byte> bytes = {};

    byte_view operator()(std::size_t begin, std::size_t least) {
        ++asked;
        const std::size_t size = std::min(std::max(least, most), all.size() - std::min(begin, all.size()));
        bytes.assign(bytes.size(), std::byte{0xFF});
        bytes.resize(size);
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(std::min(begin, all.size())), size, bytes.begin());
        return bytes;
    }
};

template <class Sweeps>
void check_fed(const tensor_view& tensor) {
    for (const reduction_set wanted : {reduction_set::all(), reduction_set{reduction::mean}}) {
        const auto whole = reduce_tensor<Sweeps>(tensor, wanted);
        for (const std::size_t most : {std::size_t{1}, std::size_t{10'001}, std::size_t{100'000}}) {
            window bytes{tensor.bytes, most};
            const auto fed = reduce_fed_tensor<Sweeps>({tensor.type, tensor.bytes.size(), bytes}, wanted);
            CAPTURE(most);
            REQUIRE(fed.ok());
            CHECK(reduce_test::same_bits(*fed, *whole));
        }
    }
}

}  // namespace

TEST_CASE("reduce_fed_tensor: bytes that are fed in windows of any size have the bits of all of them together") {
    for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::int8, dtype::int64, dtype::uint16,
                             dtype::complex64, dtype::complex128}) {
        for (const std::size_t count : {0U, 1U, 2U, 2047U, 2048U, 2049U, 9000U}) {
            std::vector<std::uint8_t> bytes(count * size_of(type));
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                bytes[i] = static_cast<std::uint8_t>(i * 7919 % 61);
            }
            const reduce_test::owned_tensor tensor(type, bytes);
            CAPTURE(name_of(type));
            CAPTURE(count);
            check_fed<scalar_sweeps>(tensor.view());
            check_fed<simd_sweeps<xsimd::default_arch>>(tensor.view());
        }
    }
}

TEST_CASE("reduce_fed_tensor: what is walked over twice is fed twice") {
    for (const double number : {1e200, 1e-200}) {
        const std::vector<double> values(10'000, number);
        const reduce_test::owned_tensor tensor(dtype::float64, values);
        check_fed<scalar_sweeps>(tensor.view());
        window bytes{tensor.view().bytes, 20'000};
        CHECK(reduce_fed_tensor<scalar_sweeps>({dtype::float64, 80'000, bytes}, reduction::l2).ok());
        CHECK(bytes.asked >= 8);
    }
}

TEST_CASE("reduce_fed_tensor: bytes that end too early are no answer, and neither are those of texts") {
    const std::vector<float> values(10'000, 1.0F);
    const reduce_test::owned_tensor tensor(dtype::float32, values);
    for (const std::size_t there : {0U, 3U, 8192U, 20'000U, 39'999U}) {
        window bytes{tensor.view().bytes.first(there), 9000};
        CHECK(reduce_fed_tensor<scalar_sweeps>({dtype::float32, 40'000, bytes}, reduction::mean).code() ==
              status::truncated);
    }
    window none{{}, 9000};
    CHECK(reduce_fed_tensor<scalar_sweeps>({dtype::float32, 4, none}, reduction::mean).code() == status::truncated);
    CHECK(reduce_fed_tensor<scalar_sweeps>({dtype::string, 4, none}, reduction::mean).code() == status::unsupported);
}

TEST_CASE("reduce_tensor: bytes beyond the last whole element do not count") {
    const std::vector<std::uint8_t> bytes{0, 0, 0x80, 0x3F, 0, 0, 0};
    const reduce_test::owned_tensor tensor(dtype::float32, bytes);
    const auto found = *reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all());
    CHECK(found.count == 1);
    CHECK(found(reduction::sum) == 1);
}

TEST_CASE("complex_kinds: either part decides") {
    const std::vector<double> parts{0, 0, infinity, 1, 1, -infinity, not_a_number, 1, infinity, not_a_number, 1, 0};
    const auto kinds = complex_kinds<tag>(std::as_bytes(std::span{parts}).data(), parts.size() / 2);
    CHECK(kinds.zeros == 1);
    CHECK(kinds.pos_inf == 2);
    CHECK(kinds.neg_inf == 0);
    CHECK(kinds.nan == 2);
}

namespace {

/// What double arithmetic, element after element, makes of the values of an 8-bit float tensor.  Their plain sums are
/// exact in a double.
struct by_doubles {
    std::uint64_t nan = 0;
    std::uint64_t pos_inf = 0;
    std::uint64_t neg_inf = 0;
    std::uint64_t zeros = 0;
    double sum = 0;
    double magnitudes = 0;
    double squares = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
};

template <class Float8>
by_doubles plainly(const std::vector<std::uint8_t>& codes) {
    by_doubles all;
    for (const std::uint8_t code : codes) {
        const double x = static_cast<double>(static_cast<float>(Float8::from_bits(code)));
        all.nan += x != x ? 1U : 0U;
        all.pos_inf += x == infinity ? 1U : 0U;
        all.neg_inf += x == -infinity ? 1U : 0U;
        all.zeros += x == 0 ? 1U : 0U;
        all.sum += x;
        all.magnitudes += std::fabs(x);
        all.squares += x * x;
        all.min = std::min(all.min, x);
        all.max = std::max(all.max, x);
    }
    return all;
}

template <class Float8>
void check_float8(const std::vector<std::uint8_t>& codes) {
    const reduce_test::owned_tensor tensor(dtype_of_v<Float8>, codes, 1);
    const auto found = reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all());
    REQUIRE(found.ok());
    const by_doubles wanted = plainly<Float8>(codes);
    CHECK(found->count == codes.size());
    CHECK(found->nan == wanted.nan);
    CHECK(found->pos_inf == wanted.pos_inf);
    CHECK(found->neg_inf == wanted.neg_inf);
    CHECK(found->zeros == wanted.zeros);
    const auto agrees = [](double answer, double expected, double within) {
        return answer == expected || (smdebug::is_nan(answer) && smdebug::is_nan(expected)) ||
               std::fabs(answer - expected) <= within * std::fabs(expected);
    };
    CHECK(agrees((*found)(reduction::sum), wanted.sum, 0));
    CHECK(agrees((*found)(reduction::l1), wanted.magnitudes, 0));
    CHECK(agrees((*found)(reduction::l2), std::sqrt(wanted.squares), 1e-14));
    CHECK(agrees((*found)(reduction::mean), wanted.sum / static_cast<double>(codes.size()), 1e-14));
    if (wanted.nan == 0) {
        CHECK((*found)(reduction::min) == wanted.min);
        CHECK((*found)(reduction::max) == wanted.max);
    }
    // And every bit of what the same values give as float32.
    std::vector<float> wide;
    for (const std::uint8_t code : codes) {
        wide.push_back(Float8::from_bits(code));
    }
    const reduce_test::owned_tensor floats(dtype::float32, wide, 1);
    const auto by_floats = reduce_tensor<scalar_sweeps>(floats.view(), reduction_set::all());
    for (std::size_t i = 0; i < found->value.size(); ++i) {
        const double a = found->value[i];
        const double b = by_floats->value[i];
        CHECK((smdebug::is_nan(a) ? smdebug::is_nan(b) : a == b));
    }
}

}  // namespace

TEST_CASE("reduce_tensor: 8-bit floats, as double arithmetic and the float32 walk have them") {
    reduce_test::random_bits random(88);
    for (const std::size_t length : {2U, 15U, 256U, 2048U, 5003U}) {
        for (const unsigned largest : {0x77U, 0x7BU, 0x7CU, 0x7FU}) {
            CAPTURE(length);
            CAPTURE(largest);
            std::vector<std::uint8_t> codes(length);
            for (std::size_t i = 0; i < length; ++i) {
                const std::uint64_t bits = random();
                codes[i] = static_cast<std::uint8_t>(((bits >> 8) % (largest + 1)) | ((bits & 1U) << 7U));
            }
            check_float8<float8_e4m3fn>(codes);
            check_float8<float8_e5m2>(codes);
        }
    }
    std::vector<std::uint8_t> every(256);
    for (std::size_t i = 0; i < every.size(); ++i) {
        every[i] = static_cast<std::uint8_t>(i);
    }
    check_float8<float8_e4m3fn>(every);
    check_float8<float8_e5m2>(every);
}
