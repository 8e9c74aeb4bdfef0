#include <smdebug/report/run_series.hpp>

#include "support/test.hpp"

using namespace smdebug;
using report::detail::distribution;
using report::detail::distribution_of;
using report::detail::elements_looked_at;

namespace {

template <class T>
auto of(const std::vector<T>& values, dtype type) {
    std::vector<std::byte> buffer;
    const std::vector<std::size_t> shape{values.size()};
    return distribution_of({.type = type, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}},
                           buffer);
}

}  // namespace

TEST_CASE("distribution_of: quartiles and bins") {
    std::vector<float> values;
    for (int i = 0; i <= 320; ++i) {
        values.push_back(static_cast<float>(i));
    }
    const auto made = of(values, dtype::float32);
    REQUIRE(made);
    CHECK(made->quartiles[0] == 80);
    CHECK(made->quartiles[1] == 160);
    CHECK(made->quartiles[2] == 240);
    CHECK(made->low == 0);
    CHECK(made->high == 320);
    CHECK(made->counts[31] == 255);  // 11 of them
    CHECK(made->counts[0] == 232);   // 10, rounded up
}

TEST_CASE("distribution_of: a single element far away is to be seen, and equal ones have a bin") {
    std::vector<float> values(4000, 1);
    values.back() = 33;
    const auto made = of(values, dtype::float32);
    REQUIRE(made);
    CHECK(made->counts[0] == 255);
    CHECK(made->counts[31] == 1);
    CHECK(made->counts[15] == 0);
    const auto same = of(std::vector<double>(10, 5.0), dtype::float64);
    REQUIRE(same);
    CHECK(same->low == 4.5F);
    CHECK(same->high == 5.5F);
    CHECK(same->quartiles[1] == 5);
}

TEST_CASE("distribution_of: of a large tensor some elements, first and last among them, at any alignment") {
    std::vector<std::int32_t> values;
    for (int i = 0; i < 100'000; ++i) {
        values.push_back(i);
    }
    const auto made = of(values, dtype::int32);
    REQUIRE(made);
    CHECK(made->low == 0);
    CHECK(made->high == 99'999);
    CHECK(made->quartiles[1] == doctest::Approx(50'000).epsilon(0.01));
    std::vector<std::byte> moved(values.size() * sizeof(std::int32_t) + 1);
    const auto bytes = std::as_bytes(std::span{values});
    std::copy(bytes.begin(), bytes.end(), moved.begin() + 1);
    std::vector<std::byte> buffer;
    const auto odd = distribution_of(
        {.type = dtype::int32, .shape = {}, .bytes = std::span<const std::byte>{moved}.subspan(1), .strings = {}},
        buffer);
    REQUIRE(odd);
    CHECK(odd->counts == made->counts);
    CHECK(buffer.size() == elements_looked_at * sizeof(std::int32_t));
}

TEST_CASE("distribution_of: numbers that no float holds, or only with few digits") {
    for (const double size : {1e300, 1e39, 1e-39, 1e-310}) {
        CAPTURE(size);
        const auto made = of(std::vector<double>{-size, 0, size}, dtype::float64);
        REQUIRE(made);
        CHECK(made->low == -size);
        CHECK(made->high == size);
        CHECK(made->quartiles[1] == 0);
    }
}

TEST_CASE("distribution_of: none where there is none to be shown") {
    CHECK_FALSE(of(std::vector<float>{1}, dtype::float32));
    CHECK_FALSE(of(std::vector<float>{}, dtype::float32));
    CHECK_FALSE(of(std::vector<float>{1, 2, std::numeric_limits<float>::quiet_NaN()}, dtype::float32));
    CHECK_FALSE(of(std::vector<float>{1, 2, std::numeric_limits<float>::infinity()}, dtype::float32));
    CHECK_FALSE(of(std::vector<float>{1, 2, 3, 4}, dtype::complex64));
    CHECK_FALSE(of(std::vector<double>{-1.7e308, 1.7e308}, dtype::float64));
    CHECK(of(std::vector<std::uint8_t>{0, 1, 1}, dtype::boolean));
    std::vector<std::byte> buffer;
    CHECK_FALSE(distribution_of({.type = dtype::string, .shape = {}, .bytes = {}, .strings = {}}, buffer));
}
