// Digests that a hook saves: which tensors have one, what is in the files, and that reductions are not disturbed.
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/hook_options.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using texts = std::vector<std::string>;

namespace {

/// A tensor with its own elements.
struct owned {
    dtype type;
    shape_type shape;
    std::vector<std::byte> bytes;
    [[nodiscard]] tensor_view view() const { return {type, shape, bytes, {}}; }
};

template <class T>
owned counted(std::size_t count) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), T{1});
    const auto bytes = std::as_bytes(std::span{values});
    return {dtype_of_v<T>, {count}, {bytes.begin(), bytes.end()}};
}

struct named {
    std::string name;
    tensor_view view;
    std::vector<std::string_view> into = {};
};

/// What a hook with these options writes of the tensors, at each of `steps` steps.
template <class Kernel = default_kernel>
memory_storage written(hook_options options, const std::vector<named>& tensors, int steps = 1, Kernel kernel = {}) {
    memory_storage store;
    options.save_config.save_interval = 1;
    basic_hook<memory_storage, Kernel> training{store, std::move(options), kernel};
    for (int step = 0; step < steps; ++step) {
        for (const named& one : tensors) {
            training.save_tensor(one.name, one.view, one.into);
        }
        training.end_step();
    }
    training.close();
    return store;
}

std::int64_t saved(const memory_trial& run, const std::string& name, step_number step = 0) {
    return run.tensor("digest/" + name).value<std::int64_t>(step)();
}

const owned large = counted<float>(100003);  // some pieces of a pass, and an odd end
const owned weight = counted<float>(6);
const owned bias = counted<float>(3);

}  // namespace

TEST_CASE("digests: alone, with values, with reductions, by any kernel") {
    struct row {
        std::string_view what;
        hook_options options;
        bool values;
        bool reductions;
    };
    const reduction_config mean{.reductions = {"mean"}};
    const std::vector<row> rows{
        {"alone", {.digests = {"weights"}}, false, false},
        {"with values", {.include_collections = {"weights"}, .digests = {"weights"}}, true, false},
        {"with reductions",
         {.reduction_config = mean, .include_collections = {"weights"}, .digests = {"weights"}},
         false,
         true},
        {"all", {.digests = {"all"}}, false, false},
        {"all that is saved", {.save_all = true, .digests = {"all"}}, true, false},
    };
    for (const row& each : rows) {
        CAPTURE(each.what);
        const auto check = [&](const memory_storage& store) {
            const memory_trial run{store};
            CHECK(saved(run, "fc.weight") == digest_of(large.view()));
            CHECK(run.has_tensor("fc.weight") == (each.values || each.reductions));
            const auto weights = run.tensor("fc.weight");  // a handle, whatever was saved
            CHECK(weights.find_value(0).has_value() == each.values);
            CHECK(weights.digest(0) == digest_of(large.view()));
            if (each.reductions) {
                CHECK(weights.reduction_value(0, reduction::mean) == doctest::Approx(50002));
            }
            CHECK(run.collection("digests").tensor_names == texts{"digest/fc.weight"});
        };
        check(written(each.options, {{"fc.weight", large.view()}}));
        check(written(each.options, {{"fc.weight", large.view()}}, 1, scalar_kernel{}));
    }
}

TEST_CASE("digests: only of the collections that are named, and when these are due") {
    hook_options options{.collections = {{.name = "biases", .save_config = save_config{.save_interval = 2}}},
                         .include_collections = {"weights"},
                         .digests = {"biases", "mine"}};
    const memory_storage store = written(options,
                                         {{"fc.weight", weight.view()},
                                          {"fc.bias", bias.view()},
                                          {"hidden", bias.view(), {"mine"}},
                                          {"other", weight.view()}},
                                         4);
    const memory_trial run{store};
    CHECK(run.tensor_names() == texts{"digest/fc.bias", "digest/hidden", "fc.weight"});
    CHECK(run.tensor("digest/fc.bias").steps() == std::vector<step_number>{0, 2});
    CHECK(run.tensor("digest/hidden").steps() == std::vector<step_number>{0, 1, 2, 3});
    CHECK(run.tensor("fc.bias").digest(2) == digest_of(bias.view()));
    CHECK_THROWS_AS(static_cast<void>(run.tensor("fc.bias").digest(1)), tensor_unavailable_for_step);
    CHECK(run.collection("biases").tensor_names == texts{"fc.bias"});
    // A regex for biases means the biases, for rules and for statistics.
    CHECK(run.tensor_names({.collection = "biases"}).empty());
    CHECK(run.tensor_names({.collection = "digests"}) == texts{"digest/fc.bias", "digest/hidden"});
}

TEST_CASE("digests: the file has the scalar that any int64 scalar is, in the layout of the package") {
    const memory_storage store = written({.digests = {"weights"}}, {{"weight", weight.view()}});
    const std::int64_t digest = digest_of(weight.view());
    const owned scalar{dtype::int64, {}, {}};
    std::vector<std::byte> bytes(8);
    store_le(bytes.data(), digest);
    const memory_storage plain =
        written({.save_all = true}, {{"digest/weight", {dtype::int64, scalar.shape, bytes, {}}}});
    const std::string key = locations::event_key(0, "worker_0");
    const auto without_time = [&](const memory_storage& from) {
        std::vector<std::byte> all{from.read(key).view().begin(), from.read(key).view().end()};
        REQUIRE(all.size() > 30);
        std::fill(all.begin() + 13, all.begin() + 21, std::byte{0});  // wall_time, the payload's first field
        return all;
    };
    CHECK(without_time(store) == without_time(plain));
    CHECK(store.read(locations::index_key(0, "worker_0")).view().size() ==
          plain.read(locations::index_key(0, "worker_0")).view().size());
}

