#include <smdebug/reduce/allclose.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;

TEST_CASE("pair_blocks: all elements of both come once, in order, as doubles, whatever their types") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, pair_block, 2 * pair_block + 3}) {
        std::vector<std::int32_t> a(size);
        std::iota(a.begin(), a.end(), -5);
        std::vector<double> b(size);
        std::iota(b.begin(), b.end(), 0.5);
        const auto of_a = tensor_value::copy_of<std::int32_t>({size}, std::span<const std::int32_t>{a});
        const auto of_b = tensor_value::copy_of<double>({size}, std::span<const double>{b});
        std::size_t seen = 0;
        for_each_pair_block(of_a, of_b, [&](std::size_t begin, auto first, auto second) {
            CHECK(begin == seen);
            REQUIRE(first.size() == second.size());
            for (std::size_t i = 0; i < first.size(); ++i, ++seen) {
                REQUIRE(first[i] == a[seen]);
                REQUIRE(second[i] == b[seen]);
            }
            CHECK(second.data() == of_b.elements<double>().data() + begin);  // doubles are read where they lie
            return true;
        });
        CHECK(seen == size);
    }
}

TEST_CASE("pair_blocks: ends where the visitor says so") {
    const std::vector<float> values(3 * pair_block);
    const auto tensor = tensor_value::copy_of<float>({values.size()}, std::span<const float>{values});
    int blocks = 0;
    for_each_pair_block(tensor, tensor, [&](std::size_t, auto, auto) { return ++blocks < 2; });
    CHECK(blocks == 2);
}
