#include <smdebug/trial/sharing_options.hpp>

#include <doctest/doctest.h>

using namespace smdebug;

TEST_CASE("sharing_options: by default some values are kept, one thread reads ahead, and nobody lends any") {
    const sharing_options usual;
    CHECK(usual.value_bytes == std::size_t{256} << 20U);
    CHECK(usual.file_bytes == std::uint64_t{256} << 20U);
    CHECK(usual.look_ahead);
    CHECK(usual.threads == nullptr);
}