TEST_CASE("digests: complex numbers, empty tensors and scalars have one; text has none") {
    const owned complex = [] {
        const std::vector<std::complex<float>> values{{1, 2}, {3, 4}};
        const auto raw = std::as_bytes(std::span{values});
        return owned{dtype::complex64, {2}, {raw.begin(), raw.end()}};
    }();
    const owned empty{dtype::float64, {0, 3}, {}};
    const owned scalar{dtype::boolean, {}, {std::byte{1}}};
    const std::vector<std::string_view> words{"a", "b"};
    const shape_type two{2};
    const memory_storage store =
        written({.reduction_config = reduction_config{.abs_norms = {"l2"}}, .save_all = true, .digests = {"all"}},
                {{"complex", complex.view()},
                 {"empty", empty.view()},
                 {"scalar", scalar.view()},
                 {"text", {dtype::string, two, {}, words}}});
    const memory_trial run{store};
    CHECK(saved(run, "complex") == digest_of(complex.view()));
    CHECK(saved(run, "empty") == digest_of(empty.view()));
    CHECK(saved(run, "scalar") == digest_of(scalar.view()));
    CHECK_FALSE(run.has_tensor("digest/text"));
}

TEST_CASE("digests: a step that saves everything has them, and a resumed run goes on with them") {
    memory_storage store;
    const hook_options options{.save_config = {.save_interval = 1000, .start_step = 1},
                               .digests = {"weights"},
                               .existing = existing_run::resume};
    for (int process = 0; process < 2; ++process) {
        basic_hook<memory_storage> training{store, options};
        training.save_everything_next_step();
        training.save_tensor("weight", weight.view());
        training.end_step();
        hook_door{training}.close_unfinished();
    }
    const memory_trial run{store};
    CHECK(run.tensor("digest/weight").steps() == std::vector<step_number>{0, 1});
    CHECK(run.tensor("weight").digest(1) == digest_of(weight.view()));
    CHECK(run.tensor("weight").find_value(1).has_value());
}

TEST_CASE("digests: names of collections are checked as those of include_collections are") {
    const auto why_not = [](const hook_options& options) {
        return smdebug_test::message_of<value_error>([&] { check(options); });
    };
    CHECK(why_not({.digests = {"weights", "mine"}}).empty());
    CHECK(why_not({.digests = {"wieghts"}}).starts_with("digests: there is no collection \"wieghts\"."));
    CHECK(why_not({.digests = {""}}) == "a collection in digests has an empty name");
    CHECK(why_not({.digests = {"digests"}}) ==
          "digests: the collection \"digests\" is where digests are saved; they have none");
}

TEST_CASE("digests: in the hook's JSON they are a parameter of the hook") {
    const auto options = [](std::string_view text) { return hook_options_from_json(as_bytes(text), "hook.json"); };
    CHECK(options(R"({"HookParameters": {"digests": "weights, biases"}})").digests == texts{"weights", "biases"});
    CHECK(options(R"({"HookParameters": {"digests": ["all"]}})").digests == texts{"all"});
    CHECK(options(R"({})").digests.empty());
    CHECK_THROWS_WITH_AS(static_cast<void>(options(R"({"HookParameters": {"digests": "weihgts"}})")),
                         doctest::Contains("digests: there is no collection"), value_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(options(R"({"HookParameters": {"digest": "weights"}})")),
                         doctest::Contains("digests"), value_error);
}

TEST_CASE("digests: a hook without them writes no collection of them") {
    const memory_storage store = written({.save_all = true}, {{"weight", weight.view()}});
    CHECK_FALSE(memory_trial{store}.collections().contains("digests"));
}

TEST_CASE("digests: a tensor with the name of one is refused by a hook that saves them") {
    const auto saves = [](hook_options options, const char* name) {
        return memory_trial{written(std::move(options), {{"a", bias.view()}, {name, weight.view()}})}.tensor_names();
    };
    CHECK_THROWS_WITH_AS(static_cast<void>(saves({.save_all = true, .digests = {"all"}}, "digest/a")),
                         doctest::Contains("the tensor's name \"digest/a\" is that of a digest, which this hook saves, "
                                           "too: choose another name"),
                         value_error);
    CHECK(saves({.save_all = true, .digests = {"all"}}, "digests/a") ==
          texts{"a", "digest/a", "digest/digests/a", "digests/a"});
    CHECK(saves({.save_all = true}, "digest/a") == texts{"a", "digest/a"});
}

TEST_CASE("digests: a tensor that is saved twice in a step has that of the last save") {
    const memory_storage store =
        written({.save_all = true, .digests = {"all"}}, {{"a", weight.view()}, {"a", bias.view()}});
    CHECK(verify_run(store).empty());
    const reduction_config shapes{.save_raw_tensor = true, .save_shape = true};
    CHECK(
        verify_run(written({.reduction_config = shapes, .save_all = true}, {{"a", weight.view()}, {"a", bias.view()}}))
            .empty());
    const memory_trial run{store};
    CHECK(run.tensor("a").digest(0) == digest_of(bias.view()));
    CHECK(digest_of(run.tensor("a").value(0)) == run.tensor("a").digest(0));
}
