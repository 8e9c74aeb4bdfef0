#include <smdebug/archive/stream/packed_input.hpp>

#include <smdebug/archive/stream/stored_source.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace smdebug;
using namespace smdebug::archive::detail;

TEST_CASE("packed_input: gives each byte once, across its pieces, and knows where it is") {
    std::string bytes(700'000, 'a');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>('a' + i % 23);
    }
    memory_storage store;
    store.write("a", as_bytes(bytes));
    packed_input input{std::make_shared<stored_source<memory_storage>>(store, "a"), 5};
    std::string all;
    while (input.more()) {
        const std::size_t count = std::min<std::size_t>(input.view().size(), 100'001);
        all += as_text(input.view().first(count));
        input.take(count);
        CHECK(input.offset() == 5 + all.size());
    }
    CHECK(all == bytes.substr(5));
    CHECK_FALSE(input.more());
    CHECK(input.view().empty());
}
