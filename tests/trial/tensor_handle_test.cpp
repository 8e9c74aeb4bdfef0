#include <smdebug/trial/tensor_handle.hpp>

#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using steps_list = std::vector<step_number>;

namespace {

memory_storage sample(bool ended = true) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number step = 0; step < 6; step += 2) {
        const auto value = static_cast<float>(step);
        for (const std::string worker : {"worker_1", "worker_0"}) {
            build.step({.step = step,
                        .tensors = {tensor_of<float>("w", {value, -2, 3, worker == "worker_0" ? 4.F : 5.F}, {2, 2}),
                                    tensor_of<std::int32_t>("ints", {1, -2, 3}),
                                    tensor_of<std::complex<float>>("complex", {{3, 4}}),
                                    tensor_of<float>("smdebug/reductions/max/reduced", {value + 10}),
                                    tensor_of<double>("smdebug/reductions/abs_mean/reduced", {0.25})},
                        .mode_step = step / 2,
                        .worker = worker,
                        .shapes = {{"shaped", "framework/shaped:0", {7, 0, 2}}}});
        }
    }
    if (ended) {
        build.end();
    }
    return store;
}

template <class Error, class Call>
void throws_where_find_gives(const auto& found, lookup_failure_kind why, Call&& call) {
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().why == why);
    const auto thrown = smdebug_test::caught<Error>(call);
    CHECK(found.error().message() == thrown.message());
    CHECK((thrown.tensor().empty() || found.error().tensor == thrown.tensor()));
    CHECK(found.error().step == thrown.step());
}

}  // namespace

TEST_CASE("tensor: values as xtensor expressions of their dtype, by step, mode step and worker") {
    const memory_trial run{sample()};
    const auto w = run.tensor("w");
    const auto value = w.value<float>(2);
    CHECK(value.dimension() == 2);
    CHECK(value(0, 0) == 2);
    CHECK(value(1, 1) == 4);  // the first worker by name, although the other one was written first
    CHECK(w.value<float>(2, {.worker = "worker_1"})(1, 1) == 5);
    CHECK(w.value<float>(2, {.mode = mode::train})(0, 0) == 4);  // mode step 2 is global step 4
    CHECK(w.value(2).type() == dtype::float32);
    CHECK(w.value(2).size() == 4);
    CHECK(w.values().size() == 3);
    CHECK(w.values({.mode = mode::train}).rbegin()->first == 2);
}

TEST_CASE("tensor: a value outlives its trial, and its storage") {
    auto store = std::make_unique<memory_storage>(sample());
    auto run = std::make_unique<memory_trial>(*store);
    const auto handle = std::make_unique<memory_trial::tensor_type>(run->tensor("w"));
    run.reset();
    const auto value = handle->value<float>(4);
    store->remove(smdebug::detail::locations::event_key(4, "worker_0"));
    store.reset();
    CHECK(value(0, 1) == -2);
}

TEST_CASE("tensor: another dtype is an error that says what to do, unless the call requests conversion") {
    const memory_trial run{sample()};
    const auto ints = run.tensor("ints");
    throws_where_find_gives<unsupported>(ints.find_value<float>(0), lookup_failure_kind::wrong_dtype,
                                         [&] { return ints.value<float>(0); });
    const unsupported thrown = caught<unsupported>([&] { return ints.value<float>(0); });
    CHECK(thrown.code() == error_code::wrong_dtype);
    CHECK(std::string{thrown.what()}.find("int32") != std::string::npos);
    CHECK(std::string{thrown.what()}.find(".convert = true") != std::string::npos);
    CHECK(thrown.tensor() == "ints");
    CHECK(ints.value<double>(0, {.convert = true})(1) == -2);
    CHECK(thrown_code([&] { static_cast<void>(ints.value<std::uint8_t>(0, {.convert = true})); }) ==
          error_code::wrong_dtype);
    CHECK(thrown_code([&] { static_cast<void>(run.tensor("complex").value<float>(0, {.convert = true})); }) ==
          error_code::wrong_dtype);
}

