#include <smdebug/exporting/tensorboard.hpp>

#include "exporting/odd_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;
namespace wire = smdebug::detail::wire;

namespace {

// The content of an event file, a line a value: "TAG STEP WALL_TIME KIND"; checks checksums.
std::vector<std::string> lines_of(const std::string& path) {
    const std::string file = file_content(path);
    byte_view rest = as_bytes(std::string_view{file});
    std::vector<std::string> lines;
    while (!rest.empty()) {
        const auto found = record::read_record(rest, crc_check::full);
        REQUIRE(found.ok());
        CHECK(load_le<std::uint32_t>(found->payload.data() + found->payload.size()) != record::package_footer);
        const auto event = wire::decode_event(found->payload);
        REQUIRE(event.ok());
        if (!event->file_version.empty()) {
            lines.emplace_back(event->file_version);
        }
        wire::summary_reader values{event->summary.value_or(byte_view{})};
        for (wire::summary_value value; values.next(value);) {
            std::string line = std::string{value.tag} + " " + std::to_string(event->step) + " " +
                               std::to_string(event->wall_time).substr(0, 3);
            line += value.kind == wire::value_kind::simple_value ? " " + std::to_string(value.simple_value).substr(0, 4)
                    : value.kind == wire::value_kind::tensor     ? " tensor"
                                                                 : " histogram";
            lines.push_back(line);
        }
        rest = rest.subspan(found->payload.size() + record::overhead);
    }
    return lines;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("export_tensorboard: curves and histograms, a file for each mode") {
    const temporary_folder folder;
    noted_export noted;
    const export_result result = export_tensorboard(memory_trial{odd_run()}, folder.path() + "/out", noted.options);
    CHECK(result.files == 2);
    CHECK(lines_of(folder.path() + "/out/train/events.tfevents") ==
          texts{"brain.Event:2", "plain 0 1.5 histogram", "scalar 0 1.5 2.50", "a/b_0 0 1.5 histogram",
                "../evil 0 1.5 7.00", "q_uo_te___x 0 1.5 histogram", "half 0 1.5 histogram", "brain 0 1.5 histogram",
                "f8 0 1.5 histogram"});
    CHECK(lines_of(folder.path() + "/out/validation/events.tfevents") ==
          texts{"brain.Event:2", "plain 0 1.5 histogram", "scalar 0 1.5 0.50"});
    CHECK(result.bytes == fs::file_size(folder.path() + "/out/train/events.tfevents") +
                              fs::file_size(folder.path() + "/out/validation/events.tfevents"));
    REQUIRE(noted.told.size() == 4);
    CHECK(contains_text(noted.told[0], "empty@0: the tensor \"empty\" has no elements to draw"));
    CHECK(contains_text(noted.told[1], "flags@0: the tensor \"flags\" is of dtype bool without a histogram"));
    CHECK(contains_text(noted.told[2], "\"z\" is of dtype complex64"));
    CHECK(contains_text(noted.told[3], "\"words\" is of dtype string"));
}

TEST_CASE("export_tensorboard: whole tensors") {
    const temporary_folder folder;
    memory_storage store = odd_run({tensor_of<float>("large", std::vector<float>(50'000, 1.5F))});
    const export_result result = export_tensorboard(memory_trial{store}, folder.path() + "/out", {.tensors = true});
    CHECK(result.tensors == 15);
    CHECK(result.refused == 0);
    const auto lines = lines_of(folder.path() + "/out/train/events.tfevents");
    REQUIRE(lines.size() == 14);
    CHECK(lines[1] == "plain 0 1.5 tensor");
    CHECK(lines[13] == "large 0 1.5 tensor");
    // The last record, read again.
    const std::string file = file_content(folder.path() + "/out/train/events.tfevents");
    byte_view rest = as_bytes(std::string_view{file});
    byte_view last;
    while (!rest.empty()) {
        const auto found = record::read_record(rest, crc_check::full);
        REQUIRE(found.ok());
        last = rest.first(found->payload.size() + record::overhead);
        rest = rest.subspan(last.size());
    }
    decoded_tensor tensor;
    REQUIRE(event_decoder<>{}.decode(last, "large", tensor) == status::ok);
    CHECK(tensor.view().count() == 50'000);
    CHECK(tensor.wall_time == 1.5);
    CHECK(load_le<float>(tensor.bytes.data() + 4 * 49'999) == 1.5F);
}

TEST_CASE("export_tensorboard: workers, and tensors that would have one tag") {
    const temporary_folder folder;
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1"})
        .step({.step = 5,
               .tensors = {tensor_of<float>("a 0", {4}), tensor_of<float>("a:0", {1}), tensor_of<float>("a_0", {2})},
               .mode_step = 3})
        .step({.step = 5, .tensors = {tensor_of<float>("a:0", {3})}, .mode_step = 3, .worker = "worker_1"})
        .end();
    noted_export noted;
    CHECK(export_tensorboard(memory_trial{store}, folder.path() + "/out", noted.options).tensors == 4);
    CHECK(lines_of(folder.path() + "/out/worker_0/train/events.tfevents") ==
          texts{"brain.Event:2", "a_0_2 3 1.5 4.00", "a_0_3 3 1.5 1.00", "a_0 3 1.5 2.00"});
    CHECK(lines_of(folder.path() + "/out/worker_1/train/events.tfevents") ==
          texts{"brain.Event:2", "a_0_3 3 1.5 3.00"});
    CHECK(noted.told.empty());
}

TEST_CASE("export_tensorboard: an older export is replaced, another folder is not") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string out = folder.path() + "/out";
    export_tensorboard(run, out);
    CHECK_THROWS_AS(export_tensorboard(run, out), run_exists);
    export_tensorboard(run, out, {.which = {.mode = mode::eval}, .replace = true});
    CHECK_FALSE(fs::exists(out + "/train"));
    folder.write("out/train/other", "");
    CHECK_THROWS_AS(export_tensorboard(run, out, {.replace = true}), run_exists);
    for (const char* const file : {"train/worker_1/events.tfevents", "worker_1/train/events.tfevents"}) {
        const std::string older = folder.path() + "/older";
        folder.write(std::string{"older/"} + file, "");
        CHECK_NOTHROW(export_tensorboard(run, older, {.replace = true}));
        CHECK_FALSE(fs::exists(older + "/" + file));
    }
}
