#include <smdebug/core/other_dtype.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

TEST_CASE("other_dtype: the error names both types and a remedy") {
    CHECK_THROWS_WITH_AS(smdebug::detail::throw_other_dtype(smdebug::dtype::float32, smdebug::dtype::int32),
                         "SMDebugTypeError: the tensor holds float32, not int32; converted<T>(tensor) makes a copy of "
                         "another type",
                         smdebug::unsupported);
}
