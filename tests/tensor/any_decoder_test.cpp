#include <smdebug/tensor/event_decoder.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/record/payload_check.hpp>

using namespace smdebug;
using namespace smdebug_test;
using smdebug::detail::any_decoder;

static_assert(tensor_decoder<any_decoder> && repeating_decoder<any_decoder>);

TEST_CASE("any_decoder: decodes as the decoder in it, and says what that one can do") {
    const event_bytes events = encode_events({.tensors = {tensor_of<float>("w", {1, 2, 3})}});
    const byte_view bytes{events.bytes};
    const byte_view record = bytes.subspan(events.places[0].offset, events.places[0].length);
    const any_decoder usual{event_decoder<>{}};
    const any_decoder unchecked{event_decoder<crc_check::none>{}};
    const any_decoder least{decoder_archetype{0}};
    for (const any_decoder* each : {&usual, &unchecked, &least}) {
        decoded_tensor out;
        CHECK(each->decode(record, "w", out) == status::ok);
        CHECK(out.view().count() == 3);
        record::payload_check later;
        std::size_t repeats = 7;
        CHECK(each->decode(record, "w", out, later, repeats) == status::ok);
        CHECK(repeats == 0);
        CHECK(later.holds());
        CHECK(each->decode(record, "v", out) == status::wrong_tensor);
    }
    CHECK(usual.abilities().is_usual);
    CHECK(usual.abilities().head_size == event_decoder<>::head_size);
    CHECK(*usual.record_size(record) == record.size());
    CHECK_FALSE(unchecked.abilities().is_usual);
    CHECK(unchecked.abilities().plan != nullptr);
    CHECK(least.abilities().head_size == 0);
    CHECK(least.abilities().plan == nullptr);
    CHECK(least.record_size(record).code() == status::unsupported);
    CHECK(least.name() == "archetype");
}
