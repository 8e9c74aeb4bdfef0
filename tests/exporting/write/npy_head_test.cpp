#include <smdebug/exporting/npz.hpp>

#include <smdebug/core/dtype.hpp>

#include "support/test.hpp"

using namespace smdebug;
using smdebug::detail::npy_head;

namespace {

// The bytes after the first ten, without the blanks at the end.
std::string text_of(const std::string& head) {
    std::string text = head.substr(10);
    REQUIRE(text.ends_with('\n'));
    text.pop_back();
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

// tests/check_exports.py checks that numpy writes the same bytes.
TEST_CASE("npy_head: magic, version, length, a dictionary, and 64 bytes over and over") {
    const std::string head = npy_head("<f4", shape_type{2, 3});
    CHECK(head.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
    CHECK(head.size() % 64 == 0);
    CHECK(static_cast<unsigned char>(head[8]) + 256U * static_cast<unsigned char>(head[9]) == head.size() - 10);
    CHECK(text_of(head) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    CHECK(text_of(npy_head("|b1", shape_type{})) == "{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
    CHECK(text_of(npy_head("<i8", shape_type{0})) == "{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }");
}

TEST_CASE("npy_head: the first extent does not change its size") {
    for (std::size_t extent : {std::size_t{0}, std::size_t{12345}, static_cast<std::size_t>(-1)}) {
        CHECK(npy_head("<f4", shape_type{extent, 7}).size() == npy_head("<f4", shape_type{1, 7}).size());
    }
}

TEST_CASE("npy_head: a shape that is too long for version 1.0") {
    const std::string head = npy_head("<f4", shape_type(30000, 1));
    CHECK(head.substr(0, 8) == std::string("\x93NUMPY\2\0", 8));
    CHECK(head.size() % 64 == 0);
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        length |= std::size_t{static_cast<unsigned char>(head[8 + i])} << (8 * i);
    }
    CHECK(length == head.size() - 12);
}

TEST_CASE("numpy_type: every dtype but bfloat16, float8 and strings") {
    CHECK(detail::numpy_type(dtype::float16) == "<f2");
    CHECK(detail::numpy_type(dtype::complex128) == "<c16");
    CHECK(detail::numpy_type(dtype::boolean) == "|b1");
    CHECK(detail::numpy_type(dtype::bfloat16).empty());
    CHECK(detail::numpy_type(dtype::float8_e5m2).empty());
    CHECK(detail::numpy_type(dtype::string).empty());
}
