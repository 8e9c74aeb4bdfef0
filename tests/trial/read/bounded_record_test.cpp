#include <smdebug/trial/read/record_batch.hpp>

#include "support/archetypes.hpp"
#include "support/test.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

// A file that begins with the head of a record of `length` bytes of payload, and little more.
any_storage claiming(std::uint64_t length) {
    std::vector<std::byte> bytes(record::header_size + 100);
    record::store_header(bytes.data(), record::detail::header::of(length));
    memory_storage store;
    store.write("key", bytes);
    return any_storage{store};
}

}  // namespace

TEST_CASE("bounded_record: small claims are trusted, large ones as far as the record's head confirms them") {
    const any_decoder decoder{event_decoder<>{}};
    const record_bound bound{decoder, 100 * mebibyte};
    const any_storage store = claiming(1000);
    CHECK(bound(store, "key", {0, 5000}) == byte_range{0, 5000});
    CHECK(bound(store, "key", {0, 20 * mebibyte}) == byte_range{0, 1016});
    CHECK(bound(store, "key", {0, no_end}) == byte_range{0, 1016});
    CHECK(bound(claiming(50 * mebibyte), "key", {0, no_end}).length == 50 * mebibyte + 16);
    CHECK(bound(claiming(50 * mebibyte), "key", {0, 30 * mebibyte}).length == 30 * mebibyte);
    CHECK(bound.cut({7, no_end}) == byte_range{7, 100 * mebibyte});
}

TEST_CASE("bounded_record: a record above the limit is rejected, naming both numbers, the file and the byte") {
    const any_decoder decoder{event_decoder<>{}};
    const record_bound bound{decoder, 100 * mebibyte};
    const corrupt_data told = smdebug_test::caught<corrupt_data>([&] {
        return bound(claiming(2 * mebibyte * mebibyte), "key", {0, no_end});
    });
    CHECK(told.where() == "key");
    CHECK(told.offset() == 0);
    const std::string_view words = told.what();
    CHECK(words.find("2199023255568") != std::string_view::npos);
    CHECK(words.find("104857600") != std::string_view::npos);
    CHECK(words.find("limits.record") != std::string_view::npos);
    const record_bound tight{decoder, 10};  // a limit below the size that is trusted without a check
    CHECK_THROWS_AS(static_cast<void>(tight(claiming(1000), "key", {0, 1016})), corrupt_data);
    CHECK(tight(claiming(1000), "key", {0, 10}).length == 10);
}

TEST_CASE("bounded_record: if a record's head is invalid only the head is read, and decoding it reports why") {
    const any_decoder decoder{event_decoder<>{}};
    const record_bound bound{decoder, no_end};
    const any_storage store = claiming(1000);
    CHECK(bound(store, "key", {3, no_end}) == byte_range{3, 12});      // no head begins here
    CHECK(bound(store, "key", {110, no_end}) == byte_range{110, 12});  // the file ends in it
}

TEST_CASE("bounded_record: if a decoder does not support heads the limit alone counts") {
    const any_decoder decoder{smdebug_test::decoder_archetype{0}};
    const record_bound bound{decoder, 100};
    CHECK(bound(claiming(10), "key", {0, 100}).length == 100);
    CHECK_THROWS_AS(static_cast<void>(bound(claiming(10), "key", {0, 101})), corrupt_data);
}
