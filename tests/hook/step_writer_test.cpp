#include <smdebug/hook/step_writer.hpp>

#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/tensor/event_decoder.hpp>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

// Records its calls; fails on demand.
class noting_sink final : public file_sink {
public:
    [[nodiscard]] bool has_room(std::uint64_t bytes) override { return bytes <= room; }
    void begin(const std::string& key, std::uint64_t /*step*/) override {
        calls += "begin " + key + "\n";
        events.clear();
    }
    void append(std::span<const byte_view> pieces) override {
        if (fails) {
            throw std::runtime_error("full");
        }
        calls += "append";
        for (const byte_view piece : pieces) {
            events.insert(events.end(), piece.begin(), piece.end());
            places.push_back(piece.data());
            calls += " " + std::to_string(piece.size());
        }
        calls += "\n";
    }
    void finish(const std::string& index_key, std::string_view index_text, bool replaces,
                std::uint64_t /*step*/) override {
        calls += (replaces ? "forget and finish " : "finish ") + index_key + "\n";
        index = index_text;
    }
    void abandon() noexcept override { ++abandoned; }
    void put(const std::string& key, std::string_view /*text*/) override { calls += "put " + key + "\n"; }
    void remove(const std::string& key) override { calls += "remove " + key + "\n"; }
    void drain() override {}
    [[nodiscard]] std::vector<lost_write> lost() override { return {}; }

    std::string calls;
    std::vector<const std::byte*> places;  // of the pieces
    std::vector<std::byte> events;
    std::string index;
    std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
    bool fails = false;
    int abandoned = 0;
};

struct floats {
    explicit floats(std::size_t count, float value = 1) : values(count, value), shape{count} {}
    [[nodiscard]] tensor_view view() const {
        return {.type = dtype::float32, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}};
    }
    std::vector<float> values;
    std::array<std::size_t, 1> shape;
};

// Reads every tensor in the index at its recorded position, and returns their first elements.
std::map<std::string, float> read_back(const noting_sink& sink) {
    std::map<std::string, float> found;
    smdebug::detail::json::document parser;
    smdebug::detail::index_file::meta head;
    REQUIRE_FALSE(smdebug::detail::index_file::parse(
        as_bytes(sink.index), parser, head,
        [&](const auto& entry) {
            decoded_tensor decoded;
            REQUIRE(entry.record.offset + entry.record.length <= sink.events.size());
            const byte_view record = byte_view{sink.events}.subspan(static_cast<std::size_t>(entry.record.offset),
                                                                    static_cast<std::size_t>(entry.record.length));
            REQUIRE(event_decoder<>{}.decode(record, entry.tensor_name, decoded) == status::ok);
            found[std::string{entry.tensor_name}] = load_le<float>(decoded.bytes.data());
        },
        [](const auto& /*shape*/) {}));
    return found;
}

}  // namespace

TEST_CASE("step_writer: small tensors gather, and are handed over at the end in one piece") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::checksum};
    CHECK(writer.empty());
    for (int i = 0; i < 10; ++i) {
        CHECK(writer.add_tensor("t" + std::to_string(i), floats(10, static_cast<float>(i)).view(), {.step = 7}) ==
              added::written);
    }
    CHECK_FALSE(writer.empty());
    CHECK(sink.calls.empty());
    const std::uint64_t bytes = writer.finish();
    CHECK(bytes == sink.events.size() + sink.index.size());
    CHECK(sink.calls == "begin events/000000000007/000000000007_worker_0.tfevents\nappend " +
                            std::to_string(sink.events.size()) +
                            " 0\nfinish index/000000000/000000000007_worker_0.json\n");
    const auto found = read_back(sink);
    REQUIRE(found.size() == 10);
    for (const auto& [name, value] : found) {
        CHECK(name == "t" + std::to_string(static_cast<int>(value)));
    }
    CHECK(writer.empty());
}

TEST_CASE("step_writer: large elements are written without a copy, between pending and following bytes") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    const floats large(100'000, 5);
    CHECK(writer.add_tensor("small", floats(3, 2).view(), {.step = 1}) == added::written);
    CHECK(writer.add_tensor("large", large.view(), {.step = 1}) == added::written);
    CHECK(sink.places.size() == 2);
    CHECK(sink.places.back() == large.view().bytes.data());
    CHECK(writer.add_tensor("last", floats(3, 3).view(), {.step = 1}) == added::written);
    CHECK(writer.finish() > 400'000);
    CHECK(read_back(sink) == std::map<std::string, float>{{"small", 2}, {"large", 5}, {"last", 3}});
}

TEST_CASE("step_writer: many small tensors are handed over before they become much") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    for (int i = 0; i < 100; ++i) {
        CHECK(writer.add_tensor("t" + std::to_string(i), floats(1000, static_cast<float>(i)).view(), {.step = 1}) ==
              added::written);
    }
    CHECK(sink.places.size() >= 4);
    static_cast<void>(writer.finish());
    CHECK(read_back(sink).size() == 100);
}

