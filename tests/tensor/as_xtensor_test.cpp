#include <smdebug/xtensor.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

#include "../support/xtensor_parts.hpp"
#include "support/thrown_code.hpp"

using smdebug::as_xtensor;
using smdebug::dtype;
using smdebug::dtype_of_v;
using smdebug::status;
using smdebug::tensor_array;
using smdebug::tensor_value;

static_assert(std::is_copy_constructible_v<tensor_array<float>>);
static_assert(std::is_same_v<tensor_array<bool>::value_type, bool>);

namespace {

tensor_value two_by_three() {
    static constexpr std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    return tensor_value::copy_of<float>({2, 3}, values);
}

template <class T>
tensor_value zero_and_one() {
    const std::array<T, 2> values{static_cast<T>(0), static_cast<T>(1)};
    return tensor_value::copy_of<T>({1, 2}, values);
}

}  // namespace

TEST_CASE("as_xtensor: elements in C order, in place") {
    const tensor_value tensor = two_by_three();
    const auto array = as_xtensor<float>(tensor);
    CHECK(array.dimension() == 2);
    CHECK(array.shape(0) == 2);
    CHECK(array.shape(1) == 3);
    CHECK(array(0, 2) == 3);
    CHECK(array(1, 0) == 4);
    CHECK(array.storage().data() == tensor.elements<float>().data());
    CHECK(xt::sum(array)() == 21);
    CHECK(xt::amax(array * 2.0F)() == 12);
}

TEST_CASE("as_xtensor: elements cannot be written") {
    auto array = as_xtensor<float>(two_by_three());
    static_assert(std::is_same_v<decltype(array(0, 0)), const float&>);
    static_assert(std::is_same_v<decltype(*array.begin()), const float&>);
}

TEST_CASE("as_xtensor: keeps the elements alive") {
    const auto array = as_xtensor<float>(two_by_three());
    const auto copy = array;
    CHECK(copy(1, 2) == 6);
    CHECK(array(0, 0) == 1);
}

TEST_CASE("as_xtensor: 0-d and empty tensors") {
    const std::array<double, 1> one{2.5};
    const auto scalar = as_xtensor<double>(tensor_value::copy_of<double>({}, one));
    CHECK(scalar.dimension() == 0);
    CHECK(scalar.size() == 1);
    CHECK(scalar() == 2.5);
    CHECK(xt::sum(scalar)() == 2.5);

    const auto empty = as_xtensor<double>(tensor_value::copy_of<double>({3, 0, 2}, {}));
    CHECK(empty.dimension() == 3);
    CHECK(empty.size() == 0);
    CHECK(empty.begin() == empty.end());
    CHECK(xt::sum(empty)() == 0);
}

TEST_CASE("as_xtensor: every element type") {
    for (std::uint64_t code = 0; code < 32; ++code) {
        const dtype type = smdebug::dtype_from_code(code);
        if (!smdebug::is_numeric(type)) {
            continue;
        }
        smdebug::visit_dtype(type, []<class T>() {
            const auto array = as_xtensor<T>(zero_and_one<T>());
            CHECK(array.size() == 2);
            CHECK(array(0, 0) == static_cast<T>(0));
            CHECK(array(0, 1) == static_cast<T>(1));
        });
    }
}

TEST_CASE("as_xtensor: halves widen in expressions") {
    const auto array = as_xtensor<smdebug::float16>(zero_and_one<smdebug::float16>());
    const xt::xarray<float> wide = xt::cast<float>(array) * 2.0F;
    CHECK(wide(0, 1) == 2.0F);
}

TEST_CASE("visit: calls with the type that the dtype names") {
    for (std::uint64_t code = 0; code < 32; ++code) {
        const dtype type = smdebug::dtype_from_code(code);
        if (!smdebug::is_numeric(type)) {
            continue;
        }
        const tensor_value tensor = smdebug::visit_dtype(type, []<class T>() { return zero_and_one<T>(); });
        const auto seen = smdebug::visit(
            tensor, [](const auto& array) { return dtype_of_v<typename std::decay_t<decltype(array)>::value_type>; });
        REQUIRE(seen.ok());
        CHECK(*seen == type);
    }
}

TEST_CASE("visit: returns only a status where the callable returns nothing") {
    std::size_t size = 0;
    const auto count = [&](const auto& array) { size = array.size(); };
    CHECK(smdebug::visit(two_by_three(), count) == status::ok);
    CHECK(size == 6);
    const std::array<std::string_view, 2> texts{"a", "b"};
    CHECK(smdebug::visit(tensor_value::of_strings({2}, texts), count) == status::unsupported);
    CHECK(smdebug::visit(tensor_value{}, count) == status::unsupported);
    CHECK(size == 6);
}

TEST_CASE("visit: strings have a callable of their own") {
    const auto sizes = [](const auto& array) { return array.size(); };
    const auto characters = [](std::span<const std::string> strings) {
        std::size_t sum = 0;
        for (const std::string& text : strings) {
            sum += text.size();
        }
        return sum;
    };
    const std::array<std::string_view, 2> texts{"abc", "de"};
    CHECK(smdebug::visit(tensor_value::of_strings({2}, texts), sizes, characters) == 5);
    CHECK(smdebug::visit(two_by_three(), sizes, characters) == 6);
    CHECK(smdebug::visit(tensor_value{}, sizes, characters) == 0);
    CHECK(smdebug::visit(tensor_value::of_strings({2}, texts), sizes).code() == status::unsupported);
}

TEST_CASE("as_xtensor: another type than the dtype's is refused") {
    CHECK(smdebug_test::thrown_code([&] {
              static_cast<void>(smdebug::as_xtensor<std::int32_t>(tensor_value::copy_of<float>({1}, std::array{1.0F})));
          }) == smdebug::error_code::wrong_dtype);
}
