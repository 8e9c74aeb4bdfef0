#include <program/first_value_reader.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

using found_values = std::map<std::string, std::pair<dtype, shape_type>>;

template <class Trial>
found_values first_of(const Trial& run) {
    const auto from = catalog_of(run);
    found_values found;
    cli::detail::first_value_reader{*state_of(run), *from}.read([&](name_id id, const decoded_tensor& value) {
        CHECK(found.emplace((*from->names)[id], std::pair{value.type, value.shape}).second);
    });
    return found;
}

// The same, read tensor by tensor.
template <class Trial>
found_values one_by_one(const Trial& run) {
    found_values found;
    const auto from = catalog_of(run);
    for (const std::string& name : run.tensor_names()) {
        for (const catalog::file* held : from->files_in({})) {
            if (const auto value = run.tensor(name).find_value(held->step, {.worker = from->workers[held->worker]})) {
                found.emplace(name, std::pair{value->type(), value->shape()});
                break;
            }
        }
    }
    return found;
}

written_step step_of(std::size_t tensors) {
    written_step step;
    for (std::size_t i = 0; i < tensors; ++i) {
        step.tensors.push_back(tensor_of<float>("t" + std::to_string(i), std::vector<float>(i % 3 + 1)));
    }
    return step;
}

memory_storage one_step(std::size_t tensors) {
    memory_storage store;
    run_builder{store}.collections().step(step_of(tensors)).end();
    return store;
}

const std::string first_file = smdebug::detail::locations::event_key(0, "worker_0");

}  // namespace

TEST_CASE("first_value_reader: the tensors of an event file come with one read, however many there are") {
    for (const std::size_t tensors : {std::size_t{1}, std::size_t{1000}}) {
        const counting_storage<> store{one_step(tensors)};
        const basic_trial<counting_storage<>> run{store};
        static_cast<void>(store.calls());
        CHECK(first_of(run).size() == tensors);
        CHECK(store.calls() == texts{"ranges " + first_file});
        const plain_counting_storage plain{one_step(tensors)};
        const basic_trial<plain_counting_storage> one{plain};
        static_cast<void>(plain.calls());
        CHECK(first_of(one).size() == tensors);
        CHECK(plain.calls() == texts{"part " + first_file});
    }
}

TEST_CASE("first_value_reader: records far apart are read without the bytes between them") {
    memory_storage store;
    written_step step = step_of(2);
    step.tensors.insert(step.tensors.begin() + 1, tensor_of<float>("other", std::vector<float>(5000)));
    const event_bytes events = encode_events(step);
    written_step named = step_of(2);
    store.write(first_file, events.bytes);
    run_builder{store}.collections().put(smdebug::detail::locations::index_key(0, "worker_0"),
                                         index_text(named, {events.places[0], events.places[2]}, first_file));
    const counting_storage<> counted{store};
    const basic_trial<counting_storage<>> run{counted};
    static_cast<void>(counted.calls());
    const auto first = first_of(run);
    CHECK(counted.calls().front() == "ranges " + first_file + " " + first_file);
    CHECK(first == one_by_one(run));
}

TEST_CASE("first_value_reader: a missing event file is skipped, without waiting") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(step_of(2));
    written_step later = step_of(3);
    later.step = 1;
    build.step(later);
    store.remove(first_file);
    const memory_trial run{store, {.missing_event_file_retry_limit = 1'000'000}};
    CHECK(first_of(run).size() == 3);
}

namespace {

// A run in which only one step's event file exists.
memory_storage all_gone_but(step_number there, step_number steps) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number number = 0; number < steps; ++number) {
        written_step step = step_of(3);
        step.step = number;
        build.step(step);
        if (number != there) {
            store.remove(smdebug::detail::locations::event_key(number, "worker_0"));
        }
    }
    build.end();
    return store;
}

}  // namespace

TEST_CASE("first_value_reader: in a local storage each missing event file is requested once") {
    for (const step_number there : {-1, 0, 1, 25, 39}) {
        CAPTURE(there);
        const plain_counting_storage store{all_gone_but(there, 40)};
        const basic_trial<plain_counting_storage> run{store};
        static_cast<void>(store.calls());
        const auto from = catalog_of(run);
        cli::detail::first_value_reader values{*state_of(run), *from};
        std::size_t found = 0;
        values.read([&](name_id, const decoded_tensor&) { ++found; });
        CHECK(found == (there < 0 ? 0 : 3));
        CHECK(values.unread() == 3 - found);
        CHECK(values.missing_files() == static_cast<std::size_t>(there < 0 ? 40 : there));
        CHECK(values.first_missing() == (there == 0 ? "" : first_file));
        CHECK(store.calls().size() <= values.missing_files() + 3);
    }
}

TEST_CASE("first_value_reader: if a remote storage lacks several event files the existing ones are listed, once") {
    for (const step_number there : {-1, 3, 25}) {
        CAPTURE(there);
        const counting_storage<> store{all_gone_but(there, 40)};
        const basic_trial<counting_storage<>> run{store};
        static_cast<void>(store.calls());
        CHECK(first_of(run).size() == (there < 0 ? 0 : 3));
        const texts calls = store.calls();
        CHECK(std::count(calls.begin(), calls.end(), "list events/") == (there == 3 ? 0 : 1));
        CHECK(calls.size() <= 8 + 2);
    }
}

TEST_CASE("first_value_reader: neighbours of unreadable records are read without them") {
    const counting_storage<> store{one_step(5)};
    const basic_trial<counting_storage<>> run{store};
    const found_values wanted = first_of(run);
    std::size_t parts = 0;
    store.before_each([&](const std::string& call) {
        if (call.starts_with("ranges ") || (call.starts_with("part ") && ++parts == 3)) {
            throw unavailable("a bad sector");
        }
    });
    const found_values got = first_of(run);
    CHECK(got.size() == 4);
    for (const auto& [name, value] : got) {
        CHECK(wanted.at(name) == value);
    }
}

TEST_CASE("first_value_reader: for any damage, finds the same as reading tensor by tensor") {
    std::mt19937 random{7};
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        memory_storage store;
        run_builder build{store};
        build.collections({"worker_0", "worker_1"});
        for (step_number number = 0; number < 4; ++number) {
            for (const char* worker : {"worker_0", "worker_1"}) {
                written_step step{.step = number, .worker = worker};
                for (std::size_t i = any(6); i-- > 0;) {  // some names twice
                    step.tensors.push_back(
                        tensor_of<float>((any(5) == 0 ? "smdebug/reductions/mean/t" : "t") + std::to_string(any(6)),
                                         std::vector<float>(any(4) + 1)));
                }
                if (any(3) == 0) {
                    step.shapes.push_back({"t" + std::to_string(any(8)), "o", {7}});
                }
                build.step(step);
                const std::string events = smdebug::detail::locations::event_key(number, worker);
                auto bytes = store.read(events);
                std::vector<std::byte> changed(bytes.view().begin(), bytes.view().end());
                for (std::size_t hits = any(4); hits-- > 0 && !changed.empty();) {
                    changed[any(changed.size())] ^= std::byte{0x40};
                }
                changed.resize(any(4) == 0 ? any(changed.size() + 1) : changed.size());
                store.write(events, changed);
                if (any(8) == 0) {
                    store.remove(events);
                }
            }
        }
        build.end();
        const memory_trial run{store};
        CHECK(first_of(run) == one_by_one(run));
    }
}
