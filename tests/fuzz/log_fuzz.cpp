// TensorBoard logs, and event files without an index, as runs: files that grow, in folders, of records with right
// checksums and damaged ones; read to the last tensor.
// The first byte says which of the two, and whether payloads are raw or built by instructions; then records, each after
// a byte that says where it goes.
#include "message_maker.hpp"
#include "support.hpp"

#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/run_contents.hpp>
#include <smdebug/trial/trial.hpp>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

constexpr std::array<const char*, 4> log_keys{"events.out.tfevents.1", "train/events.out.tfevents.1.host",
                                              "train/events.out.tfevents.2", "a/validation/events.out.tfevents.3.v2"};
constexpr std::array<const char*, 4> event_keys{
    "events/000000000000/000000000000_worker_0.tfevents", "events/000000000000/000000000000_worker_1.tfevents",
    "events/000000000010/000000000010_worker_0.tfevents",
    "events/000000000020/000000000020__job-worker_replica-0_task-1.tfevents"};

// Every value of the run that can be read.
std::size_t read_all(const trial& run) {
    run.refresh();
    const no_refresh still{run};
    std::size_t values = 0;
    for (const std::string& name : run.tensor_names()) {
        const auto tensor = run.tensor(name);
        for (const step_number step : tensor.steps({.show_incomplete_steps = true})) {
            for (const std::string& worker : tensor.workers(step)) {
                only_errors([&] {
                    const auto value = tensor.find_value(step, {.worker = worker});
                    demand(value.has_value() || !value.error().message().empty(), "a failure has a sentence");
                    values += value ? 1U : 0U;
                });
            }
        }
    }
    return values;
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
    const any_storage source =
        is_log
            ? as_run(store,
                     tensorboard_source{store, {.now = [ahead] { return std::chrono::system_clock::now() + *ahead; }}})
            : as_run(store, event_file_source{store, {.is_over = false}});
    std::optional<trial> run;
    const auto look = [&] {
        if (!run) {
            run.emplace(source);
        }
        return read_all(*run);
    };
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
            only_errors([&] { static_cast<void>(look()); });
        }
    }
    write();
    files.write("training_job_end.ts", {});
    *ahead = std::chrono::minutes{60};
    only_errors([&] {
        static_cast<void>(look());
        const std::size_t values = look();
        demand(look() == values, "what has ended stays as it is");
        for (const problem& one : run->problems()) {
            demand(!one.where.empty() && !one.what.empty(), "a problem has a place and a sentence");
        }
    });
    return 0;
}
