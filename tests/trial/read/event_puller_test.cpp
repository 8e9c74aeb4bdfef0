#include <smdebug/trial/read/event_puller.hpp>

#include "support/remote_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::vector<float> numbers(std::size_t count, float first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = first + static_cast<float>(i % 1000);
    }
    return values;
}

// Two small files and two large ones, whose last record is streamed where it can be.
template <class Storage>
void write_run(Storage& store) {
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 4; ++step) {
        const std::size_t large = step % 2 == 0 ? 10 : 400'000;
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", {static_cast<float>(step)}),
                                tensor_of<float>("smdebug/reductions/mean/a", {2.5F}, {}),
                                tensor_of<float>("b", numbers(large, static_cast<float>(step)))},
                    .footers = record::footer_kind::checksum});
    }
    build.end();
}

// What a puller tells of each file, and how often values were streamed.
template <class Trial>
texts pulled(const Trial& run, std::size_t* streamed = nullptr) {
    const auto from = run.snapshot();
    const auto state = run.state();
    const auto files = from->files_in({});
    event_puller puller{*state, *from, files};
    texts lines;
    pulled_values values;
    for (std::size_t place = 0; place < files.size(); ++place) {
        const std::string step = std::to_string(files[place]->step) + " ";
        if (const lookup_error* const failed = puller.open(place)) {
            lines.push_back(step + (failed->why == absence::event_file_missing ? "missing " : "damaged ") +
                            failed->where);
            continue;
        }
        const layout& entries = from->layout_of(*files[place]);
        for (const char* name : {"a", "b"}) {
            const name_id id = *from->find_tensor(name);
            const auto entry = entries.values(id);
            if (!entry) {
                continue;
            }
            std::string line = step + name;
            const reduction_key mean{reduction::mean, false};
            if (const auto saved = entries.reduction(id, mean)) {
                double number = 0;
                const auto failed = puller.saved(*saved, name, mean, number);
                line += failed ? " no mean" : " mean " + std::to_string(number);
            }
            if (value_stream* const stream = puller.stream(*entry, name)) {
                stream->start();
                const status ended = stream->finish();
                line += ended == status::ok ? " " + std::to_string(stream->count())
                                            : " " + std::string{describe(puller.damaged(*entry, ended).damage)};
                *streamed += 1;
            } else if (const auto failed = puller.values(*entry, name, values)) {
                line += " " + std::string{describe(failed->damage)};
            } else {
                line += values.check.holds() ? " " + std::to_string(values.tensor.view().count())
                                             : " " + std::string{describe(status::bad_payload_checksum)};
            }
            lines.push_back(line);
        }
    }
    return lines;
}

const texts whole{"0 a mean 2.500000 1", "0 b 10", "1 a mean 2.500000 1", "1 b 400000",
                  "2 a mean 2.500000 1", "2 b 10", "3 a mean 2.500000 1", "3 b 400000"};

}  // namespace

TEST_CASE("event_puller: the same from memory, from files, and from storages that read many objects together") {
    memory_storage store;
    write_run(store);
    CHECK(pulled(memory_trial{store}) == whole);
    CHECK(pulled(basic_trial{remote_storage{store}}) == whole);
    CHECK(pulled(basic_trial{reluctant_remote_storage{store}}) == whole);
    const temporary_folder folder;
    local_storage files{folder.path()};
    write_run(files);
    std::size_t streamed = 0;
    CHECK(pulled(local_trial{files}, &streamed) == whole);
    CHECK(streamed == 2);
}

TEST_CASE("event_puller: small files are asked for together") {
    memory_storage store;
    write_run(store);
    const remote_storage remote{store};
    std::size_t reads = 0;
    remote.before_read([&](std::string_view key, byte_range) { reads += key.starts_with("events/") ? 1U : 0U; });
    CHECK(pulled(basic_trial{remote}) == whole);
    CHECK(reads <= 4);
}

TEST_CASE("event_puller: files that are missing, cut or damaged lose nothing but themselves") {
    memory_storage store;
    write_run(store);
    store.remove(locations::event_key(0, "worker_0"));
    const std::string cut = locations::event_key(1, "worker_0");
    const byte_buffer all = store.read(cut);
    store.write(cut, all.view().first(all.size() / 2));
    const std::string flipped = locations::event_key(2, "worker_0");
    const byte_buffer old = store.read(flipped);
    std::vector<std::byte> bytes(old.view().begin(), old.view().end());
    bytes[bytes.size() - 6] ^= std::byte{1};
    store.write(flipped, bytes);
    store.remove(locations::event_key(3, "worker_0"));
    const texts wanted{"0 missing " + locations::event_key(0, "worker_0"),
                       "1 a mean 2.500000 1",
                       "1 b " + std::string{describe(status::truncated)},
                       "2 a mean 2.500000 1",
                       "2 b " + std::string{describe(status::bad_payload_checksum)},
                       "3 missing " + locations::event_key(3, "worker_0")};
    CHECK(pulled(memory_trial{store}) == wanted);
    CHECK(pulled(basic_trial{remote_storage{store}}) == wanted);
    const temporary_folder folder;
    local_storage files{folder.path()};
    for (const std::string& key : store.list("", "")) {
        files.write(key, store.read(key).view());
    }
    std::size_t streamed = 0;
    CHECK(pulled(local_trial{files}, &streamed) == wanted);
}

TEST_CASE("event_puller: an index file that names a file outside of the run") {
    memory_storage store;
    const written_step step{.tensors = {tensor_of<float>("a", {1})}};
    run_builder build{store};
    build.collections().step(step).put(locations::index_key(0, "worker_0"),
                                       index_text(step, {{0, 100}}, "../../outside.tfevents"));
    build.end();
    CHECK(pulled(memory_trial{store}) == texts{"0 damaged " + locations::index_key(0, "worker_0")});
}
