#include <smdebug/trial/diff_runs.hpp>

#include "support/remote_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "trial/diff_runs_fixture.hpp"
#include "wire/messages.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace locations = smdebug::detail::locations;

namespace {

// A float32 tensor with a long trailing repeat, as TensorFlow writes it.
memory_storage constant_run(const std::vector<float>& values, std::size_t count) {
    using writer = smdebug::detail::wire::field_writer;
    const auto extent = messages::written([&](writer& dim) { dim.write_varint(1, count); });
    const auto shape = messages::written([&](writer& w) { w.write_bytes(2, extent); });
    const auto tensor = messages::written([&](writer& w) {
        w.write_varint(1, 1);
        w.write_bytes(2, shape);
        w.write_bytes(5, std::as_bytes(std::span{values}));
    });
    const auto value = messages::written([&](writer& w) {
        w.write_text(1, "c");
        w.write_bytes(8, tensor);
    });
    const auto summary = messages::written([&](writer& w) { w.write_bytes(1, value); });
    const auto event = messages::written([&](writer& w) { w.write_bytes(5, summary); });
    std::vector<std::byte> bytes;
    record::append_record(bytes, event, record::footer_kind::checksum);
    const written_step step{.tensors = {{.name = "c", .shape = {count}, .content = {}}}};
    memory_storage store;
    run_builder{store}.collections().step(step).end();
    const std::string event_file = locations::event_key(0, step.worker);
    store.write(event_file, bytes);
    store.write(locations::index_key(0, step.worker), as_bytes(index_text(step, {{0, bytes.size()}}, event_file)));
    return store;
}

void flip(memory_storage& store, const std::string& key, std::size_t place) {
    const byte_buffer old = store.read(key);
    std::vector<std::byte> bytes(old.view().begin(), old.view().end());
    bytes[place] ^= std::byte{1};
    store.write(key, bytes);
}

}  // namespace

TEST_CASE("diff_runs: unreadable data are reported and counted separately, and the rest is compared") {
    const std::vector<float> many(20'000, 1);  // large enough that the checksum is computed while values are compared
    const auto step_of = [&](step_number step) {
        return written_step{
            .step = step,
            .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("large", many),
                        tensor_of<float>("smdebug/reductions/mean/r", {1}, {}), tensor_of<float>("z", {1})},
            .footers = record::footer_kind::checksum};
    };
    const memory_storage whole = run_of({step_of(0), step_of(1)});
    memory_storage damaged = run_of({step_of(0), step_of(1)});
    const std::string key = locations::event_key(0, "worker_0");
    const std::vector<byte_range> places = encode_events(step_of(0)).places;
    for (const std::size_t tensor : {0U, 1U, 2U}) {
        flip(damaged, key, places[tensor].offset + places[tensor].length - 6);
    }
    damaged.remove(locations::event_key(1, "worker_0"));
    const diff_answer got = diff(memory_trial{whole}, memory_trial{damaged});
    REQUIRE(got.lines.size() == 4);
    CHECK(got.lines[0].starts_with("0 worker_0 a unreadable 2: in the second run: "));
    CHECK(got.lines[0].find("checksum") != std::string::npos);
    CHECK(got.lines[1].starts_with("0 worker_0 large unreadable 2: in the second run: "));
    CHECK(got.lines[2].starts_with("0 worker_0 r unreadable 2: in the second run: "));
    CHECK(got.lines[3] ==
          "1 worker_0 unreadable 2: " + locations::event_key(1, "worker_0") + " of the second run is missing");
    CHECK(got.summary.unreadable == 4);
    CHECK(got.summary.differences == 0);
    CHECK(got.summary.compared == 1);
    CHECK_FALSE(got.summary.same());
    CHECK(diff(memory_trial{damaged}, memory_trial{damaged}).summary.unreadable == 8);
}

