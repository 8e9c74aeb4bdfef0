#include <smdebug/report/reported_run.hpp>

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace report::detail;
using texts = std::vector<std::string>;

namespace {

constexpr auto most_max = static_cast<std::size_t>(series_column::most_max);

/// Steps of two workers, one tensor and one scalar each; every fifth step is an evaluation, without the tensor.
memory_storage run_of(int steps) {
    memory_storage store{"run"};
    run_builder builder{store};
    builder.collections({"worker_0", "worker_1"}, {{"losses", {"loss"}}, {"weights", {"weight"}}, {"none", {"other"}}});
    for (int i = 0; i < steps; ++i) {
        const bool evaluates = i % 5 == 4;
        for (const char* const worker : {"worker_0", "worker_1"}) {
            const float value = static_cast<float>(i) + (worker[7] == '1' ? 0.5F : 0.0F);
            written_step step{.step = i,
                              .tensors = {tensor_of<float>("loss", {value})},
                              .mode = evaluates ? mode::eval : mode::train,
                              .worker = worker};
            if (!evaluates) {
                step.tensors.push_back(tensor_of<float>("weight", {0, value, -value, 1}, {2, 2}));
            }
            builder.step(step);
        }
    }
    builder.end();
    return store;
}

/// Two steps of the tensors t100 to t139.
memory_storage many_tensors() {
    memory_storage store{"run"};
    run_builder builder{store};
    builder.collections();
    for (const step_number step : {0, 1}) {
        written_step many{.step = step};
        for (int i = 0; i < 40; ++i) {
            many.tensors.push_back(tensor_of<float>("t" + std::to_string(100 + i), {1, 2}));
        }
        builder.step(many);
    }
    builder.end();
    return store;
}

const tensor_series* series_of(const reported_run& run, const std::string& tensor, const std::string& worker,
                               std::size_t axis) {
    for (const tensor_series& each : run.series.all()) {
        if (run.series.tensors()[each.tensor] == tensor && run.series.workers()[each.worker] == worker &&
            each.axis == axis) {
            return &each;
        }
    }
    return nullptr;
}

}  // namespace

TEST_CASE("gather_run: every step of every tensor and worker, where there is room") {
    for (const unsigned threads : {1U, 3U}) {
        const memory_trial run{run_of(20)};
        const reported_run all = gather_run(run, {.how = {.threads = threads}});
        CHECK(all.state == job_state::ended);
        CHECK(all.num_workers == 2);
        CHECK(all.tensors == 2);
        CHECK(all.values == 2 * (20 + 16));
        CHECK(all.bytes == 2 * (20 * 4 + 16 * 16));
        CHECK(all.damaged == 0);
        REQUIRE(all.axes.all().size() == 2);
        CHECK(all.axes.all()[0].buckets.size() == 16);
        CHECK(all.axes.all()[1].buckets.size() == 4);
        CHECK(all.series.all().size() == 2 * 3);
        const tensor_series* const weight = series_of(all, "weight", "worker_1", 0);
        REQUIRE(weight != nullptr);
        CHECK_FALSE(weight->scalar);
        CHECK(weight->rows[9][most_max] == 11.5F);  // the tenth step of the training is step 11
        CHECK(weight->distributions.size() == 16);
        CHECK(series_of(all, "weight", "worker_1", 1) == nullptr);
        const tensor_series* const loss = series_of(all, "loss", "worker_0", 1);
        REQUIRE(loss != nullptr);
        CHECK(loss->scalar);
        CHECK(loss->rows[3][most_max] == 19);
        const std::size_t place = all.series.tensor_place("weight");
        CHECK(all.facts[place].type == dtype::float32);
        CHECK(all.facts[place].shape == shape_type{2, 2});
        CHECK_FALSE(all.facts[place].changes);
        REQUIRE(all.collections.size() == 3);
        CHECK(all.collections[0].first == "losses");
        CHECK(all.collections[0].second == texts{"loss"});
    }
}

