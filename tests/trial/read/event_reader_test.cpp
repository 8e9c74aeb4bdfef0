#include <smdebug/trial/read/event_reader.hpp>

#include "support/remote_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <variant>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

// Scans the first file of a run; `bytes` replace the storage's contents.
template <class Visit>
void scan_first(const memory_trial& run, const Visit& visit, std::optional<byte_view> bytes,
                const std::string* why_not = nullptr, reduction_set saved = reduction_set::all()) {
    const auto from = catalog_of(run);
    const catalog::file& held = *from->files_in({}).at(0);
    const smdebug::detail::selected_tensors all{{}, *from};
    event_reader reader{*state_of(run), *from, all, saved};
    std::optional<whole_event_file> source;
    if (bytes) {
        source.emplace(*bytes);
    }
    const std::string key = smdebug::detail::trial_state::event_key(*from, held);
    reader.read({.index = &held, .key = key, .source = source ? &*source : nullptr, .why_not = why_not}, visit);
}

memory_storage a_run() {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 7,
               .tensors = {tensor_of<float>("b", {1}), tensor_of<double>("smdebug/reductions/max/r", {4}, {}),
                           tensor_of<float>("a", {1, 2}), tensor_of<float>("smdebug/reductions/abs_mean/a", {9}, {}),
                           tensor_of<float>("b", {5, 6}), tensor_of<float>("smdebug/reductions/min/r", {3}, {})},
               .mode = mode::eval,
               .mode_step = 2,
               .shapes = {{"only", "only:0", {3, 4}}, {"r", "r:0", {2}}}})
        .end();
    return store;
}

byte_buffer events_of(const memory_storage& store) {
    return store.read(smdebug::detail::locations::event_key(7, "worker_0"));
}

}  // namespace

TEST_CASE("event_reader: tensors come in the order of the entries that count; shapes alone come last") {
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    texts order;
    scan_first(
        run,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            order.emplace_back(tensor.name);
            CHECK(tensor.step == 7);
            CHECK(tensor.mode == mode::eval);
            CHECK(tensor.mode_step == 2);
            CHECK(tensor.worker == "worker_0");
            CHECK(tensor.failure() == nullptr);
            CHECK_FALSE(tensor.file_failed());
            if (tensor.name == "b") {  // of two entries with one name the last counts
                REQUIRE(tensor.values() != nullptr);
                CHECK(*tensor.shape() == shape_type{2});
                CHECK(tensor.saved.empty());
            } else if (tensor.name == "a") {
                CHECK(tensor.values()->type == dtype::float32);
                CHECK(tensor.saved == reduction_set{reduction::mean, true});
                CHECK(tensor.saved_value[reduction_key{reduction::mean, true}.index()] == 9);
            } else if (tensor.name == "r") {
                CHECK(tensor.values() == nullptr);
                CHECK(tensor.saved == (reduction_set{reduction::min} | reduction_set{reduction::max}));
                CHECK(tensor.saved_value[reduction_key{reduction::max}.index()] == 4);
                CHECK(*tensor.shape() == shape_type{2});
            } else {
                CHECK(tensor.values() == nullptr);
                CHECK(*tensor.saved_shape == shape_type{3, 4});
            }
        },
        bytes.view());
    CHECK(order == texts{"a", "b", "r", "only"});
}

TEST_CASE("event_reader: saved reductions that are not wanted are not read") {
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    scan_first(
        run,
        [](const smdebug::detail::scanned_tensor& tensor) {
            CHECK((tensor.saved & reduction_set{reduction::max}) == tensor.saved);
        },
        bytes.view(), nullptr, reduction::max);
}

TEST_CASE("event_reader: a missing or unreadable file fails every tensor in it except saved shapes") {
    const memory_storage store = a_run();
    const memory_trial run{store};
    const std::string why = "the disk says no";
    for (const std::string* why_not : {static_cast<const std::string*>(nullptr), &why}) {
        texts failed;
        scan_first(
            run,
            [&](const smdebug::detail::scanned_tensor& tensor) {
                CHECK(tensor.file_failed() == (tensor.name != "only"));  // a saved shape is in the index file
                CHECK(tensor.values() == nullptr);
                if (tensor.failure() != nullptr) {
                    failed.emplace_back(tensor.name);
                    CHECK(tensor.failure()->where == smdebug::detail::locations::event_key(7, "worker_0"));
                    CHECK(tensor.failure()->why ==
                          (why_not ? lookup_failure_kind::damaged : lookup_failure_kind::event_file_missing));
                    CHECK(tensor.failure()->note == (why_not ? why : ""));
                }
            },
            std::nullopt, why_not);
        CHECK(failed == texts{"a", "b", "r"});
    }
}

