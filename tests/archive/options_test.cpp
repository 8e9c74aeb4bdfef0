#include <smdebug/archive/options.hpp>

#include "support/test.hpp"

TEST_CASE("archive_options: bounds that a bomb meets, and no run does") {
    const smdebug::archive_options usual;
    CHECK(usual.most_ratio == 1'000);
    CHECK(usual.most_bytes == 64ULL << 30U);
    CHECK(usual == smdebug::archive_options{});
    CHECK(usual.index_folder.empty());  // by default no index is written
}

TEST_CASE("archive_options: for archives that come from anybody the bounds are tighter, and nothing else is another") {
    smdebug::archive_options tight = smdebug::archive_options::untrusted();
    const smdebug::archive_options usual;
    CHECK(tight.most_ratio < usual.most_ratio);
    CHECK(tight.most_bytes < usual.most_bytes);
    CHECK(tight.most_members < usual.most_members);
    tight.most_ratio = usual.most_ratio;
    tight.most_bytes = usual.most_bytes;
    tight.most_members = usual.most_members;
    CHECK(tight == usual);
}
