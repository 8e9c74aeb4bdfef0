#include <smdebug/tensor/tensor_view.hpp>

#include "support/test.hpp"

using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::tensor_view;

static_assert(!std::is_copy_constructible_v<decoded_tensor>);
static_assert(std::is_nothrow_move_constructible_v<decoded_tensor>);

TEST_CASE("tensor_view: counts elements by bytes, strings by views") {
    const std::array<std::byte, 24> bytes{};
    const std::array<std::string_view, 2> strings{"a", "b"};
    CHECK(tensor_view{dtype::float32, {}, bytes, {}}.count() == 6);
    CHECK(tensor_view{dtype::complex128, {}, bytes, {}}.count() == 1);
    CHECK(tensor_view{dtype::uint8, {}, {}, {}}.count() == 0);
    CHECK(tensor_view{dtype::string, {}, {}, strings}.count() == 2);
    CHECK(tensor_view{}.count() == 0);
}

TEST_CASE("decoded_tensor: its view stays right when it is moved") {
    decoded_tensor first;
    first.type = dtype::uint8;
    first.shape = {3};
    first.expanded.resize(3, std::byte{7});
    first.bytes = first.expanded;
    CHECK(first.owns_elements());
    const decoded_tensor second = std::move(first);
    CHECK(second.owns_elements());
    CHECK(second.view().count() == 3);
    CHECK(second.view().bytes[2] == std::byte{7});
}

TEST_CASE("decoded_tensor: borrowed elements are not its own") {
    const std::array<std::byte, 4> bytes{};
    decoded_tensor tensor;
    CHECK_FALSE(tensor.owns_elements());
    tensor.bytes = bytes;
    CHECK_FALSE(tensor.owns_elements());
}