TEST_CASE("tensor: the thrown error and the returned absence agree") {
    const memory_trial ended{sample()};
    const memory_trial running{sample(false)};
    const auto w = ended.tensor("w");
    throws_where_find_gives<step_unavailable>(w.find_value(3), lookup_failure_kind::step_not_saved,
                                              [&] { return w.value(3); });
    throws_where_find_gives<step_unavailable>(w.find_value(99), lookup_failure_kind::step_not_saved,
                                              [&] { return w.value(99); });
    const auto live = running.tensor("w");
    throws_where_find_gives<step_not_yet_available>(live.find_value(99), lookup_failure_kind::step_not_yet_available,
                                                    [&] { return live.value(99); });
    throws_where_find_gives<invalid_worker>(w.find_value(2, {.worker = "absent"}), lookup_failure_kind::no_such_worker,
                                            [&] { return w.value(2, {.worker = "absent"}); });
    throws_where_find_gives<invalid_worker>(w.find_value(2, {.worker = ""}), lookup_failure_kind::no_such_worker,
                                            [&] { return w.value(2, {.worker = ""}); });
    const auto reduced = ended.tensor("reduced");
    throws_where_find_gives<tensor_unavailable_for_step>(reduced.find_value(2), lookup_failure_kind::tensor_not_saved,
                                                         [&] { return reduced.value(2); });
    CHECK(failure_of(reduced.find_value(2)).has_reductions);
    throws_where_find_gives<not_found>(reduced.find_shape(2), lookup_failure_kind::shape_not_saved,
                                       [&] { return reduced.shape(2); });
    throws_where_find_gives<tensor_unavailable_for_step>(reduced.find_reduction(2, reduction::min),
                                                         lookup_failure_kind::tensor_not_saved,
                                                         [&] { return reduced.reduction_value(2, reduction::min); });
    CHECK_THROWS_AS(static_cast<void>(w.workers(3)), tensor_unavailable_for_step);
}

TEST_CASE("tensor: saved reductions are preferred, others are computed") {
    const memory_trial run{sample()};
    const auto reduced = run.tensor("reduced");
    CHECK(reduced.reduction_value(4, reduction::max) == 14);
    CHECK(reduced.reduction_value(4, "mean", {.abs = true}) == 0.25);
    const auto saved = reduced.saved_reduction_values(4);
    REQUIRE(saved.size() == 2);
    CHECK(saved.at({reduction::max, false}) == 14);
    CHECK(saved.at({reduction::mean, true}) == 0.25);
    const auto w = run.tensor("w");
    CHECK(w.reduction_value(0, reduction::min) == -2);
    CHECK(w.reduction_value(0, reduction::l1, {.worker = "worker_1"}) == 10);
    CHECK(w.saved_reduction_values(0).empty());
    const auto all = w.find_computed(0, reduction_set::all());
    REQUIRE(all.has_value());
    CHECK((*all)(reduction::sum) == 5);
    CHECK(all->zeros == 1);
}

TEST_CASE("tensor: an unknown reduction is a value_error before any other error") {
    const memory_trial run{sample()};
    for (const char* name : {"median", "var", "", "abs_median", "abs_nan", "MEAN", "l3"}) {
        CHECK_THROWS_AS(static_cast<void>(run.tensor("w").reduction_value(99, name)), value_error);
    }
}

TEST_CASE("tensor: reductions and counts by the names that stats takes") {
    const memory_trial run{sample()};
    const auto tensor = run.tensor("w");
    CHECK(tensor.reduction_value(2, "abs_mean") == tensor.reduction_value(2, reduction::mean, {.abs = true}));
    CHECK(tensor.reduction_value(2, "abs_mean", {.abs = true}) == tensor.reduction_value(2, "mean", {.abs = true}));
    CHECK(*tensor.find_reduction(2, "abs_l1", {.worker = "worker_1"}) == 12);
    CHECK(tensor.reduction_value(0, "zeros") == 1);
    CHECK(*tensor.find_reduction(1, "nan", {.mode = mode::train}) == 0);
    CHECK(run.tensor("reduced").reduction_value(0, "abs_mean") == 0.25);
    throws_where_find_gives<tensor_unavailable_for_step>(
        run.tensor("reduced").find_reduction(0, "nan"), lookup_failure_kind::tensor_not_saved,
        [&] { return run.tensor("reduced").reduction_value(0, "nan"); });
    CHECK_THROWS_WITH_AS(static_cast<void>(tensor.reduction_value(0, "abs_meen")),
                         "SMDebugValueError: Invalid reduction type abs_meen. Did you mean abs_mean or abs_min?",
                         value_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(tensor.find_reduction(0, "quartile")),
                         doctest::Contains("Invalid reduction type quartile. There are: min, max, mean,"), value_error);
}

