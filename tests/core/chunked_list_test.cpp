#include <smdebug/core/sorted_blocks.hpp>

#include "support/test.hpp"

using smdebug::detail::chunked_list;

TEST_CASE("chunked_list: any part of what was appended, in that order") {
    constexpr std::size_t chunk = chunked_list<std::size_t>::chunk_size;
    chunked_list<std::size_t> list;
    CHECK(list.empty());
    for (std::size_t i = 0; i < 3 * chunk + 5; ++i) {
        CHECK(list.size() == i);
        list.push_back(i);
    }
    for (const std::size_t begin : {std::size_t{0}, chunk - 1, chunk, 2 * chunk + 7, 3 * chunk + 5}) {
        for (const std::size_t end : {begin, chunk, 2 * chunk, 3 * chunk, 3 * chunk + 5}) {
            std::vector<std::size_t> expected(end > begin ? end - begin : 0);
            std::iota(expected.begin(), expected.end(), begin);
            std::vector<std::size_t> found;
            list.each(begin, end, [&](std::size_t each) { found.push_back(each); });
            CHECK(found == expected);
        }
    }
    list.clear();
    CHECK(list.size() == 0);
    list.push_back(7);
    CHECK(list.size() == 1);
}
