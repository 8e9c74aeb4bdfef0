#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;

TEST_CASE("content_bytes: elements times their size, nothing where that overflows") {
    CHECK(content_bytes(dtype::float32, shape_type{2, 3}) == 24);
    CHECK(content_bytes(dtype::complex128, shape_type{}) == 16);
    CHECK(content_bytes(dtype::float8_e5m2, shape_type{5}) == 5);
    CHECK(content_bytes(dtype::float64, shape_type{0, SIZE_MAX, SIZE_MAX}) == 0);
    CHECK(content_bytes(dtype::float32, shape_type{std::size_t{1} << 32U, std::size_t{1} << 32U}) == std::nullopt);
    CHECK(content_bytes(dtype::float32, shape_type{std::size_t{1} << 62U}) == std::nullopt);
    CHECK(content_bytes(dtype::int8, shape_type{SIZE_MAX}) == UINT64_MAX);
}