TEST_CASE("tensor: a worker that the run does not have differs from one that has not saved the tensor") {
    const memory_trial run{sample()};
    const auto message_of = [&](const std::string& worker) {
        return failure_of(run.tensor("w").find_value(0, {.worker = worker})).message();
    };
    CHECK(message_of("worker0") == "Invalid Worker: worker0. Did you mean worker_0 or worker_1?");
    CHECK(message_of("gpu") == "Invalid Worker: gpu. There are: worker_0, worker_1");
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {1})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("b", {1})}, .worker = "worker_1"});
    build.end();
    CHECK(failure_of(memory_trial{store}.tensor("a").find_value(0, {.worker = "worker_1"})).message() ==
          "Invalid Worker: worker_1 has not saved it at this step.");
}

TEST_CASE("tensor: complex tensors have the abs forms and the norms only") {
    const memory_trial run{sample()};
    const auto complex = run.tensor("complex");
    CHECK(complex.reduction_value(0, reduction::mean, {.abs = true}) == 5);
    CHECK(complex.reduction_value(0, reduction::l2) == 5);
    CHECK(thrown_code([&] { static_cast<void>(complex.reduction_value(0, reduction::mean)); }) ==
          error_code::wrong_dtype);
}

TEST_CASE("tensor: shapes, saved or of the values, and the framework's name") {
    const memory_trial run{sample()};
    const auto shaped = run.tensor("shaped");
    CHECK(shaped.shape(0) == shape_type{7, 0, 2});
    CHECK(shaped.original_name() == "framework/shaped:0");
    CHECK_THROWS_AS(static_cast<void>(shaped.value(0)), tensor_unavailable_for_step);
    CHECK(run.tensor("w").shape(0) == shape_type{2, 2});
    CHECK_FALSE(run.tensor("w").original_name().has_value());
    CHECK(run.tensor("w").shapes().size() == 3);
    CHECK_FALSE(run.has_tensor("framework/shaped:0"));
}

TEST_CASE("tensor: steps and previous steps") {
    const memory_trial run{sample()};
    const auto w = run.tensor("w");
    CHECK(w.steps() == steps_list{0, 2, 4});
    CHECK(w.steps({.mode = mode::train}) == steps_list{0, 1, 2});
    CHECK(w.prev_steps(3) == steps_list{0, 2});
    CHECK(w.prev_steps(4, {.n = 2}) == steps_list{2, 4});
    CHECK(w.prev_steps(4, {.n = 0}).empty());
    CHECK(w.prev_steps(-1).empty());
    CHECK(w.prev_steps(99, {.n = 100, .mode = mode::train}) == steps_list{0, 1, 2});
    CHECK_THROWS_AS(static_cast<void>(w.prev_steps(4, {.n = -1})), value_error);
    CHECK(w.workers(2) == std::vector<std::string>{"worker_0", "worker_1"});
}

TEST_CASE("tensor: damage in one record does not affect others, and is reported with file and byte") {
    memory_storage store = sample();
    const std::string key = smdebug::detail::locations::event_key(2, "worker_0");
    const memory_trial run{store};
    const byte_buffer whole = store.read(key);
    const auto from = smdebug::detail::catalog_of(run);
    const auto entry = *from->values_of(from->find_step(2)->files()[0], *from->find_tensor("ints"));
    for (std::uint64_t at = 0; at < entry.record.length; ++at) {
        std::vector<std::byte> bytes(whole.view().begin(), whole.view().end());
        bytes[static_cast<std::size_t>(entry.record.offset + at)] ^= std::byte{0x40};
        store.write(key, bytes);
        CAPTURE(at);
        const auto ints = run.tensor("ints").find_value(2);
        if (!ints) {  // a flipped bit of a value under the package's checksum is undetectable
            CHECK(ints.error().why == lookup_failure_kind::damaged);
            CHECK(ints.error().where == key);
            CHECK(ints.error().offset == entry.record.offset);
            CHECK(thrown_code([&] { static_cast<void>(run.tensor("ints").value(2)); }) == error_code::corrupt_record);
        }
        CHECK(run.tensor("w").value<float>(2)(0, 0) == 2);
        CHECK(run.tensor("ints").find_value(4).has_value());
    }
    store.write(key, whole.view().first(static_cast<std::size_t>(entry.record.offset + 5)));  // cut
    CHECK(thrown_code([&] { static_cast<void>(run.tensor("ints").value(2)); }) == error_code::corrupt_record);
    CHECK(thrown_code([&] { static_cast<void>(run.tensor("complex").value(2)); }) == error_code::corrupt_record);
    CHECK(run.tensor("w").value<float>(2)(0, 0) == 2);
}

