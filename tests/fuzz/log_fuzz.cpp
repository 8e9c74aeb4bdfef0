// TensorBoard logs, and event files without an index, as runs: files that grow, in folders, of records with right checksums and
// damaged ones; read to the last tensor.
// The first byte says which of the two, and whether payloads are as they are or made by instructions; then records, each behind
// a byte that says where it goes.
#include "message_maker.hpp"
#include "support.hpp"

#include <smdebug/core/json_document.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/presented_run.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

constexpr std::array<const char*, 4> log_keys{"events.out.tfevents.1", "train/events.out.tfevents.1.host",
                                              "train/events.out.tfevents.2", "a/validation/events.out.tfevents.3.v2"};
constexpr std::array<const char*, 4> event_keys{
    "events/000000000000/000000000000_worker_0.tfevents", "events/000000000000/000000000000_worker_1.tfevents",
    "events/000000000010/000000000010_worker_0.tfevents",
    "events/000000000020/000000000020__job-worker_replica-0_task-1.tfevents"};

// Every tensor that an index file of the run names.
std::size_t read_all(const presented_run& run) {
    std::size_t tensors = 0;
    static detail::json::document parser;  // its memory is used again
    decoded_tensor tensor;
    for (const std::string& key : run.list("index/", "")) {
        const byte_buffer text = run.read(key);
        demand(run.size(key) == text.size(), "an index file is as long as it is said to be");
        detail::index_file::meta head;
        std::vector<std::pair<std::string, byte_range>> places;
        const auto wrong = detail::index_file::parse(
            text.view(), parser, head,
            [&](const detail::index_file::location& place) { places.emplace_back(place.tensor_name, place.record); },
            [](const detail::index_file::saved_shape&) {});
        demand(!wrong, "an index file that is made is right");
        const std::string events{head.event_file_name};
        const auto size = run.size(events);
        demand(size.has_value() || places.empty(), "the event file is there");
        for (const auto& [name, where] : places) {
            demand(where.offset <= *size && where.length <= *size - where.offset, "a record lies in its file");
            only_errors([&] {
                const byte_buffer record = run.read(events, where);
                demand(record.size() == where.length, "a record is there to its end");
                record::payload_check later;
                std::size_t repeats = 0;
                const status read = event_decoder<>{}.decode(record.view(), name, tensor, later, repeats);
                demand(read != status::truncated && read != status::bad_length_checksum &&
                           read != status::bad_payload_checksum,
                       "a record that is shown is whole");
                demand(read != status::ok || later.holds(), "to its checksum");
                tensors += read == status::ok ? 1U : 0U;
            });
        }
    }
    for (const std::string& key : run.list("collections/", "")) {
        demand(run.read(key).size() == run.size(key), "a collections file is as long as it is said to be");
    }
    return tensors;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    const std::uint8_t how = in.take_byte();
    const bool is_log = (how & 1U) == 0;
    const bool is_made = (how & 2U) != 0;
    const auto& keys = is_log ? log_keys : event_keys;
    memory_storage files;
    auto ahead = std::make_shared<std::chrono::minutes>(0);
    const any_storage store{files};
    const presented_run run =
        is_log ? presented_run{store,
                               tensorboard_source{
                                   store, {.now = [ahead] { return std::chrono::system_clock::now() + *ahead; }}}}
               : presented_run{store, event_file_source{store, {.is_over = false}}};
    std::array<std::vector<std::byte>, 4> contents;
    const auto write = [&] {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (!contents[i].empty()) {
                files.write(keys[i], contents[i]);
            }
        }
    };
    unsigned looks = 0;
    for (unsigned records = 0; !in.empty() && records < 30; ++records) {
        const std::uint8_t where = in.take_byte();
        std::vector<std::byte>& file = contents[where & 3U];
        const std::size_t begin = file.size();
        if (is_made) {
            record::append_record(file, made_message(in), record::footer_kind::checksum);
        } else {
            record::append_record(file, in.take_bytes(in.take<std::uint16_t>() % 2048U), record::footer_kind::checksum);
        }
        if ((where & 0x38U) == 0x38U) {  // seldom
            file[begin + in.take<std::uint16_t>() % (file.size() - begin)] ^= std::byte{in.take_byte()};
        }
        if ((where & 0xC0U) == 0xC0U && ++looks <= 3) {
            write();
            only_errors([&] { static_cast<void>(read_all(run)); });
        }
    }
    write();
    files.write("training_job_end.ts", {});
    *ahead = std::chrono::minutes{60};
    only_errors([&] {
        static_cast<void>(read_all(run));
        const std::size_t tensors = read_all(run);
        demand(read_all(run) == tensors, "what has ended stays as it is");
        for (const problem& one : run.problems()) {
            demand(!one.where.empty() && !one.what.empty(), "a problem has a place and a sentence");
        }
    });
    return 0;
}
