#include <smdebug/s3/call/call.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("call: without settings it asks the bucket itself, and takes any answer") {
    const s3::detail::call asked;
    CHECK(asked.method == http::method::get);
    CHECK(asked.key.empty());
    CHECK(asked.query.empty());
    CHECK(asked.headers.empty());
    CHECK(asked.body.empty());
    CHECK(asked.wanted.length == 0);
    CHECK(asked.check(http::response{}, {}));
    CHECK_FALSE(std::string_view{asked.doing}.empty());
}