TEST_CASE("gather_run: in little room steps share buckets, and the largest of each tensor stays") {
    const memory_trial run{run_of(1000)};
    const reported_run fine = gather_run(run, {});
    const reported_run coarse = gather_run(run, {.most_bytes = 20'000});
    CHECK(coarse.axes.all()[0].buckets.size() < 200);
    CHECK(coarse.values == fine.values);
    for (const tensor_series& each : fine.series.all()) {
        const tensor_series* const other =
            series_of(coarse, fine.series.tensors()[each.tensor], fine.series.workers()[each.worker], each.axis);
        REQUIRE(other != nullptr);
        const auto largest = [](const tensor_series& of) {
            double most = 0;
            for (const series_row& row : of.rows) {
                most = std::max(most, row[most_max]);
            }
            return most;
        };
        CHECK(largest(each) == largest(*other));
        CHECK(other->distributions.size() <= 64);
    }
    CHECK(series_of(fine, "weight", "worker_0", 0)->distributions.size() > 10);
}

TEST_CASE("gather_run: a selection") {
    const memory_trial run{run_of(20)};
    const reported_run some = gather_run(run, {.which = {.regex = "weight", .range = {5, 9}}});
    CHECK(some.series.tensors() == texts{"weight"});
    CHECK(some.axes.all()[0].buckets.front().first == 5);
    CHECK(some.axes.all()[0].buckets.back().last == 8);
    CHECK(some.values == 2 * 4);
}

TEST_CASE("gather_run: what cannot be read is named once, the rest is there") {
    memory_storage store = run_of(10);
    store.remove(smdebug::detail::locations::event_key(3, "worker_1"));
    const std::string cut = smdebug::detail::locations::event_key(6, "worker_0");
    const auto stored = store.read(cut);
    std::vector<std::byte> bytes{stored.view().begin(), stored.view().end()};
    bytes[bytes.size() - 5] ^= std::byte{0xFF};
    store.write(cut, std::span{bytes}.first(bytes.size() - 30));
    const memory_trial run{store, {.missing_event_file_retry_limit = 0}};
    const reported_run all = gather_run(run, {});
    CHECK(all.damaged == 2);
    REQUIRE(all.damage.size() == 2);
    CHECK(all.damage[0].find("is missing") != std::string::npos);
    CHECK(all.damage[1].find("weight") != std::string::npos);
    CHECK(all.values == 2 * (10 + 8) - 3);
}

TEST_CASE("gather_run: a saved reduction that cannot be read is named, and no other number takes its place") {
    memory_storage store{"run"};
    run_builder builder{store};
    const written_step step{
        .step = 0,
        .tensors = {tensor_of<float>("weight", {1, 3}), saved("mean", "weight", 7), saved("max", "weight", 9)},
        .footers = record::footer_kind::checksum};
    builder.collections().step(step).end();
    event_bytes events = encode_events(step);
    events.bytes[events.places[1].offset + events.places[1].length - 5] ^= std::byte{1};
    store.write(smdebug::detail::locations::event_key(0, "worker_0"), events.bytes);
    const reported_run all = gather_run(memory_trial{store}, {});
    CHECK(all.values == 1);
    CHECK(all.damaged == 1);
    REQUIRE(all.damage.size() == 1);
    CHECK_MESSAGE(all.damage[0].find("weight") != std::string::npos, all.damage[0]);
    const tensor_series* const weight = series_of(all, "weight", "worker_0", 0);
    REQUIRE(weight != nullptr);
    CHECK(is_absent(weight->rows[0][static_cast<std::size_t>(series_column::most_mean)]));
    CHECK(weight->rows[0][most_max] == 9);
    CHECK(weight->rows[0][static_cast<std::size_t>(series_column::least_min)] == 1);
}

TEST_CASE("gather_run: tensors that there is no room for are counted") {
    const reported_run all = gather_run(memory_trial{many_tensors()}, {.most_bytes = 2'000});
    CHECK(all.tensors == 40);
    CHECK(all.values == 80);
    CHECK(all.bytes == 80 * 8);
    CHECK(all.series.left_out() > 10);
    REQUIRE(all.series.tensors().size() + all.series.left_out() == 40);
    CHECK(all.series.tensors().front() == "t100");
    CHECK(all.series.all().size() == all.series.tensors().size());
    CHECK(all.facts.size() == all.series.tensors().size());
    CHECK(series_of(all, "t100", "worker_0", 0)->rows.size() == 2);
    CHECK(series_of(all, "t139", "worker_0", 0) == nullptr);
}

TEST_CASE("gather_run: tensors with a finding are the last to be left out, however little room there is") {
    const memory_trial run{many_tensors()};
    rule_result verdict;
    for (const char* const name : {"t139", "t100", "", "of no tensor"}) {
        verdict.outcome.findings.push_back({.tensor = name, .worker = "worker_0", .step = 1});
    }
    const std::size_t before = gather_run(run, {.most_bytes = 2'000}).series.tensors().size();
    const reported_run all = gather_run(run, {.most_bytes = 2'000}, {verdict});
    CHECK(all.series.tensors().size() == before);
    CHECK(series_of(all, "t100", "worker_0", 0) != nullptr);
    CHECK(series_of(all, "t101", "worker_0", 0) != nullptr);
    CHECK(series_of(all, "t139", "worker_0", 0) != nullptr);
    CHECK(gather_run(run, {.most_bytes = 1}).series.tensors() == texts{"t100"});
    CHECK(gather_run(run, {.most_bytes = 1}, {verdict}).series.tensors() == texts{"t139"});
    verdict.outcome.findings.clear();
    for (int i = 0; i < 40; ++i) {
        verdict.outcome.findings.push_back({.tensor = "t" + std::to_string(139 - i), .worker = "worker_0", .step = 1});
    }
    CHECK(gather_run(run, {.most_bytes = 2'000}, {verdict}).series.tensors().size() == before);
}

TEST_CASE("gather_run: a tensor of which only reductions were saved is no number; what is unknown has no value") {
    memory_storage store{"run"};
    run_builder builder{store};
    builder.collections();
    for (const step_number step : {0, 1}) {
        builder.step({.step = step,
                      .tensors = {saved("min", "some", -3), saved("max", "some", 5), saved("mean", "some", 0.5F),
                                  saved("l2", "one", 7), tensor_of<float>("loss", {2}), tensor_of<float>("none", {})}});
    }
    builder.end();
    const reported_run all = gather_run(memory_trial{store}, {});
    const auto value = [&](const char* name, series_column column) {
        return series_of(all, name, "worker_0", 0)->rows[1][static_cast<std::size_t>(column)];
    };
    CHECK_FALSE(series_of(all, "some", "worker_0", 0)->scalar);
    CHECK(value("some", series_column::least_min) == -3);
    CHECK(value("some", series_column::most_max) == 5);
    CHECK(value("some", series_column::most_mean) == 0.5);
    CHECK(is_absent(value("some", series_column::most_std)));
    CHECK_FALSE(series_of(all, "one", "worker_0", 0)->scalar);
    CHECK(value("one", series_column::most_l2) == 7);
    CHECK(is_absent(value("one", series_column::most_mean)));
    CHECK(series_of(all, "loss", "worker_0", 0)->scalar);
    CHECK_FALSE(series_of(all, "none", "worker_0", 0)->scalar);
    CHECK(is_absent(value("none", series_column::most_zeros)));
    const auto facts = [&](const char* name) { return all.facts[all.series.tensor_place(name)]; };
    CHECK_FALSE(facts("some").type);
    CHECK_FALSE(facts("some").shape);
    CHECK_FALSE(facts("some").changes);
    CHECK(facts("loss").type == dtype::float32);
    CHECK(facts("none").shape == shape_type{0});
    CHECK(all.bytes == 8);
}

TEST_CASE("gather_run: a run that grows, and one without steps") {
    memory_storage store{"young"};
    run_builder{store}.collections();
    const reported_run none = gather_run(memory_trial{store}, {});
    CHECK(none.state == job_state::running);
    CHECK(none.axes.all().empty());
    CHECK(none.series.all().empty());
    CHECK(none.name == "memory:young");
}

TEST_CASE("room_for: what gives way where there is less room") {
    const room_of_run ample = room_for(10'000, 200, 200, 1, std::size_t{10} << 20U);
    CHECK(ample.buckets > 900);
    CHECK(ample.distributions == 64);
    CHECK_FALSE(ample.merge_workers);
    CHECK(ample.tensors == 200);
    const room_of_run few_steps = room_for(50, 200, 200, 1, std::size_t{10} << 20U);
    CHECK(few_steps.buckets == 50);
    const room_of_run many_workers = room_for(10'000, 2'000, 2'000, 64, std::size_t{10} << 20U);
    CHECK(many_workers.merge_workers);
    CHECK(many_workers.tensors == 2'000);
    const room_of_run many_tensors = room_for(10'000, 100'000, 100'000, 2, std::size_t{10} << 20U);
    CHECK(many_tensors.tensors < 10'000);
    CHECK(many_tensors.tensors > 7'000);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{43}, std::size_t{1000}}) {
        const room_of_run least = room_for(10'000, 2'000, 2'000, 64, bytes);
        CHECK(least.buckets <= 24);
        CHECK(least.tensors == 1);
    }
    const room_of_run none = room_for(0, 0, 0, 1, 1000);
    CHECK(none.buckets == 1);
}
