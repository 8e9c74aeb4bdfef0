#include <smdebug/trial/options.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("sharing_options: by default some values are kept, one thread reads ahead, and there is no shared budget") {
    const sharing_options usual;
    CHECK(usual.value_bytes == std::size_t{256} << 20U);
    CHECK(usual.file_bytes == std::uint64_t{256} << 20U);
    CHECK(usual.look_ahead);
    CHECK(usual.threads == nullptr);
}

TEST_CASE("sharing_options: within a budget less is kept and fewer threads are used, and nothing is raised") {
    const sharing_options usual;
    const sharing_options some = usual.within(std::uint64_t{512} << 20U);
    CHECK(some.value_bytes == std::size_t{32} << 20U);
    CHECK(some.file_bytes == std::uint64_t{32} << 20U);
    CHECK(some.most_threads == 4);
    CHECK(usual.within(4096).most_threads == 0);
    const sharing_options ample = usual.within(UINT64_MAX);
    CHECK(ample.value_bytes == usual.value_bytes);
    CHECK(ample.file_bytes == usual.file_bytes);
    CHECK(ample.most_threads == usual.most_threads);
}