TEST_CASE("tensor: an index entry with wrong claims about its record is damage, and allocates nothing") {
    memory_storage store;
    run_builder build{store};
    const written_step step{.step = 0, .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {2})}};
    build.collections().step(step).end();
    const std::string index = smdebug::detail::locations::index_key(0, "worker_0");
    const std::string event = smdebug::detail::locations::event_key(0, "worker_0");
    const auto places = encode_events(step).places;
    for (const byte_range lie : {byte_range{places[1].offset, places[0].length},               // b's record
                                 byte_range{places[0].offset + 1, places[0].length},           // off by one
                                 byte_range{places[0].offset, places[0].length - 1},           // cut
                                 byte_range{places[0].offset, 0}, byte_range{1U << 20U, 100},  // outside
                                 byte_range{std::numeric_limits<std::uint64_t>::max(), 1},
                                 byte_range{std::numeric_limits<std::uint64_t>::max() - 3, 100}}) {
        CAPTURE(lie.offset);
        CAPTURE(lie.length);
        store.write(index, as_bytes(index_text(step, {lie, places[1]}, event)));
        const memory_trial run{store};
        CHECK(thrown_code([&] { static_cast<void>(run.tensor("a").value(0)); }) == error_code::corrupt_record);
        CHECK(run.tensor("b").value<float>(0)(0) == 2);
    }
    // A length that covers more than one record: the first counts.
    store.write(index, as_bytes(index_text(step, {{0, std::numeric_limits<std::uint64_t>::max()}, places[1]}, event)));
    CHECK(memory_trial{store}.tensor("a").value<float>(0)(0) == 1);
}

TEST_CASE("tensor: the n steps before a step, the step itself among them, of any mode; without n all") {
    const memory_trial run{sample()};
    const auto w = run.tensor("w");
    constexpr step_number most = std::numeric_limits<step_number>::max();
    CHECK(w.prev_steps(4, {.n = 2}) == steps_list{2, 4});
    CHECK(w.prev_steps(3, {.n = 1}) == steps_list{2});
    CHECK(w.prev_steps(most, {.n = 2}) == steps_list{2, 4});
    CHECK(w.prev_steps(most, {.n = std::numeric_limits<std::int64_t>::max()}) == steps_list{0, 2, 4});
    CHECK(w.prev_steps(4, {.n = 0}).empty());
    CHECK(w.prev_steps(3) == steps_list{0, 2});
    CHECK(w.prev_steps(2, {.n = 2, .mode = mode::train}) == steps_list{1, 2});
    CHECK(w.prev_steps(9, {.n = 2, .mode = mode::eval}).empty());
    CHECK(w.prev_steps(-1, {.n = 2}).empty());
    CHECK_THROWS_AS(static_cast<void>(w.prev_steps(4, {.n = -1})), value_error);
    CHECK(run.tensor("reduced").prev_steps(5, {.n = 1}) == steps_list{4});  // saved reductions count as saves
}

