#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

#include "../support/xtensor_parts.hpp"

namespace smd = smdebug;

namespace {

template <class E>
bool borrowed(const E& expression) {
    const smd::tensor_adapter<E> view{expression, "x"};
    return static_cast<const void*>(view.view().bytes.data()) == static_cast<const void*>(expression.data());
}

template <class T, class E>
std::vector<T> elements(const E& expression) {
    const smd::tensor_adapter<E> view{expression, "x"};
    const smd::tensor_view tensor = view.view();
    CHECK(tensor.type == smd::dtype_of_v<T>);
    std::vector<T> all(tensor.count());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = smd::load_le<T>(tensor.bytes.data() + i * sizeof(T));
    }
    return all;
}

template <class E>
std::vector<std::size_t> extents(const E& expression) {
    const smd::tensor_adapter<E> view{expression, "x"};
    return {view.view().shape.begin(), view.view().shape.end()};
}

static_assert(smd::tensor_expression<xt::xarray<float>> && smd::tensor_expression<xt::xtensor<bool, 2>> &&
              smd::tensor_expression<xt::xarray<long long>>);
static_assert(!smd::tensor_expression<xt::xarray<long double>> && !smd::tensor_expression<std::vector<float>>);

}  // namespace

TEST_CASE("tensor_adapter of an expression: row-major containers are looked at where they lie") {
    const xt::xarray<float> array{{1, 2, 3}, {4, 5, 6}};
    CHECK(borrowed(array));
    CHECK(extents(array) == std::vector<std::size_t>{2, 3});
    CHECK(elements<float>(array) == std::vector<float>{1, 2, 3, 4, 5, 6});
    const xt::xtensor<double, 1> one{7, 8};
    CHECK(borrowed(one));
    const xt::xtensor_fixed<std::int32_t, xt::xshape<2, 2>> fixed{{1, 2}, {3, 4}};
    CHECK(borrowed(fixed));
    CHECK(elements<std::int32_t>(fixed) == std::vector<std::int32_t>{1, 2, 3, 4});
    std::vector<float> owner{1, 2, 3, 4};
    const auto adapted = xt::adapt(owner, std::vector<std::size_t>{2, 2});
    CHECK(borrowed(adapted));
    const xt::xarray<float> scalar = 3.0F;
    CHECK(extents(scalar).empty());
    CHECK(elements<float>(scalar) == std::vector<float>{3});
    const xt::xarray<float> empty = xt::xarray<float>::from_shape({0, 4});
    CHECK(extents(empty) == std::vector<std::size_t>{0, 4});
    CHECK(elements<float>(empty).empty());
}

TEST_CASE("tensor_adapter of an expression: everything else is evaluated in row-major order") {
    const xt::xarray<float> array{{1, 2, 3}, {4, 5, 6}};
    CHECK(elements<float>(array * 2.0F) == std::vector<float>{2, 4, 6, 8, 10, 12});
    CHECK(elements<float>(xt::transpose(array)) == std::vector<float>{1, 4, 2, 5, 3, 6});
    CHECK(extents(xt::transpose(array)) == std::vector<std::size_t>{3, 2});
    CHECK(elements<float>(xt::view(array, xt::all(), xt::range(1, 3))) == std::vector<float>{2, 3, 5, 6});
    CHECK(elements<float>(xt::view(array, 1)) == std::vector<float>{4, 5, 6});
    CHECK(elements<float>(xt::strided_view(array, {xt::range(0, 2), 0})) == std::vector<float>{1, 4});
    const xt::xarray<float, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
    CHECK(elements<float>(columns) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(elements<bool>(array > 3.0F) == std::vector<bool>{false, false, false, true, true, true});
    CHECK(elements<double>(xt::cast<double>(array)) == std::vector<double>{1, 2, 3, 4, 5, 6});
}