TEST_CASE("event_reader: wherever a file is cut, everything before the cut is read, and nothing beyond") {
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer whole = events_of(store);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        // In a block of exactly that size, so that a sanitizer sees every read beyond it.
        const std::vector<std::byte> cut(whole.data(), whole.data() + length);
        std::size_t damaged = 0;
        scan_first(
            run,
            [&](const smdebug::detail::scanned_tensor& tensor) {
                damaged += tensor.saved_failures.size();
                if (tensor.failure() != nullptr) {
                    ++damaged;
                    CHECK(tensor.failure()->damage == status::truncated);
                    CHECK(tensor.values() == nullptr);
                }
            },
            byte_view{cut});
        CHECK(damaged > 0);
    }
}

TEST_CASE("event_reader: if a source fails to return a record, only that tensor is unreadable") {
    struct failing_source final : event_source {
        explicit failing_source(byte_view all) : bytes(all) {}
        byte_view bytes;
        int calls = 0;
        [[nodiscard]] byte_view at(byte_range record) override {
            if (++calls == 2) {
                throw unavailable("the server is gone", {.where = "x"});
            }
            return whole_event_file{bytes}.at(record);
        }
    };
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    const auto from = catalog_of(run);
    const catalog::file& held = *from->files_in({}).at(0);
    const smdebug::detail::selected_tensors all{{}, *from};
    event_reader reader{*state_of(run), *from, all, {}};
    failing_source source{bytes.view()};
    const std::string key = smdebug::detail::trial_state::event_key(*from, held);
    texts read;
    texts failed;
    reader.read({.index = &held, .key = key, .source = &source}, [&](const smdebug::detail::scanned_tensor& tensor) {
        if (tensor.values() != nullptr) {
            read.emplace_back(tensor.name);
        } else if (tensor.failure() != nullptr) {
            failed.emplace_back(tensor.name);
            CHECK(tensor.failure()->why == lookup_failure_kind::unreadable);
            CHECK(tensor.failure()->note == "the server is gone");
            CHECK_THROWS_AS(std::rethrow_exception(tensor.failure()->cause), unavailable);
        }
    });
    CHECK(read == texts{"a"});
    CHECK(failed == texts{"b"});
}

TEST_CASE("event_reader: each_record returns what a scan reads from its source, in the same order") {
    struct noting_source final : event_source {
        explicit noting_source(byte_view all) : bytes(all) {}
        byte_view bytes;
        std::vector<byte_range> asked = {};
        [[nodiscard]] byte_view at(byte_range record) override {
            asked.push_back(record);
            return whole_event_file{bytes}.at(record);
        }
    };
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    const auto from = catalog_of(run);
    const catalog::file& held = *from->files_in({}).at(0);
    const std::string key = smdebug::detail::trial_state::event_key(*from, held);
    std::vector<std::size_t> counts;
    for (const reduction_set saved : {reduction_set::all(), reduction_set{reduction::max}, reduction_set{}}) {
        for (const tensor_selection& wanted :
             {tensor_selection{}, tensor_selection{.names = texts{"a"}}, tensor_selection{.names = texts{}}}) {
            const smdebug::detail::selected_tensors which{wanted, *from};
            event_reader reader{*state_of(run), *from, which, saved};
            noting_source source{bytes.view()};
            reader.read({.index = &held, .key = key, .source = &source}, [](const smdebug::detail::scanned_tensor&) {});
            std::vector<byte_range> told;
            std::vector<std::size_t> ends;
            each_record(
                *from, held, which, saved, [&](byte_range record) { told.push_back(record); },
                [&] { ends.push_back(told.size()); });
            CHECK(told == source.asked);
            CHECK((ends.empty() ? told.empty() : ends.back() == told.size()));
            counts.push_back(told.size());
        }
    }
    CHECK(counts == std::vector<std::size_t>{5, 2, 0, 3, 1, 0, 2, 1, 0});
}