TEST_CASE(
    "tensor: the n steps before a step are those that one gets the slow way, on sparse runs with incomplete steps") {
    std::mt19937 random{11};
    const auto below = [&](unsigned bound) { return static_cast<step_number>(random() % bound); };
    for (int round = 0; round < 6; ++round) {
        memory_storage store;
        run_builder build{store};
        build.collections({"worker_0", "worker_1"});
        step_number step = 0;
        for (int i = 0; i < 50; ++i) {
            step += 1 + below(i % 7 == 0 ? 5000 : 3);
            for (const std::string worker : {"worker_0", "worker_1"}) {
                if (worker == "worker_1" && below(5) == 0) {
                    continue;
                }
                written_step made{.step = step, .tensors = {tensor_of<float>("often", {1})}, .worker = worker};
                if (below(3) == 0) {
                    made.tensors.push_back(tensor_of<float>("seldom", {1}));
                }
                made.mode = step % 2 == 0 ? mode::train : mode::eval;
                build.step(made);
            }
        }
        if (round % 2 == 0) {
            build.end();
        }
        const memory_trial run{store};
        for (const char* name : {"often", "seldom"}) {
            const auto tensor = run.tensor(name);
            for (const mode in : {mode::global, mode::train, mode::eval}) {
                const steps_list all = tensor.steps({.mode = in});
                for (int i = 0; i < 30; ++i) {
                    const step_number at = below(static_cast<unsigned>(step) + 10);
                    const auto n = static_cast<std::size_t>(below(i % 2 == 0 ? 4 : 60));
                    steps_list expected{all.begin(), std::upper_bound(all.begin(), all.end(), at)};
                    expected.erase(expected.begin(),
                                   expected.end() - static_cast<std::ptrdiff_t>(std::min(n, expected.size())));
                    CHECK(tensor.prev_steps(at, {.n = static_cast<std::int64_t>(n), .mode = in}) == expected);
                }
            }
        }
    }
}

TEST_CASE("tensor: the n steps before a mode step, also where mode steps fall, or one is claimed by two global steps") {
    const step_number mode_steps[][6] = {{0, 1, 2, 3, 4, 5}, {5, 3, 4, 0, 2, 1}, {0, 1, 1, 2, 2, 3}};
    for (const auto& numbers : mode_steps) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        for (step_number step = 0; step < 6; ++step) {
            written_step made{.step = 10 * step, .mode_step = numbers[step]};
            made.tensors.push_back(tensor_of<float>("always", {1}));
            if (step % 2 == 1) {
                made.tensors.push_back(tensor_of<float>("odd", {1}));
            }
            build.step(made);
        }
        build.end();
        const memory_trial run{store};
        for (const char* name : {"always", "odd"}) {
            const auto tensor = run.tensor(name);
            const steps_list all = tensor.steps({.mode = mode::train});
            for (step_number at = -1; at < 8; ++at) {
                for (std::size_t n = 0; n < 8; ++n) {
                    steps_list expected{all.begin(), std::upper_bound(all.begin(), all.end(), at)};
                    expected.erase(expected.begin(),
                                   expected.end() - static_cast<std::ptrdiff_t>(std::min(n, expected.size())));
                    CHECK(tensor.prev_steps(at, {.n = static_cast<std::int64_t>(n), .mode = mode::train}) == expected);
                }
            }
        }
    }
}

TEST_CASE("tensor_handle: which reductions were saved, and where a tensor's first record begins") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 3,
                .tensors = {tensor_of<float>("smdebug/reductions/max/b", {1}), tensor_of<float>("a", {1}),
                            tensor_of<float>("b", {1})}});
    build.end();
    const memory_trial run{store};
    CHECK(run.tensor("b").saved_reductions(3) == reduction_set{reduction::max});
    CHECK(run.tensor("a").saved_reductions(3).empty());
    CHECK(run.tensor("b").saved_reductions(4).empty());
    CHECK(run.tensor("b").record_offset(3) == 0U);
    REQUIRE(run.tensor("a").record_offset(3));
    CHECK(*run.tensor("a").record_offset(3) > 0);
    CHECK_FALSE(run.tensor("a").record_offset(4));
    CHECK_FALSE(run.tensor("a").record_offset(3, {.worker = "worker_9"}));
}

TEST_CASE("names_among: what a regex or a collection selects of names that need not be saved") {
    memory_storage store;
    run_builder{store}.collections({"worker_0"}, {{"group", {"x", "y"}}}).step({.tensors = {}}).end();
    const memory_trial run{store};
    using names = std::vector<std::string>;
    CHECK(run.names_among({"z", "y", "x"}, {.collection = "group"}) == names{"y", "x"});
    CHECK(run.names_among({"z1", "y"}, {.regex = "z"}) == names{"z1"});
    CHECK(run.names_among({"z1", "y"}, {.collection = "none"}).empty());
    CHECK(run.names_among({"z1"}, {}) == names{"z1"});
    CHECK_THROWS_AS(static_cast<void>(run.names_among({"z"}, {.regex = "("})), value_error);
}
