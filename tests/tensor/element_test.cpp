#include <smdebug/tensor/element.hpp>

#include "support/test.hpp"

using smdebug::dtype;
using smdebug::dtype_of_v;
using smdebug::element;

static_assert(dtype_of_v<float> == dtype::float32 && dtype_of_v<double> == dtype::float64);
static_assert(dtype_of_v<bool> == dtype::boolean && dtype_of_v<std::int8_t> == dtype::int8);
static_assert(dtype_of_v<std::complex<float>> == dtype::complex64);
static_assert(element<smdebug::float16> && element<smdebug::bfloat16> && element<std::uint64_t>);
static_assert(!element<char> && !element<std::string> && !element<void> && !element<long double>);
static_assert(!element<const float> && !element<float&> && !element<std::byte>);
static_assert(smdebug::is_numeric(dtype::boolean) && smdebug::is_numeric(dtype::complex128));
static_assert(!smdebug::is_numeric(dtype::string) && !smdebug::is_numeric(dtype::invalid));
static_assert(smdebug::visit_dtype(dtype::int16, []<class T>() { return sizeof(T); }) == 2);
static_assert(smdebug::alignment_of(dtype::complex128) == alignof(double));
static_assert(smdebug::alignment_of(dtype::string) == 1 && smdebug::alignment_of(dtype::float16) == 2);

// Integers by their size and sign; characters are none.
static_assert(smdebug::saved_dtype_v<long long> == smdebug::dtype::int64 &&
              smdebug::saved_dtype_v<unsigned long long> == smdebug::dtype::uint64 &&
              smdebug::saved_dtype_v<long> == smdebug::dtype::int64 &&
              smdebug::saved_dtype_v<bool> == smdebug::dtype::boolean &&
              smdebug::saved_dtype_v<float> == smdebug::dtype::float32);
static_assert(!smdebug::saved_element<char> && !smdebug::saved_element<char32_t> && !smdebug::saved_element<wchar_t> &&
              !smdebug::saved_element<long double> && !smdebug::saved_element<const float>);

TEST_CASE("visit_dtype: every numeric dtype is visited with its own type, of its own size") {
    int visited = 0;
    for (std::uint64_t code = 0; code < 256; ++code) {
        const dtype type = smdebug::dtype_from_code(code);
        if (!smdebug::is_numeric(type)) {
            continue;
        }
        ++visited;
        smdebug::visit_dtype(type, [&]<class T>() {
            CHECK(dtype_of_v<T> == type);
            CHECK(sizeof(T) == smdebug::size_of(type));
            CHECK(alignof(T) == smdebug::alignment_of(type));
        });
    }
    CHECK(visited == 17);
}
