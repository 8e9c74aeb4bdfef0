#include <smdebug/core/dtype.hpp>

#include "support/test.hpp"

using smdebug::element_count;
using smdebug::shape_text;
using smdebug::shape_type;

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

constexpr std::array<std::size_t, 3> extents{2, 3, 4};
static_assert(element_count(extents) == 24U);

}  // namespace

TEST_CASE("element_count: a 0-d tensor has one element") { CHECK(element_count({}) == 1U); }

TEST_CASE("element_count: the product of the extents") {
    CHECK(element_count(shape_type{7}) == 7U);
    CHECK(element_count(shape_type{2, 3, 4}) == 24U);
    CHECK(element_count(shape_type{1, 1, 1, 1, 1, 1, 1, 1, 5}) == 5U);
}

TEST_CASE("element_count: a product that just fits, and one that just does not") {
    CHECK(element_count(shape_type{most}) == most);
    CHECK(element_count(shape_type{1, most, 1}) == most);
    CHECK(element_count(shape_type{most / 5, 5}) == most);  // 2^64 - 1 is a multiple of 5
    CHECK(element_count(shape_type{most / 5 + 1, 5}) == std::nullopt);
    CHECK(element_count(shape_type{std::size_t{1} << 32U, std::size_t{1} << 31U}) == std::size_t{1} << 63U);
    CHECK(element_count(shape_type{std::size_t{1} << 32U, std::size_t{1} << 32U}) == std::nullopt);
    CHECK(element_count(shape_type{most, most, most}) == std::nullopt);
}

TEST_CASE("element_count: a zero extent gives 0 at any position") {
    CHECK(element_count(shape_type{0}) == 0U);
    CHECK(element_count(shape_type{3, 0, 5}) == 0U);
    CHECK(element_count(shape_type{most, most, 0}) == 0U);
    CHECK(element_count(shape_type{0, most, most}) == 0U);
}

TEST_CASE("shape_text: extents with x between them") {
    CHECK(shape_text({}).empty());
    CHECK(shape_text(shape_type{5}) == "5");
    CHECK(shape_text(shape_type{2, 3}) == "2x3");
    CHECK(shape_text(shape_type{0, 10, 1}) == "0x10x1");
    CHECK(shape_text(shape_type{most}) == "18446744073709551615");
}
