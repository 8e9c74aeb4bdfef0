#include <smdebug/formats/composed_file.hpp>

#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace smdebug;
using smdebug::detail::composed_file;
using smdebug::detail::event_piece;
using smdebug::detail::part_objects;
using smdebug::detail::presented_file;

TEST_CASE("composed_file: pieces of objects, of what is kept and of what is made, at every offset") {
    memory_storage data;
    data.write("x", as_bytes("0123456789"));
    auto file = std::make_shared<presented_file>();
    const byte_view kept = as_bytes("kept");
    file->written.assign(kept.begin(), kept.end());
    std::size_t calls = 0;
    file->makers.emplace_back([&calls] {
        ++calls;
        return std::vector<std::byte>(5, std::byte{'m'});
    });
    file->pieces = {{.object = event_piece::written, .offset = 0, .size = 4},
                    {.object = 0, .offset = 2, .size = 6},
                    {.object = event_piece::made, .offset = 0, .size = 5},
                    {.object = 0, .offset = 0, .size = 1}};
    file->size = 16;
    const auto objects = std::make_shared<const part_objects>(any_storage{data});
    const composed_file composed{objects, file, {{0, {.name = "x"}}}};
    const std::string all = "kept234567mmmmm0";
    CHECK(composed.size() == all.size());
    for (std::size_t begin = 0; begin <= all.size() + 1; ++begin) {
        for (std::size_t length = 0; length <= all.size() + 2; ++length) {
            const std::string expected = begin < all.size() ? all.substr(begin, length) : std::string{};
            REQUIRE(as_text(composed.read({begin, length}).view()) == expected);
            const byte_buffer part = composed.part(begin, length);
            REQUIRE(expected.starts_with(as_text(part.view())));
        }
    }
    CHECK(calls == 1);  // the one that was made last is kept

    // An object that is shorter than it was ends the file there.
    data.write("x", as_bytes("012"));
    const composed_file again{std::make_shared<const part_objects>(any_storage{data}), file, {{0, {.name = "x"}}}};
    CHECK(as_text(again.read({0, 99}).view()) == "kept2");
}
