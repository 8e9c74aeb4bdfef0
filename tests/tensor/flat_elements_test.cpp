#include <smdebug/tensor/flat_elements.hpp>

#include "support/test.hpp"
#include "support/xtensor_parts.hpp"

#include <deque>

namespace smd = smdebug;

namespace {

// As Eigen's matrices are: elements by columns, beginning and end of the memory, signed numbers of rows.
struct by_columns {
    using Scalar = float;
    std::ptrdiff_t rows_;
    std::vector<float> elements;

    [[nodiscard]] std::ptrdiff_t rows() const { return rows_; }
    [[nodiscard]] std::ptrdiff_t cols() const { return static_cast<std::ptrdiff_t>(elements.size()) / rows_; }
    [[nodiscard]] std::size_t size() const { return elements.size(); }
    [[nodiscard]] const float* data() const { return elements.data(); }
    [[nodiscard]] const float* begin() const { return elements.data(); }
    [[nodiscard]] const float* end() const { return elements.data() + elements.size(); }
    float operator()(std::ptrdiff_t row, std::ptrdiff_t column) const {
        return elements[static_cast<std::size_t>(column * rows_ + row)];
    }
};

struct point {
    float x;
};

static_assert(smd::element_range<std::vector<float>> && smd::element_range<double[4]> &&
              !smd::element_range<by_columns>);
static_assert(smd::element_source<by_columns> && smd::element_source<std::deque<std::complex<float>>>);
static_assert(!smd::element_source<std::vector<point>> && !smd::element_source<std::vector<std::string>> &&
              !smd::element_source<std::vector<char>> && !smd::element_source<float> &&
              !smd::element_source<smd::tensor_view>);

/// The elements of the flat view, after checking its promises and the elements' address.
template <class T>
std::vector<T> flat(const auto& values, const void* lies_at = nullptr) {
    const smd::detail::flat_elements flat{values};
    const smd::tensor_view view = flat.view();
    CHECK(view.type == smd::dtype_of_v<T>);
    REQUIRE(view.shape.size() == 1);
    CHECK(view.shape[0] * sizeof(T) == view.bytes.size());
    CHECK((lies_at == nullptr || view.bytes.data() == lies_at));
    const auto* const first = reinterpret_cast<const T*>(view.bytes.data());
    return {first, first + view.shape[0]};
}

}  // namespace

TEST_CASE("flat_elements: contiguous ones where they lie") {
    const std::vector<float> list{1, 2, 3};
    CHECK(flat<float>(list, list.data()) == list);
    CHECK(flat<float>(std::span{list}, list.data()) == list);
    const std::array<long long, 2> numbers{4, -5};
    CHECK(flat<std::int64_t>(numbers, numbers.data()) == std::vector<std::int64_t>{4, -5});
    const double plain[]{0.5};
    CHECK(flat<double>(plain, plain) == std::vector<double>{0.5});
    CHECK(flat<float>(std::vector<float>{}).empty());
}

TEST_CASE("flat_elements: a copy of others, of a matrix row by row") {
    const std::vector<bool> bits{true, false, true};
    const smd::detail::flat_elements flat_bits{bits};
    CHECK(flat_bits.view().type == smd::dtype::boolean);
    CHECK(smd::load_le<std::uint8_t>(&flat_bits.view().bytes[2]) == 1);
    CHECK(flat<std::int32_t>(std::deque<int>{7, 8}) == std::vector<std::int32_t>{7, 8});
    CHECK(flat<float>(by_columns{2, {1, 2, 3, 4, 5, 6}}) == std::vector<float>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("flat_elements: xtensor containers where they lie, expressions evaluated") {
    const xt::xarray<float> container{{1, 2}, {3, 4}};
    CHECK(flat<float>(container, container.data()) == std::vector<float>{1, 2, 3, 4});
    CHECK(flat<float>(container * 2.F) == std::vector<float>{2, 4, 6, 8});
    CHECK(flat<float>(xt::view(container, xt::all(), 1)) == std::vector<float>{2, 4});
}