TEST_CASE("step_writer: a step of shapes alone has no events, and one of nothing no index either") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    CHECK(writer.finish() == 0);
    CHECK(sink.calls.empty());
    const std::array<std::size_t, 2> shape{3, 4};
    writer.add_shape("w", shape, {.step = 2});
    CHECK_FALSE(writer.empty());
    const std::uint64_t bytes = writer.finish();
    CHECK(bytes == sink.index.size());
    CHECK(sink.calls == "finish index/000000000/000000000002_worker_0.json\n");
    CHECK(sink.index.find(R"("shape": [3, 4])") != std::string::npos);
}

TEST_CASE("step_writer: the index of an older step of that number goes before the new events come") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant, 3};
    const std::array<std::size_t, 1> shape{1};
    const auto step = [&](step_number number) {
        writer.add_shape("w", shape, {.step = number});
        static_cast<void>(writer.finish());
        const std::string calls = std::exchange(sink.calls, {});
        return calls.starts_with("forget ");
    };
    CHECK_FALSE(step(4));
    CHECK(step(4));
    CHECK(step(3));
    CHECK_FALSE(step(9));
    CHECK(step(6));
    CHECK_FALSE(step(10));
}

TEST_CASE("step_writer: the index has the mode of what was added first") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    static_cast<void>(writer.add_tensor("a", floats(1).view(), {.step = 4, .mode = mode::eval, .mode_step = 2}));
    static_cast<void>(writer.add_tensor("b", floats(1).view(), {.step = 4, .mode = mode::train, .mode_step = 9}));
    static_cast<void>(writer.finish());
    CHECK(sink.index.starts_with(R"({"meta": {"mode": "EVAL", "mode_step": 2, )"));
}

TEST_CASE("step_writer: where there is no room a tensor leaves nothing behind, and smaller ones still come") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    CHECK(writer.add_tensor("a", floats(10, 1).view(), {.step = 1}) == added::written);
    sink.room = 5000;
    CHECK(writer.add_tensor("large", floats(10'000).view(), {.step = 1}) == added::no_room);
    CHECK(writer.add_tensor("copied", floats(1020).view(), {.step = 1}) == added::written);
    CHECK(writer.add_tensor("too much", floats(1020).view(), {.step = 1}) == added::no_room);
    CHECK(writer.add_tensor("b", floats(10, 2).view(), {.step = 1}) == added::written);
    static_cast<void>(writer.finish());
    CHECK(read_back(sink) == std::map<std::string, float>{{"a", 1}, {"copied", 1}, {"b", 2}});

    sink.room = 0;
    CHECK(writer.add_tensor("a", floats(10).view(), {.step = 2}) == added::no_room);
    CHECK(writer.empty());  // no step of nothing
    CHECK(writer.finish() == 0);
}

TEST_CASE("step_writer: what no record can hold is refused before anything is looked at") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::checksum};
    const std::array shape{std::size_t{1} << 31U};
    const std::byte one{};
    const tensor_view huge{.type = dtype::uint8, .shape = shape, .bytes = {&one, shape[0]}, .strings = {}};
    CHECK(writer.add_tensor("huge", huge, {.step = 1}) == added::too_large);
    CHECK(writer.empty());
}

TEST_CASE("step_writer: a step that is abandoned is forgotten, and the next one begins at the beginning") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    sink.fails = true;
    static_cast<void>(writer.add_tensor("a", floats(10).view(), {.step = 1}));
    CHECK_THROWS_AS(static_cast<void>(writer.add_tensor("large", floats(5000).view(), {.step = 1})),
                    std::runtime_error);
    writer.abandon();
    CHECK(sink.abandoned == 1);
    CHECK(writer.empty());
    sink.fails = false;
    static_cast<void>(writer.add_tensor("b", floats(10, 4).view(), {.step = 2, .mode = mode::train, .mode_step = 1}));
    static_cast<void>(writer.finish());
    CHECK(read_back(sink) == std::map<std::string, float>{{"b", 4}});
    CHECK(sink.index.find("000000000002_worker_0.tfevents") != std::string::npos);
}

TEST_CASE("step_writer: records that are encoded already come where they were added") {
    noting_sink sink;
    step_writer writer{sink, "worker_0", record::footer_kind::package_constant};
    const record_stamp now{.wall_time = 1, .step = 1};
    std::vector<std::byte> bytes;
    std::vector<named_record> records;
    for (const char* name : {"x", "yy"}) {
        const std::size_t begin = bytes.size();
        const floats one(1, static_cast<float>(std::string_view{name}.size()));
        const auto record = append_tensor_record(bytes, name, one.view(), now, record::footer_kind::package_constant);
        records.push_back({.name = name, .begin = begin, .size = static_cast<std::size_t>(record.size)});
    }
    static_cast<void>(writer.add_tensor("before", floats(5000, 7).view(), now));
    CHECK(writer.add_records(bytes, records, now) == added::written);
    static_cast<void>(writer.add_tensor("behind", floats(3, 8).view(), now));
    sink.room = 10;
    CHECK(writer.add_records(bytes, records, now) == added::no_room);
    sink.room = 1U << 20U;
    static_cast<void>(writer.finish());
    CHECK(read_back(sink) == std::map<std::string, float>{{"before", 7}, {"x", 1}, {"yy", 2}, {"behind", 8}});
}
