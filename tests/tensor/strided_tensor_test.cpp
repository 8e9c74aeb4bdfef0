#include <smdebug/tensor/strided_tensor.hpp>

#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>

namespace smd = smdebug;

TEST_CASE("strided_tensor: elements in C order are borrowed, others are copied into it") {
    struct row {
        std::vector<std::size_t> extents;
        std::vector<std::int64_t> strides;
        std::size_t first;
        std::vector<std::int16_t> expected;
        bool copied;
    };
    const std::vector<row> rows{
        {{2, 3}, {3, 1}, 0, {0, 1, 2, 3, 4, 5}, false},
        {{2, 3}, {1, 2}, 0, {0, 2, 4, 1, 3, 5}, true},
        {{3, 2, 2}, {1, 3, 6}, 0, {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}, true},
        {{2, 2, 2}, {8, 2, 1}, 1, {1, 2, 3, 4, 9, 10, 11, 12}, true},
        {{2, 1, 3}, {3, -5, 1}, 0, {0, 1, 2, 3, 4, 5}, false},
        {{4}, {-2}, 6, {6, 4, 2, 0}, true},
        {{3}, {0}, 5, {5, 5, 5}, true},
        {{}, {}, 9, {9}, false},
        {{3, 0}, {1, 1}, 0, {}, false},
        {{1, 1}, {0, 0}, 4, {4}, false},
    };
    std::vector<std::int16_t> memory(32);
    std::iota(memory.begin(), memory.end(), std::int16_t{0});
    for (const row& given : rows) {
        const smd::strided_tensor taken{smd::dtype::int16, given.extents, given.strides,
                                        reinterpret_cast<const std::byte*>(memory.data() + given.first)};
        const smd::tensor_view view = taken.view();
        CAPTURE(given.extents.size());
        CAPTURE(given.first);
        CHECK(taken.copied() == given.copied);
        REQUIRE(view.count() == given.expected.size());
        for (std::size_t i = 0; i < view.count(); ++i) {
            CHECK(smd::load_le<std::int16_t>(view.bytes.data() + 2 * i) == given.expected[i]);
        }
    }
}
