#include <smdebug/hook/save_arguments.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd = smdebug;
using namespace std::literals;

namespace {

std::vector<std::size_t> extents_of(smd::extents_view extents) { return {extents.get().begin(), extents.get().end()}; }

struct point {
    float x;
};

static_assert(smd::element_range<std::vector<float>> && smd::element_range<std::span<const std::int8_t>> &&
              smd::element_range<std::array<std::complex<double>, 3>> && smd::element_range<double[4]> &&
              smd::element_range<std::vector<long long>>);
// Near misses: no elements of a dtype, not contiguous, not elements but bits.
static_assert(!smd::element_range<std::vector<long double>> && !smd::element_range<std::vector<point>> &&
              !smd::element_range<std::vector<bool>> && !smd::element_range<float> &&
              !smd::element_range<std::vector<char>>);

}  // namespace

TEST_CASE("extents_view: takes what a training loop has") {
    CHECK(extents_of({2, 3}) == std::vector<std::size_t>{2, 3});
    CHECK(extents_of({}).empty());
    CHECK(extents_of(smd::shape_type{4}) == std::vector<std::size_t>{4});
    const std::vector<std::int64_t> signed_ones{5, 6};  // as frameworks have them
    CHECK(extents_of(signed_ones) == std::vector<std::size_t>{5, 6});
    CHECK(extents_of(std::vector<int>{2, 3}) == std::vector<std::size_t>{2, 3});
    CHECK(extents_of(std::vector<unsigned short>(9, 2)) == std::vector<std::size_t>(9, 2));
    const int rows = 4;
    CHECK(extents_of({rows, rows}) == std::vector<std::size_t>{4, 4});
    const std::array<std::size_t, 1> fixed{7};
    CHECK(extents_of(std::span{fixed}) == std::vector<std::size_t>{7});
}

TEST_CASE("view_of: borrows elements and shape, with the dtype of the element type") {
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    const std::array<std::size_t, 2> shape{2, 3};
    const smd::tensor_view view = smd::view_of(values, shape, "x");
    CHECK(view.type == smd::dtype::float64);
    CHECK(view.count() == 6);
    CHECK(static_cast<const void*>(view.bytes.data()) == values.data());
    CHECK(view.shape.data() == shape.data());
    const bool truth[2] = {true, false};
    const std::array<std::size_t, 1> two{2};
    CHECK(smd::view_of(truth, two, "b").type == smd::dtype::boolean);
    const std::vector<float> none;
    const std::array<std::size_t, 2> empty{0, 9};
    CHECK(smd::view_of(none, empty, "e").count() == 0);
}

TEST_CASE("view_of: elements that the shape does not fit are a value_error that says both") {
    const std::vector<float> values{1, 2, 3};
    const std::vector<float> none;
    const std::array<std::size_t, 2> square{2, 2};
    try {
        static_cast<void>(smd::view_of(values, square, "layer.weight"));
        FAIL("accepted");
    } catch (const smd::value_error& error) {
        CHECK(error.message() == "the tensor \"layer.weight\" has 3 elements, which the shape (2, 2) does not fit");
        CHECK(error.tensor() == "layer.weight");
    }
    const std::vector<std::int64_t> negative{-1, -3};
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(values, smd::extents_view{negative}.get(), "n")), smd::value_error);
    const std::vector<std::int64_t> hidden{0, -1};  // no elements, and an extent that no file can hold
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(none, smd::extents_view{hidden}.get(), "n")), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, smd::extents_view{hidden}.get(), {}, {}}, "n"), smd::value_error);
    // A product that overflows is no small one.
    const std::array<std::size_t, 2> huge{std::numeric_limits<std::size_t>::max(), 3};
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(values, huge, "h")), smd::value_error);
    const std::array texts{"a"sv, "b"sv};
    const std::array<std::size_t, 1> two{2};
    CHECK(smd::view_of(std::span<const std::string_view>{texts}, two, "t").strings.size() == 2);
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(std::span<const std::string_view>{texts}, {}, "t")),
                    smd::value_error);
}

TEST_CASE("check: a view whose parts do not belong together is a value_error") {
    const std::array<std::size_t, 1> two{2};
    const std::array<std::byte, 9> bytes{};
    const std::array texts{"a"sv, "b"sv};
    const smd::byte_view all{bytes};
    CHECK_NOTHROW(smd::check({smd::dtype::float32, two, all.first(8), {}}, "good"));
    CHECK_NOTHROW(smd::check({smd::dtype::string, two, {}, texts}, "texts"));
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all, {}}, "a byte too many"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all.first(4), {}}, "too short"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::invalid, two, all.first(8), {}}, "no type"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::string, two, all.first(8), {}}, "bytes of strings"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all.first(8), texts}, "both"), smd::value_error);
}
