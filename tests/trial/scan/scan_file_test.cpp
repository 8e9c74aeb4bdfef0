#include <smdebug/trial/scan/scan_file.hpp>

#include "support/run_builder.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

// Scans the first file of a run; `bytes` in place of what the storage holds.
template <class Visit>
void scan_first(const memory_trial& run, const Visit& visit, std::optional<byte_view> bytes,
                const std::string* why_not = nullptr, reduction_set saved = reduction_set::all()) {
    const auto from = run.snapshot();
    const catalog::file& held = *from->files_in({}).at(0);
    file_scanner scanner{*run.state(), *from, saved, nullptr};
    std::optional<whole_event_file> source;
    if (bytes) {
        source.emplace(*bytes);
    }
    scanner.scan(held, smdebug::detail::trial_state::event_key(*from, held), source ? &*source : nullptr, why_not,
                 visit);
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

TEST_CASE("file_scanner: tensors in the order of the entries that count; shapes alone come last") {
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
            CHECK(tensor.failure == nullptr);
            CHECK_FALSE(tensor.file_failed);
            if (tensor.name == "b") {  // of one name twice the last counts
                REQUIRE(tensor.values != nullptr);
                CHECK(*tensor.shape() == shape_type{2});
                CHECK(tensor.saved.empty());
            } else if (tensor.name == "a") {
                CHECK(tensor.values->type == dtype::float32);
                CHECK(tensor.saved == reduction_set{reduction::mean, true});
                CHECK(tensor.saved_value[reduction_key{reduction::mean, true}.index()] == 9);
            } else if (tensor.name == "r") {
                CHECK(tensor.values == nullptr);
                CHECK(tensor.saved == (reduction_set{reduction::min} | reduction_set{reduction::max}));
                CHECK(tensor.saved_value[reduction_key{reduction::max}.index()] == 4);
                CHECK(*tensor.shape() == shape_type{2});
            } else {
                CHECK(tensor.values == nullptr);
                CHECK(*tensor.saved_shape == shape_type{3, 4});
            }
        },
        bytes.view());
    CHECK(order == texts{"a", "b", "r", "only"});
}

TEST_CASE("file_scanner: saved reductions that are not asked for are not read") {
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

TEST_CASE("file_scanner: a file that is not there, or cannot be read, fails every tensor in it but saved shapes") {
    const memory_storage store = a_run();
    const memory_trial run{store};
    const std::string why = "the disk says no";
    for (const std::string* why_not : {static_cast<const std::string*>(nullptr), &why}) {
        texts failed;
        scan_first(
            run,
            [&](const smdebug::detail::scanned_tensor& tensor) {
                CHECK(tensor.file_failed == (tensor.name != "only"));  // a saved shape is in the index file
                CHECK(tensor.values == nullptr);
                if (tensor.failure != nullptr) {
                    failed.emplace_back(tensor.name);
                    CHECK(tensor.failure->where == smdebug::detail::locations::event_key(7, "worker_0"));
                    CHECK(tensor.failure->why == (why_not ? absence::damaged : absence::event_file_missing));
                    CHECK(tensor.failure->note == (why_not ? why : ""));
                }
            },
            std::nullopt, why_not);
        CHECK(failed == texts{"a", "b", "r"});
    }
}

TEST_CASE("file_scanner: wherever a file is cut, what lies before is read, and nothing is read beyond") {
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
                if (tensor.failure != nullptr) {
                    ++damaged;
                    CHECK(tensor.failure->damage == status::truncated);
                    CHECK(tensor.values == nullptr);
                }
            },
            byte_view{cut});
        CHECK(damaged > 0);
    }
}

TEST_CASE("file_scanner: where a source fails to give a record, that tensor alone is unreadable") {
    struct failing_source {
        byte_view bytes;
        int calls = 0;
        byte_view at(byte_range record) {
            if (++calls == 2) {
                throw unavailable("the server is gone", {.where = "x"});
            }
            return whole_event_file{bytes}.at(record);
        }
    };
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    const auto from = run.snapshot();
    const catalog::file& held = *from->files_in({}).at(0);
    file_scanner scanner{*run.state(), *from, {}, nullptr};
    failing_source source{bytes.view()};
    texts read;
    texts failed;
    scanner.scan(held, smdebug::detail::trial_state::event_key(*from, held), &source, nullptr,
                 [&](const smdebug::detail::scanned_tensor& tensor) {
                     if (tensor.values != nullptr) {
                         read.emplace_back(tensor.name);
                     } else if (tensor.failure != nullptr) {
                         failed.emplace_back(tensor.name);
                         CHECK(tensor.failure->why == absence::unreadable);
                         CHECK(tensor.failure->note == "the server is gone");
                         CHECK_THROWS_AS(std::rethrow_exception(tensor.failure->cause), unavailable);
                     }
                 });
    CHECK(read == texts{"a"});
    CHECK(failed == texts{"b"});
}

TEST_CASE("file_scanner: each_record gives what a scan asks its source for, in the same order") {
    struct noting_source {
        byte_view bytes;
        std::vector<byte_range> asked = {};
        byte_view at(byte_range record) {
            asked.push_back(record);
            return whole_event_file{bytes}.at(record);
        }
    };
    const memory_storage store = a_run();
    const memory_trial run{store};
    const byte_buffer bytes = events_of(store);
    const auto from = run.snapshot();
    const catalog::file& held = *from->files_in({}).at(0);
    std::vector<bool> some(from->names->size());
    some[*from->names->find("a")] = true;
    const std::vector<bool> none(from->names->size());
    std::vector<std::size_t> counts;
    for (const reduction_set saved : {reduction_set::all(), reduction_set{reduction::max}, reduction_set{}}) {
        for (const std::vector<bool>* wanted :
             {static_cast<const std::vector<bool>*>(nullptr), &std::as_const(some), &none}) {
            file_scanner scanner{*run.state(), *from, saved, wanted};
            noting_source source{bytes.view()};
            scanner.scan(held, smdebug::detail::trial_state::event_key(*from, held), &source, nullptr,
                         [](const smdebug::detail::scanned_tensor&) {});
            std::vector<byte_range> told;
            std::vector<std::size_t> ends;
            scanner.each_record(
                held, [&](byte_range record) { told.push_back(record); }, [&] { ends.push_back(told.size()); });
            CHECK(told == source.asked);
            CHECK((ends.empty() ? told.empty() : ends.back() == told.size()));
            counts.push_back(told.size());
        }
    }
    CHECK(counts == std::vector<std::size_t>{5, 2, 0, 3, 1, 0, 2, 1, 0});
}