TEST_CASE("diff_runs: tensors with a long trailing repeat that is not stored in the files") {
    const std::size_t count = 100'001;
    const auto against = [&](const std::vector<float>& mine, const std::vector<float>& yours) {
        return diff(memory_trial{constant_run(mine, count)}, memory_trial{constant_run(yours, count)});
    };
    CHECK(against({0.5F}, {0.5F}).summary.same());
    CHECK(against({0.5F}, {0.5F}).summary.bytes == 4 * count);
    const diff_answer all = against({0.5F}, {1});
    CHECK(all.all.at(0).differing == count);
    CHECK(all.all.at(0).elements == count);
    CHECK(all.all.at(0).largest == 0.5);
    std::vector<float> longer(10'000, 0.5F);
    CHECK(against({0.5F}, longer).summary.same());
    longer[9'000] = 2;
    CHECK(against({0.5F}, longer).all.at(0).differing == 1);
    CHECK(against(longer, {0.5F}).all.at(0).first->place == 9'000);
    longer.back() = 3;
    CHECK(against(longer, {0.5F}).all.at(0).differing == count - 10'000 + 2);
    std::vector<float> plain(count, 0.5F);
    plain[77] = 1;
    const memory_trial written{run_of({{.tensors = {tensor_of<float>("c", plain)}}})};
    const diff_answer other = diff(memory_trial{constant_run({0.5F}, count)}, written);
    CHECK(other.all.at(0).differing == 1);
    CHECK(other.all.at(0).elements == count);
    CHECK(diff(written, memory_trial{constant_run({0.5F}, count)}).all.at(0).first->place == 77);
}

TEST_CASE(
    "diff_runs: large tensors in files, piece by piece, and from storages that read otherwise: the same answers") {
    std::vector<float> large(700'000);
    for (std::size_t i = 0; i < large.size(); ++i) {
        large[i] = static_cast<float>(i * 7919 % 1009) - 400;
    }
    std::vector<float> changed = large;
    changed[0] += 1;
    changed[123'456] += 2;
    changed.back() += 3;
    const auto step_of = [&](step_number step, const std::vector<float>& values, record::footer_kind footers) {
        return written_step{
            .step = step,
            .tensors = {tensor_of<float>("small", {1, 2}), tensor_of<float>("large", values),
                        tensor_of<float>("shape", values, {values.size() / 2, 2}),
                        tensor_of<float>("middle", std::vector<float>(values.begin(), values.begin() + 50'000))},
            .footers = footers};
    };
    constexpr auto checksum = record::footer_kind::checksum;
    const std::vector<written_step> mine{step_of(0, large, checksum), step_of(1, large, checksum),
                                         step_of(2, large, record::footer_kind::package_constant)};
    std::vector<written_step> yours{step_of(0, large, checksum), step_of(1, changed, checksum),
                                    step_of(2, large, record::footer_kind::package_constant)};
    yours[1].tensors[2].shape = {2, large.size() / 2};
    yours[2].tensors.push_back(tensor_of<double>("large", std::vector<double>(large.size()), {large.size()}));
    yours[2].tensors.erase(yours[2].tensors.begin() + 1);
    memory_storage first = run_of(mine);
    memory_storage second = run_of(yours);
    flip(second, locations::event_key(0, "worker_0"), 3'000'000);  // in the middle of "large" or "shape"
    const diff_answer wanted = diff(memory_trial{first}, memory_trial{second});
    REQUIRE(wanted.lines.size() == 5);
    CHECK(wanted.summary.unreadable == 1);
    CHECK(wanted.lines[1] == "1 worker_0 large values: 3 of 700000 elements differ");
    CHECK(wanted.all[1].first->place == 0);
    CHECK(wanted.all[1].farthest->place == 699'999);
    CHECK(wanted.lines[2] ==
          "1 worker_0 shape shape: its shape is (350000x2) in the first run, (2x350000) in the second");
    CHECK(wanted.lines[3] == "1 worker_0 middle values: 1 of 50000 elements differ");
    CHECK(wanted.lines[4] == "2 worker_0 large dtype: it holds float32 in the first run, float64 in the second");

    const temporary_folder place;
    const temporary_folder other_place;
    for (const auto& [from, to] : {std::pair{&first, &place}, std::pair{&second, &other_place}}) {
        local_storage store{to->path()};
        for (const std::string& key : from->list("", "")) {
            store.write(key, from->read(key).view());
        }
    }
    const auto same_as_wanted = [&](const diff_answer& got) {
        CHECK(got.lines == wanted.lines);
        CHECK(got.summary.bytes == wanted.summary.bytes);
        CHECK(got.summary.compared == wanted.summary.compared);
    };
    same_as_wanted(diff(create_trial(place.path()), create_trial(other_place.path())));
    same_as_wanted(diff(local_trial{local_storage{place.path()}}, memory_trial{second}));
    same_as_wanted(diff(basic_trial{remote_storage{first}}, basic_trial{remote_storage{second}}));
}
