#include <smdebug/hook/background_sink.hpp>

#include "support/test.hpp"

namespace smd = smdebug;
using pool = smd::detail::chunk_pool;

TEST_CASE("chunk_pool: has two chunks at least, and as many as its bytes need") {
    CHECK(pool{0}.bytes() == 2 * pool::chunk_bytes);
    CHECK(pool{1}.free_bytes() == 2 * pool::chunk_bytes);
    CHECK(pool{3 * pool::chunk_bytes + 1}.bytes() == 4 * pool::chunk_bytes);
}

TEST_CASE("chunk_pool: a chunk is filled to its end, and what does not fit is given back") {
    pool stock{0};
    pool::chunk one = stock.take();
    CHECK(stock.free_bytes() == pool::chunk_bytes);
    const std::vector<std::byte> bytes(pool::chunk_bytes + 5, std::byte{3});
    CHECK(one.fill(smd::byte_view{bytes}.first(10)).empty());
    CHECK(one.view().size() == 10);
    const smd::byte_view rest = one.fill(bytes);
    CHECK(rest.size() == 15);
    CHECK(one.room() == 0);
    CHECK(one.view()[pool::chunk_bytes - 1] == std::byte{3});
    CHECK(one.fill({}).empty());
}

TEST_CASE("chunk_pool: what is given back last is handed out first, empty") {
    pool stock{3 * pool::chunk_bytes};
    const std::byte* first = nullptr;
    {
        pool::chunk one = stock.take();
        const std::byte some{1};
        static_cast<void>(one.fill({&some, 1}));
        first = one.view().data();
        pool::chunk moved = std::move(one);
        CHECK(moved.view().size() == 1);
        CHECK(stock.free_bytes() == 2 * pool::chunk_bytes);
    }
    CHECK(stock.free_bytes() == 3 * pool::chunk_bytes);
    const pool::chunk again = stock.take();
    CHECK(again.view().data() == first);
    CHECK(again.view().empty());
}

TEST_CASE("chunk_pool: take() on an empty pool waits until a chunk is returned") {
    pool stock{0};
    std::optional<pool::chunk> one{stock.take()};
    const pool::chunk two = stock.take();
    std::atomic<bool> has{false};
    std::jthread waiting{[&] {
        const pool::chunk three = stock.take();
        has = true;
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK_FALSE(has);
    one.reset();
    waiting.join();
    CHECK(has);
    CHECK(stock.free_bytes() == pool::chunk_bytes);
}
