#include <smdebug/archive/stream/byte_source.hpp>

#include "support/counting_storage.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

TEST_CASE("packed_input: gives each byte once, across its pieces, and knows where it is") {
    std::string bytes(700'000, 'a');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>('a' + i % 23);
    }
    packed_input input{stored(bytes), 5};
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

TEST_CASE("packed_input: from afar it asks for eight pieces at once") {
    const std::string bytes(10'000'000, 'x');
    memory_storage objects;
    objects.write("a", as_bytes(bytes));
    const counting_storage<> store{objects};
    packed_input input{std::make_shared<stored_source>(store, "a"), 7};
    static_cast<void>(store.calls());
    std::size_t count = 0;
    while (input.more()) {
        count += input.view().size();
        input.take(input.view().size());
    }
    CHECK(count == bytes.size() - 7);
    const auto calls = store.calls();
    const auto is_batch = [](const std::string& call) { return call.starts_with("ranges a"); };
    CHECK(std::ranges::count_if(calls, is_batch) == 2);
    CHECK(std::ranges::find(calls, "ranges a a a a a a a a") != calls.end());
}
