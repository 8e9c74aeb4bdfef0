#include <smdebug/archive/options.hpp>

#include <doctest/doctest.h>

TEST_CASE("archive_options: bounds that a bomb meets, and no run does") {
    const smdebug::archive_options usual;
    CHECK(usual.most_ratio == 1'000);
    CHECK(usual.most_bytes == 64ULL << 30U);
    CHECK(usual == smdebug::archive_options{});
    CHECK(usual.index_folder.empty());  // nothing is written where nobody asked for it
}
