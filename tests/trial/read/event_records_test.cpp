#include <smdebug/trial/read/record_batch.hpp>

#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 20U;

event_bytes sample(record::footer_kind footers = record::footer_kind::package_constant) {
    return encode_events({.step = 7,
                          .tensors = {tensor_of<float>("w", {1, 2, 3, 4}, {2, 2}), tensor_of<double>("loss", {5})},
                          .mode = mode::eval,
                          .mode_step = 3,
                          .footers = footers});
}

event_records read(std::vector<std::byte> bytes) {
    memory_storage store;
    store.write("key", bytes);
    return read_event_records(any_storage(store), "key", most);
}

}  // namespace

TEST_CASE("event_records: every record with its place, tag, step, mode and shape") {
    const event_bytes written = sample();
    const event_records found = read(written.bytes);
    REQUIRE(found.records.size() == 2);
    CHECK(found.end == status::ok);
    CHECK(found.records[0].where == written.places[0]);
    CHECK(found.records[1].where == written.places[1]);
    CHECK(found.records[0].tag == "w");
    CHECK(found.records[0].shape == shape_type{2, 2});
    CHECK(found.records[1].tag == "loss");
    for (const event_record& held : found.records) {
        CHECK(held.state == status::ok);
        CHECK(held.has_value);
        CHECK(held.step == 7);
        CHECK(held.mode == mode::eval);
        CHECK(held.mode_step == 3);
    }
    CHECK(read({}).records.empty());
    CHECK(read({}).end == status::ok);
}

TEST_CASE("event_records: a bad payload is one record's, a bad length or a cut ends the file") {
    event_bytes written = sample(record::footer_kind::checksum);
    auto flipped = written.bytes;
    flipped[30] ^= std::byte{1};
    CHECK(read(flipped).records.at(0).state == status::bad_payload_checksum);
    CHECK(read(flipped).records.at(1).state == status::ok);
    auto cut = written.bytes;
    cut.resize(cut.size() - 3);
    CHECK(read(cut).records.size() == 1);
    CHECK(read(cut).end == status::truncated);
    CHECK(read(cut).end_offset == written.places[1].offset);
    cut.resize(static_cast<std::size_t>(written.places[1].offset) + 5);
    CHECK(read(cut).end == status::truncated);
    auto lost = written.bytes;
    lost[2] ^= std::byte{1};
    CHECK(read(lost).records.empty());
    CHECK(read(lost).end == status::bad_length_checksum);
    std::vector<std::byte> huge(record::header_size);
    record::store_header(huge.data(), record::detail::header::of(most));
    CHECK(read(huge).end == status::too_large);
    memory_storage empty;
    CHECK_THROWS_AS(static_cast<void>(read_event_records(any_storage(empty), "key", most)), not_found);
}
