#include <smdebug/trial/reduce_in_passing.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/trial/read/event_source.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

/// A stream of bytes; notes the longest step back.
struct going_by final : opened_object {
    [[nodiscard]] std::uint64_t size() const noexcept override { return bytes.size(); }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        if (offset + into.size() > fails_from) {
            throw corrupt_data("damaged", {.where = "a"});
        }
        const std::size_t begin = std::min<std::size_t>(offset, bytes.size());
        const std::size_t got = std::min(into.size(), bytes.size() - begin);
        back = std::max<std::uint64_t>(back, reached > offset ? reached - offset : 0);
        reached = offset + got;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), got, into.begin());
        return got;
    }

    std::vector<std::byte> bytes;
    std::size_t fails_from = SIZE_MAX;
    mutable std::uint64_t reached = 0;
    mutable std::uint64_t back = 0;
};

const cached_reductions& records_of(const std::shared_ptr<const object_notes>& notes) {
    return dynamic_cast<const cached_reductions&>(*notes);
}

event_bytes three_tensors() {
    return encode_events(
        {.tensors = {tensor_of<float>("a", {1, 2, 3}), tensor_of<float>("b", std::vector<float>(5'000, 2)),
                     tensor_of<float>("c", std::vector<float>(1'000'000, 3))},
         .footers = record::footer_kind::checksum});
}

}  // namespace

TEST_CASE("passing_reductions: each record once, front to back") {
    const event_bytes written = three_tensors();
    going_by file;
    file.bytes = written.bytes;
    passing_reductions passing{1 << 20};
    const auto notes = passing.pass("events/0.tfevents", file);
    REQUIRE(notes != nullptr);
    CHECK(file.back < 4096);  // the bytes after a large record's values may be buffered already
    const cached_reductions& known = records_of(notes);
    CHECK(known.bytes(written.places[0]).size() == written.places[0].length);
    REQUIRE(known.tensor(written.places[1], "b") != nullptr);
    CHECK(known.tensor(written.places[1], "b")->reductions(reduction::mean) == 2);
    REQUIRE(known.tensor(written.places[2], "c") != nullptr);
    CHECK(known.tensor(written.places[2], "c")->reductions(reduction::sum) == 3e6);
    CHECK(known.tensor(written.places[2], "c")->reductions.count == 1'000'000);
    CHECK(known.tensor(written.places[2], "c")->shape == shape_type{1'000'000});
}

TEST_CASE("passing_reductions: a damaged record is left out; after a wrong length all are") {
    const event_bytes written = three_tensors();
    for (const std::size_t tensor : {1U, 2U}) {
        going_by file;
        file.bytes = written.bytes;
        file.bytes[written.places[tensor].offset + written.places[tensor].length / 2] ^= std::byte{1};
        passing_reductions passing{1 << 20};
        const auto notes = passing.pass("events/0.tfevents", file);
        REQUIRE(notes != nullptr);
        CHECK((records_of(notes).tensor(written.places[1], "b") == nullptr) == (tensor == 1));
        CHECK((records_of(notes).tensor(written.places[2], "c") == nullptr) == (tensor == 2));
    }
    going_by lost;
    lost.bytes = written.bytes;
    lost.bytes[written.places[1].offset] ^= std::byte{1};
    passing_reductions passing{1 << 20};
    const auto notes = passing.pass("events/0.tfevents", lost);
    REQUIRE(notes != nullptr);
    CHECK_FALSE(records_of(notes).bytes(written.places[0]).empty());
    CHECK(records_of(notes).tensor(written.places[2], "c") == nullptr);
}

TEST_CASE("passing_reductions: cut files, other files, and unreadable ones") {
    const event_bytes written = three_tensors();
    passing_reductions passing{1 << 20};
    for (const std::size_t end : {std::size_t{0}, std::size_t{5}, written.places[0].length / 2}) {
        going_by file;
        file.bytes.assign(written.bytes.begin(), written.bytes.begin() + static_cast<std::ptrdiff_t>(end));
        CHECK(passing.pass("events/0.tfevents", file) == nullptr);
    }
    going_by text;
    text.bytes.assign(100'000, std::byte{'x'});
    CHECK(passing.pass("events/0.tfevents", text) == nullptr);
    going_by failing;
    failing.bytes = written.bytes;
    failing.fails_from = written.places[2].offset + 1'000'000;
    CHECK_THROWS_AS(static_cast<void>(passing.pass("events/0.tfevents", failing)), corrupt_data);
}
