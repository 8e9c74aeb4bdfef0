// What the Python package wrote, tensor by tensor through a hook again: the same bytes.
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_door.hpp>

#include "support/test.hpp"

#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/wire/event.hpp>

#include <charconv>

namespace fs = std::filesystem;
namespace smd = smdebug;
using namespace std::literals;

namespace {

// Tells the times that were recorded.
struct recorded_clock {
    std::shared_ptr<double> at = std::make_shared<double>(0);
    [[nodiscard]] std::chrono::duration<double> now() const { return std::chrono::duration<double>{*at}; }
};

// One record of an event file as it was handed to the package.
struct recorded {
    double wall_time = 0;
    smd::mode mode = smd::mode::global;
    smd::step_number mode_step = 0;
    std::string name;
    smd::decoded_tensor tensor;
    bool true_checksum = false;
};

smd::step_number number(std::string_view text) {
    smd::step_number value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<recorded> records_of(smd::byte_view events) {
    std::vector<recorded> all;
    smd::record::detail::reader reader{events};
    for (auto record = reader.next(); record.ok(); record = reader.next()) {
        recorded one;
        const auto event = smd::detail::wire::decode_event(record->payload);
        REQUIRE(event.ok());
        one.wall_time = event->wall_time;
        smd::detail::wire::summary_reader values{event->summary.value()};
        smd::detail::wire::summary_value value;
        REQUIRE(values.next(value));
        one.name = value.tag;
        one.mode = static_cast<smd::mode>(number(smd::detail::wire::find_plugin(value.metadata, "mode").value()));
        one.mode_step = number(smd::detail::wire::find_plugin(value.metadata, "mode_step").value());
        const auto footer = smd::load_le<std::uint32_t>(record->payload.data() + record->payload.size());
        one.true_checksum = footer != smd::record::package_footer;
        const smd::byte_view framed{record->payload.data() - smd::record::header_size,
                                    record->payload.size() + smd::record::overhead};
        REQUIRE(smd::event_decoder<>{}.decode(framed, one.name, one.tensor) == smd::status::ok);
        all.push_back(std::move(one));
    }
    return all;
}

// Golden runs that were written whole, by name.
std::set<std::string> golden_runs() {
    std::set<std::string> runs;
    for (const auto& entry : fs::directory_iterator(SMDEBUG_TEST_DATA "/golden")) {
        if (entry.is_directory() && entry.path().filename() != "damaged" && fs::exists(entry.path() / "index")) {
            runs.insert(entry.path().filename());
        }
    }
    return runs;
}

}  // namespace

TEST_CASE("hook: given the tensors of the golden runs, it writes their event and index files, byte for byte") {
    std::size_t event_files = 0;
    std::size_t records = 0;
    std::size_t shapes = 0;
    for (const std::string& run : golden_runs()) {
        CAPTURE(run);
        const smd::local_storage golden{SMDEBUG_TEST_DATA "/golden/" + run};
        smd::detail::json::document parser;
        for (const std::string& index_key : golden.list("index/", "")) {
            CAPTURE(index_key);
            const auto file = smd::detail::locations::parse_index_key(index_key);
            if (!file) {
                continue;
            }
            const std::string worker = smd::detail::locations::worker_from_file_part(file->worker_part);
            const std::string event_key = smd::detail::locations::event_key(file->step, worker);
            if (!golden.size(event_key)) {
                continue;  // the runs that lack one on purpose
            }
            const smd::byte_buffer events = golden.read(event_key);
            const smd::byte_buffer index = golden.read(index_key);
            const std::vector<recorded> written = records_of(events.view());
            REQUIRE(smd::detail::locations::index_key(file->step, worker) == index_key);

            smd::memory_storage store;
            const recorded_clock clock;
            smd::basic_hook<smd::memory_storage, smd::simd_kernel<>, recorded_clock> hook{
                store,
                {.save_config = {.save_interval = 1},
                 .collections = {{.name = "shapes", .reduction_config = smd::reduction_config{.save_shape = true}}},
                 .worker = worker,
                 .init_step = file->step,
                 .payload_checksum = !written.empty() && written.front().true_checksum
                                         ? smd::record::footer_kind::checksum
                                         : smd::record::footer_kind::package_constant},
                {},
                clock};
            // It takes the names that saved reductions have in these files.
            const smd::detail::hook_door door{hook};
            const auto at_step = [&](smd::mode mode, smd::step_number mode_step) {
                hook.set_mode(mode);
                if (hook.mode_step() != mode_step) {
                    hook.set_step(file->step, mode_step);
                }
            };
            smd::detail::index_file::meta head;
            std::vector<std::pair<std::string, smd::shape_type>> saved_shapes;
            std::string expected_index{smd::as_text(index.view())};
            REQUIRE_FALSE(smd::detail::index_file::parse(
                index.view(), parser, head, [](const auto&) {},
                [&](const smd::detail::index_file::saved_shape& shape) {
                    saved_shapes.emplace_back(shape.tensor_name, shape.extents);
                    // TensorFlow's own name of a tensor: a C++ training loop has no second one.
                    if (shape.original_name != shape.tensor_name) {
                        const std::size_t at = expected_index.find(shape.original_name);
                        expected_index.replace(at, shape.original_name.size(), shape.tensor_name);
                    }
                }));
            const auto has_shape = [&](std::string_view name) {
                return std::any_of(saved_shapes.begin(), saved_shapes.end(),
                                   [&](const auto& shape) { return shape.first == name; });
            };
            // A tensor with a shape and no values was seen at its position in the list of shapes.
            auto next_shape = saved_shapes.begin();
            const auto save_shapes_before = [&](std::string_view name) {
                for (; next_shape != saved_shapes.end() && next_shape->first != name; ++next_shape) {
                    at_step(head.mode, head.mode_step);
                    const std::vector<float> zeros(smd::element_count(next_shape->second).value());
                    CHECK(door.save(next_shape->first,
                                    {smd::dtype::float32, next_shape->second, std::as_bytes(std::span{zeros}), {}},
                                    std::array<std::string_view, 1>{"shapes"}));
                    ++shapes;
                }
            };
            for (const recorded& one : written) {
                if (has_shape(one.name)) {
                    save_shapes_before(one.name);
                    ++next_shape;
                    ++shapes;
                }
                *clock.at = one.wall_time;
                at_step(one.mode, one.mode_step);
                const std::array<std::string_view, 2> into{"default", "shapes"};
                REQUIRE(door.save(one.name, one.tensor.view(), std::span{into}.first(has_shape(one.name) ? 2 : 1)));
                ++records;
            }
            save_shapes_before({});
            hook.end_step();
            REQUIRE(smd::as_text(store.read(event_key).view()) == smd::as_text(events.view()));
            CHECK(smd::as_text(store.read(index_key).view()) == expected_index);
            ++event_files;
        }
    }
    CHECK(event_files > 100);
    CHECK(records > 1500);
    CHECK(shapes > 10);
    MESSAGE(event_files, " event files, ", records, " records, ", shapes, " shapes");
}
