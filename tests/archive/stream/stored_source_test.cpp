#include <smdebug/archive/archive_storage.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

TEST_CASE("stored_source: parts of an object, alone and together, cut at its end") {
    memory_storage store;
    store.write("a", as_bytes("0123456789"));
    const stored_source source{store, "a"};
    CHECK(source.size() == 10);
    CHECK(source.name() == "memory:run/a");
    CHECK(as_text(source.read({2, 3}).view()) == "234");
    CHECK(as_text(source.read({8, UINT64_MAX}).view()) == "89");
    CHECK(source.read({10, 1}).empty());
    CHECK(source.read({UINT64_MAX, UINT64_MAX}).empty());
    std::string all;
    source.read_many(std::array{byte_range{0, 2}, byte_range{9, 5}}, [&](std::size_t i, const byte_buffer& part) {
        all += std::to_string(i) + std::string{as_text(part.view())};
    });
    CHECK(all == "00119");
}

TEST_CASE("stored_source: an object that is not there, and one that changes") {
    memory_storage store;
    CHECK_THROWS_AS((stored_source{store, "a"}), not_found);
    const temporary_folder folder;
    local_storage files{folder.path()};
    files.write("a", as_bytes("0123456789"));
    const stored_source source{files, "a"};
    CHECK(source.read({0, 1}).size() == 1);
    files.write("a", as_bytes("0123456789+"));
    CHECK_THROWS_AS(static_cast<void>(source.read({0, 1})), unavailable);
    files.remove("a");
    CHECK_THROWS_AS(static_cast<void>(source.read({0, 1})), unavailable);
}