namespace {

std::vector<float> numbers(std::size_t count, float first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = first + static_cast<float>(i % 1000);
    }
    return values;
}

// Two small files and two large ones, whose last record is streamed if possible.
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

// Everything that can be read from each file, and how often values were streamed.
template <class Trial>
texts pulled(const Trial& run, std::size_t* streamed = nullptr) {
    const auto from = catalog_of(run);
    const auto state = state_of(run);
    const auto files = from->files_in({});
    const smdebug::detail::selected_tensors all{{}, *from};
    event_reader reader{*state, *from, all, {}, {.defer_checks = true, .keep_repeats = true, .stream = true}};
    texts lines;
    for (std::size_t place = 0; place < files.size(); ++place) {
        const std::string step = std::to_string(files[place]->step) + " ";
        if (const lookup_error* const failed = reader.open(files, place)) {
            lines.push_back(step + (failed->why == lookup_failure_kind::event_file_missing ? "missing " : "damaged ") +
                            failed->where);
            continue;
        }
        for (const char* name : {"a", "b"}) {
            const name_id id = *from->find_tensor(name);
            const auto values = from->values_of(*files[place], id);
            if (!values) {
                continue;
            }
            std::string line = step + name;
            const reduction_key mean{reduction::mean, false};
            const smdebug::detail::scanned_tensor& tensor =
                reader.tensor(id, {.saved = mean, .values = &*values, .stream = true});
            CHECK(tensor.name == name);
            CHECK(tensor.offset == values->record.offset);
            if (from->reduction_of(*files[place], id, mean)) {
                line += tensor.saved.contains(mean) ? " mean " + std::to_string(tensor.saved_value[mean.index()])
                                                    : " no mean";
            }
            if (auto* const stream = std::get_if<value_stream*>(&tensor.content)) {
                (*stream)->start();
                const status ended = (*stream)->finish();
                line += ended == status::ok ? " " + std::to_string((*stream)->count())
                                            : " " + std::string{describe(tensor.damaged(ended).damage)};
                *streamed += 1;
            } else if (tensor.failure() != nullptr) {
                line += " " + std::string{describe(tensor.failure()->damage)};
            } else {
                auto check = std::get<scanned_values>(tensor.content).check;
                line += check.holds() ? " " + std::to_string(tensor.values()->view().count())
                                      : " " + std::string{describe(status::bad_payload_checksum)};
            }
            lines.push_back(line);
            const smdebug::detail::scanned_tensor& neither = reader.tensor(id, {});
            CHECK(std::holds_alternative<std::monostate>(neither.content));
            CHECK(neither.saved.empty());
        }
    }
    return lines;
}

const texts whole{"0 a mean 2.500000 1", "0 b 10", "1 a mean 2.500000 1", "1 b 400000",
                  "2 a mean 2.500000 1", "2 b 10", "3 a mean 2.500000 1", "3 b 400000"};

}  // namespace

TEST_CASE("event_reader, on demand: the same from memory, files, and storages that read many objects together") {
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

TEST_CASE("event_reader, on demand: small files are requested together") {
    memory_storage store;
    write_run(store);
    const remote_storage remote{store};
    std::size_t reads = 0;
    remote.before_read([&](std::string_view key, byte_range) { reads += key.starts_with("events/") ? 1U : 0U; });
    CHECK(pulled(basic_trial{remote}) == whole);
    CHECK(reads <= 4);
}

TEST_CASE("event_reader, on demand: missing, cut or damaged files do not affect others") {
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

TEST_CASE("event_reader, on demand: an index file that names a file outside the run") {
    memory_storage store;
    const written_step step{.tensors = {tensor_of<float>("a", {1})}};
    run_builder build{store};
    build.collections().step(step).put(locations::index_key(0, "worker_0"),
                                       index_text(step, {{0, 100}}, "../../outside.tfevents"));
    build.end();
    CHECK(pulled(memory_trial{store}) == texts{"0 damaged " + locations::index_key(0, "worker_0")});
}
