#include <smdebug/core/dtype.hpp>

#include "support/test.hpp"

using smdebug::dtype;
using smdebug::dtype_from_code;

namespace {

struct row {
    std::uint64_t code;  ///< TensorFlow's types.proto
    dtype type;
    std::size_t size;
    std::string_view name;
    bool complex = false;
};

constexpr std::array<row, 18> rows{{
    {1, dtype::float32, 4, "float32"},
    {2, dtype::float64, 8, "float64"},
    {3, dtype::int32, 4, "int32"},
    {4, dtype::uint8, 1, "uint8"},
    {5, dtype::int16, 2, "int16"},
    {6, dtype::int8, 1, "int8"},
    {7, dtype::string, 0, "string"},
    {8, dtype::complex64, 8, "complex64", true},
    {9, dtype::int64, 8, "int64"},
    {10, dtype::boolean, 1, "bool"},
    {14, dtype::bfloat16, 2, "bfloat16"},
    {17, dtype::uint16, 2, "uint16"},
    {18, dtype::complex128, 16, "complex128", true},
    {19, dtype::float16, 2, "float16"},
    {22, dtype::uint32, 4, "uint32"},
    {23, dtype::uint64, 8, "uint64"},
    {24, dtype::float8_e5m2, 1, "float8_e5m2"},
    {25, dtype::float8_e4m3fn, 1, "float8_e4m3fn"},
}};

static_assert(size_of(dtype::complex128) == 16);
static_assert(dtype_from_code(1) == dtype::float32);

}  // namespace

TEST_CASE("dtype: code, size, name and complexity of each") {
    std::set<std::string_view> names;
    for (const row& wanted : rows) {
        CAPTURE(wanted.name);
        CHECK(dtype_from_code(wanted.code) == wanted.type);
        CHECK(static_cast<std::uint64_t>(wanted.type) == wanted.code);
        CHECK(size_of(wanted.type) == wanted.size);
        CHECK(name_of(wanted.type) == wanted.name);
        CHECK(is_complex(wanted.type) == wanted.complex);
        CHECK(is_floating(wanted.type) == (wanted.complex || wanted.name.find("float") != std::string_view::npos));
        names.insert(wanted.name);
    }
    CHECK(names.size() == rows.size());
}

TEST_CASE("dtype_from_code: every number without a dtype is invalid") {
    std::set<std::uint64_t> known;
    for (const row& wanted : rows) {
        known.insert(wanted.code);
    }
    for (std::uint64_t code = 0; code < 300; ++code) {  // past 256: a code must not wrap round
        CAPTURE(code);
        CHECK((dtype_from_code(code) != dtype::invalid) == (known.count(code) == 1));
    }
    CHECK(dtype_from_code((std::uint64_t{1} << 32U) + 1) == dtype::invalid);
    CHECK(dtype_from_code(std::numeric_limits<std::uint64_t>::max()) == dtype::invalid);
}

TEST_CASE("dtype: invalid has no size, and says what it is") {
    CHECK(size_of(dtype::invalid) == 0);
    CHECK(name_of(dtype::invalid) == "invalid");
    CHECK_FALSE(is_complex(dtype::invalid));
    CHECK_FALSE(is_floating(dtype::invalid));
    CHECK(size_of(static_cast<dtype>(200)) == 0);
    CHECK(name_of(static_cast<dtype>(200)) == "invalid");
}
