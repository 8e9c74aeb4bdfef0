#include <smdebug/archive/stream/decoded_source.hpp>

#include "support/test.hpp"

using smdebug::archive::detail::block_pool;

TEST_CASE("block_pool: what comes back is used again, up to a few; what is in use is not") {
    const block_pool pool{1000};
    std::vector<std::shared_ptr<std::byte[]>> used;
    std::set<const std::byte*> places;
    for (int i = 0; i < 6; ++i) {
        used.push_back(pool.take());
        std::fill_n(used.back().get(), 1000, std::byte{7});
        places.insert(used.back().get());
    }
    CHECK(places.size() == 6);
    const std::byte* const last = used.back().get();
    used.pop_back();
    const auto again = pool.take();
    CHECK(again.get() == last);
    used.clear();  // two of the five are freed
    std::size_t same = 0;
    for (int i = 0; i < 4; ++i) {
        used.push_back(pool.take());
        same += places.contains(used.back().get()) ? 1U : 0U;
    }
    CHECK(same == 4);
}

TEST_CASE("block_pool: a block may outlive the pool") {
    std::shared_ptr<std::byte[]> block;
    {
        const block_pool pool{64};
        block = pool.take();
    }
    std::fill_n(block.get(), 64, std::byte{1});
    CHECK(block[63] == std::byte{1});
}
