#include <smdebug/index/index_file.hpp>

#define SMDEBUG_TEST_COUNT_ALLOCATIONS
#include <support/allocation_count.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;

namespace {

constexpr smdebug::detail::index_file::meta some_head{
    .mode = mode::train, .mode_step = 12, .event_file_name = "events/000000000024/000000000024_worker_0.tfevents"};

}  // namespace

TEST_CASE("index_writer: writes what the Python package writes") {
    smdebug::detail::index_writer writer;
    CHECK(writer.empty());
    writer.add_tensor("w", {0, 114});
    writer.add_tensor("t\xC3\xA4\xF0\x9F\x98\x80\"\\", {114, 5});
    writer.add_shape("s", "orig", shape_type{2, 0, 3});
    writer.add_shape("scalar", "scalar", {});
    CHECK_FALSE(writer.empty());
    CHECK(
        writer.text(some_head) ==
        R"({"meta": {"mode": "TRAIN", "mode_step": 12, "event_file_name": "events/000000000024/000000000024_worker_0.tfevents"}, )"
        R"("tensor_payload": [{"tensorname": "w", "start_idx": 0, "length": 114}, )"
        R"({"tensorname": "t\u00e4\ud83d\ude00\"\\", "start_idx": 114, "length": 5}], )"
        R"("shape_payload": [{"tensorname": "s", "originalname": "orig", "shape": [2, 0, 3]}, )"
        R"({"tensorname": "scalar", "originalname": "scalar", "shape": []}]})");
}

TEST_CASE("index_writer: lists without entries are there, empty") {
    smdebug::detail::index_writer writer;
    constexpr std::string_view meta = R"({"meta": {"mode": "GLOBAL", "mode_step": 0, "event_file_name": "e"}, )";
    const smdebug::detail::index_file::meta head{.mode = mode::global, .mode_step = 0, .event_file_name = "e"};
    CHECK(writer.text(head) == std::string{meta} + R"("tensor_payload": [], "shape_payload": []})");
    writer.add_shape("s", "s", shape_type{1});
    CHECK_FALSE(writer.empty());
    CHECK(writer.text(head).find(R"("tensor_payload": [], "shape_payload": [{)") != std::string_view::npos);
    writer.clear();
    CHECK(writer.empty());
    CHECK(writer.text(head) == std::string{meta} + R"("tensor_payload": [], "shape_payload": []})");
}

TEST_CASE("index_writer: every intact index file of the golden runs comes out again, byte for byte") {
    smdebug::detail::json::document parser;
    smdebug::detail::index_writer writer;
    std::size_t files = 0;
    std::size_t shapes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{SMDEBUG_TEST_DATA "/golden"}) {
        const std::string path = entry.path().string();
        if (path.find("/index/") == std::string::npos || !path.ends_with(".json")) {
            continue;
        }
        const std::string bytes = smdebug_test::file_content(entry.path());
        smdebug::detail::index_file::meta head;
        writer.clear();
        const auto wrong = smdebug::detail::index_file::parse(
            as_bytes(bytes), parser, head,
            [&](const smdebug::detail::index_file::location& place) {
                writer.add_tensor(place.tensor_name, place.record);
            },
            [&](const smdebug::detail::index_file::saved_shape& shape) {
                writer.add_shape(shape.tensor_name, shape.original_name, shape.extents);
                ++shapes;
            });
        if (wrong ||
            (path.find("/damaged/") != std::string::npos && bytes.find("shape_payload") == std::string::npos)) {
            continue;
        }
        CAPTURE(path);
        CHECK(writer.text(head) == bytes);
        ++files;
    }
    CHECK(files > 150);
    CHECK(shapes > 10);
}

TEST_CASE("index_writer: what it writes is split without parsing") {
    smdebug::detail::index_writer writer;
    writer.add_tensor("w", {0, std::numeric_limits<std::uint64_t>::max()});
    const std::string text{writer.text(some_head)};
    const auto parts = smdebug::detail::index_file::split_canonical(as_bytes(text));
    REQUIRE(parts.has_value());
    CHECK(parts->head.mode == mode::train);
    CHECK(parts->head.mode_step == 12);
    CHECK(parts->head.event_file_name == some_head.event_file_name);
}

TEST_CASE("index_writer: a name that is not valid UTF-8 does not spoil the file") {
    smdebug::detail::index_writer writer;
    writer.add_tensor("a\xFF\xC3", {1, 2});
    smdebug::detail::json::document parser;
    CHECK(parser.parse(as_bytes(writer.text(some_head))).has_value());
}

TEST_CASE("index_writer: a file of a size that it has made allocates nothing") {
    smdebug::detail::index_writer writer;
    const shape_type extents{3, 4};
    const auto make = [&] {
        writer.clear();
        for (int i = 0; i < 100; ++i) {
            writer.add_tensor("smdebug/reductions/abs_mean/some/layer/kernel:0", {1000, 2000});
            writer.add_shape("some/layer/kernel:0", "some/layer/kernel:0", extents);
        }
        static_cast<void>(writer.text(some_head));
    };
    make();
    CHECK(smdebug_test::allocations_of(make) == 0);
}

TEST_CASE("index_writer: what it keeps from one file to the next never shows") {
    std::mt19937 random{5};
    smdebug::detail::index_writer kept;
    const smdebug::detail::index_file::meta head{mode::train, 3, "events/x"};
    for (int file = 0; file < 2000; ++file) {
        smdebug::detail::index_writer fresh;
        const auto entries = random() % 6;
        for (std::uint32_t i = 0; i < entries; ++i) {
            // Mostly what the file before had at this place.
            const std::string name = "t" + std::to_string(random() % 8 == 0 ? random() % 3 : i);
            const byte_range record{i * 100, 100 + (random() % 8 == 0 ? 1U : 0U)};
            kept.add_tensor(name, record);
            fresh.add_tensor(name, record);
        }
        if (random() % 3 == 0) {
            kept.add_shape("s", "s", {});
            fresh.add_shape("s", "s", {});
        }
        REQUIRE(kept.empty() == fresh.empty());
        if (random() % 4 != 0) {  // a step that is given up is never made into a text
            REQUIRE(kept.text(head) == fresh.text(head));
        }
        kept.clear();
        CHECK(kept.empty());
    }
}
