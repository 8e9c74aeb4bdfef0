#include <smdebug/rules/built_in/loss_not_decreasing.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::loss_not_decreasing;
using steps_list = std::vector<step_number>;

static_assert(described_rule<loss_not_decreasing> && checked_rule<loss_not_decreasing>);

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Saves "loss" with these values at these steps.
memory_storage saves(const std::map<step_number, double>& losses, mode in = mode::train) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (const auto& [step, loss] : losses) {
        build.step({.step = step, .tensors = {tensor_of<double>("loss", {loss})}, .mode = in});
    }
    build.end();
    return store;
}

steps_list met_at(const memory_storage& store, loss_not_decreasing rule = {}, step_number start = 0) {
    return invoke_rule(rule, memory_trial{store}, {.start_step = start}).met_at;
}

/// Whether a loss of `before` at step 0 and `now` at step 10 fires.
struct two_losses {
    double before;
    double now;
    bool fires;
};

void check_fires(const std::vector<two_losses>& all) {
    for (const two_losses& each : all) {
        CAPTURE(each.before);
        CAPTURE(each.now);
        CHECK((met_at(saves({{0, each.before}, {10, each.now}})) == steps_list{10}) == each.fires);
    }
}

}  // namespace

TEST_CASE("loss_not_decreasing: fires at the step of the specification's example, by collection and by regex") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss_0", "loss_1"}}});
    const std::map<step_number, float> losses{{0, 0.3F}, {4, 0.33F}, {8, 0.31F}, {12, 0.30F}, {16, 0.28F}};
    for (const auto& [step, loss] : losses) {
        build.step({.step = step, .tensors = {tensor_of<float>("loss_0", {loss}), tensor_of<float>("loss_1", {loss})}});
    }
    build.end();
    CHECK(met_at(store) == steps_list{12});
    CHECK(met_at(store, {.collection_names = "losses", .use_losses_collection = false}) == steps_list{12});
    CHECK(met_at(store, {.tensor_regex = "^loss", .use_losses_collection = false}) == steps_list{12});
    CHECK(met_at(store, {.tensor_regex = "^nothing", .use_losses_collection = false}).empty());
    CHECK(met_at(store, {}, 13).empty());
    const auto outcome = invoke_rule(loss_not_decreasing{}, memory_trial{store});
    REQUIRE(outcome.findings.size() == 2);
    CHECK(outcome.findings[1].tensor == "loss_1");
    CHECK(outcome.findings[1].worker == "worker_0");
    CHECK(outcome.findings[1].value == 0);
    CHECK(outcome.findings[1].threshold == 0.1);
    CHECK(outcome.findings[1].message == "the loss has not changed since TRAIN step 0: 0.3");
}

TEST_CASE("loss_not_decreasing: the superseded example of a pre-release fires as this definition says") {
    const std::map<step_number, double> losses{{0, 0.3},   {4, 0.33}, {8, 0.31}, {12, 0.30},
                                               {16, 0.28}, {20, 0.2}, {24, 0.42}};
    CHECK(met_at(saves(losses), {.diff_percent = 20}) == steps_list{12, 24});
}

TEST_CASE("loss_not_decreasing: checks lie num_steps apart, each against the newest save that is old enough") {
    std::map<step_number, double> losses;
    for (step_number step = 0; step <= 36; step += 3) {
        losses[step] = 1;
    }
    const memory_storage store = saves(losses);
    CHECK(met_at(store) == steps_list{12, 24, 36});
    CHECK(met_at(store, {}, 21) == steps_list{21, 33});
    const auto outcome = invoke_rule(loss_not_decreasing{}, memory_trial{store}, {.start_step = 21});
    CHECK(outcome.findings[0].message == "the loss has not changed since TRAIN step 9: 1");
    CHECK(outcome.findings[1].message == "the loss has not changed since TRAIN step 21: 1");
    loss_not_decreasing rule;  // a second walk with the same object checks again
    CHECK(invoke_rule(rule, memory_trial{store}).met_at == steps_list{12, 24, 36});
    CHECK(invoke_rule(rule, memory_trial{store}).met_at == steps_list{12, 24, 36});
    CHECK(met_at(saves({{0, 1}, {9, 1}})).empty());
}

TEST_CASE("loss_not_decreasing: tolerates a small rise, but neither a large one nor a fall that is too small") {
    check_fires({{.before = 1, .now = 1.03, .fires = false},
                 {.before = 1, .now = 1.06, .fires = true},
                 {.before = 1, .now = 0.9995, .fires = true},
                 {.before = 1, .now = 0.99, .fires = false},
                 {.before = 1, .now = 1, .fires = true},
                 {.before = -1, .now = -0.9, .fires = true},
                 {.before = -1, .now = -1.1, .fires = false},
                 {.before = 0, .now = 1, .fires = true},
                 {.before = 0, .now = 0, .fires = true},
                 {.before = 0, .now = -1, .fires = false}});
    const auto rise = invoke_rule(loss_not_decreasing{}, memory_trial{saves({{0, 1}, {10, 1.5}})}).findings;
    REQUIRE(rise.size() == 1);
    CHECK(rise[0].value == 50);
    CHECK(rise[0].threshold == 5);
    CHECK(rise[0].message == "the loss rose by 50% since TRAIN step 0, from 1 to 1.5: more than 5%");
    const auto fall = invoke_rule(loss_not_decreasing{}, memory_trial{saves({{0, 1}, {10, 0.9995}})}).findings;
    REQUIRE(fall.size() == 1);
    CHECK(fall[0].message == "the loss fell by 0.05% since TRAIN step 0, from 1 to 0.9995: less than 0.1%");
}

TEST_CASE("loss_not_decreasing: a loss that stops being finite fires; one that was not finite only counts as a check") {
    check_fires({{.before = 1, .now = not_a_number, .fires = true},
                 {.before = 1, .now = inf, .fires = true},
                 {.before = 1, .now = -inf, .fires = true},
                 {.before = not_a_number, .now = 1, .fires = false},
                 {.before = inf, .now = inf, .fires = false}});
    // at 10 against NaN: a check, so that 15 is not one
    CHECK(met_at(saves({{0, not_a_number}, {5, 1}, {10, 1}, {15, 1}, {20, 1}})) == steps_list{20});
}

TEST_CASE("loss_not_decreasing: looks at EVAL steps, else TRAIN, else all, by their own numbers; or the mode set") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"both", "train", "other"}}});
    // global steps 0, 1, 2, ...: alternately TRAIN 0, 5, 10, ... and EVAL 0, 10, 20, ..., then PREDICT
    for (step_number step = 0; step < 12; ++step) {
        const step_number turn = step / 3;
        if (step % 3 == 0) {
            build.step({.step = step,
                        .tensors = {tensor_of<float>("both", {1}), tensor_of<float>("train", {1})},
                        .mode = mode::train,
                        .mode_step = 5 * turn});
        } else if (step % 3 == 1) {
            build.step(
                {.step = step, .tensors = {tensor_of<float>("both", {1})}, .mode = mode::eval, .mode_step = 10 * turn});
        } else {
            build.step(
                {.step = step, .tensors = {tensor_of<float>("other", {1})}, .mode = mode::predict, .mode_step = turn});
        }
    }
    build.end();
    const auto of = [](const char* regex, std::optional<mode> in, std::int64_t num_steps) {
        return loss_not_decreasing{
            .tensor_regex = regex, .use_losses_collection = false, .num_steps = num_steps, .mode = in};
    };
    CHECK(met_at(store, of("both", {}, 10)) == steps_list{4, 7, 10});    // EVAL 10, 20, 30
    CHECK(met_at(store, of("both", mode::train, 10)) == steps_list{6});  // TRAIN 10
    CHECK(met_at(store, of("train", {}, 10)) == steps_list{6});          // TRAIN 10
    CHECK(met_at(store, of("train", mode::eval, 1)).empty());            // none saved
    CHECK(met_at(store, of("other", {}, 6)) == steps_list{8});           // global steps
    CHECK(met_at(store, of("both", mode::global, 3)) == steps_list{3, 6, 9});
}

TEST_CASE("loss_not_decreasing: vectors, empty tensors and complex numbers are no losses") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"vector", "empty", "complex", "grows"}}});
    for (const step_number step : {0, 10}) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("vector", {1, 1}), tensor_of<float>("empty", {}),
                                tensor_of<std::complex<float>>("complex", {{1, 0}}),
                                step == 0 ? tensor_of<float>("grows", {1, 1}) : tensor_of<float>("grows", {1})}});
    }
    build.end();
    CHECK(met_at(store).empty());
    CHECK(loss_not_decreasing{}(memory_trial{store}, 10).empty());
}

TEST_CASE("loss_not_decreasing: every worker with all_workers, against its own saves") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"losses", {"loss"}}});
    const auto save = [&](step_number step, const std::string& worker, float loss) {
        build.step({.step = step, .tensors = {tensor_of<float>("loss", {loss})}, .worker = worker});
    };
    save(0, "worker_0", 3);
    save(0, "worker_1", 1);
    save(1, "worker_0", 3);
    save(1, "worker_1", 2);
    save(11, "worker_0", 2);
    save(11, "worker_1", 2);
    build.end();
    CHECK(met_at(store).empty());
    const auto outcome = invoke_rule(loss_not_decreasing{.all_workers = true}, memory_trial{store});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
    CHECK(outcome.met_at == steps_list{11});
}

TEST_CASE("loss_not_decreasing: what cannot be read is noted and is no check") {
    memory_storage store = saves({{0, 1}, {1, 1}, {11, 1}, {12, 1}});
    const std::string key = smdebug::detail::locations::event_key(1, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    std::vector<finding> notes;
    loss_not_decreasing rule;
    const auto outcome = invoke_rule(rule, memory_trial{store},
                                     {.on_note = [&](step_number, const finding& note) { notes.push_back(note); }});
    CHECK(outcome.met_at.empty());
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].damaged);

    const memory_trial reduced = reduced_run({{"loss", {{0, {1}}, {10, {1}}}}}, {{"losses", {"loss"}}});
    const auto found = loss_not_decreasing{.mode = mode::global}(reduced, 10);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
}

TEST_CASE("loss_not_decreasing: a saved shape of one element makes saved reductions a loss") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (const step_number step : {0, 10}) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("smdebug/reductions/mean/loss", {1})},
                    .shapes = {{"loss", "loss", {1}}}});
    }
    build.end();
    CHECK(met_at(store) == steps_list{10});
}

TEST_CASE("loss_not_decreasing: settings that make no sense are refused") {
    CHECK_NOTHROW(loss_not_decreasing{}.check());
    CHECK(thrown_code([&] { static_cast<void>(loss_not_decreasing{.use_losses_collection = false}.check()); }) ==
          error_code::insufficient_information);
    CHECK_THROWS_WITH_AS(loss_not_decreasing{.num_steps = 0}.check(), doctest::Contains("num_steps is 0"), value_error);
    CHECK_THROWS_WITH_AS(loss_not_decreasing{.diff_percent = -1}.check(), doctest::Contains("diff_percent is -1"),
                         value_error);
    CHECK_THROWS_AS(loss_not_decreasing{.increase_threshold_percent = not_a_number}.check(), value_error);
    CHECK_THROWS_WITH_AS(loss_not_decreasing{.mode = mode::predict}.check(), doctest::Contains("mode is PREDICT"),
                         value_error);
}

TEST_CASE(
    "loss_not_decreasing: with a window it compares means, says where there are too few, and leaves adversaries "
    "alone") {
    std::map<step_number, double> noisy;
    for (const step_number step : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
        noisy[step] = step % 2 == 0 ? 1 : 2;
    }
    CHECK(met_at(saves(noisy), {.window = 4}) == steps_list{7, 8, 9});
    noisy[9] = not_a_number;
    CHECK(met_at(saves(noisy), {.window = 6}) == steps_list{9});
    const auto told = invoke_rule(loss_not_decreasing{.window = 6}, memory_trial{saves(noisy)}).notes;
    REQUIRE(told.size() == 1);
    CHECK(told[0].message == "judged from its save number 12 on; there are 10");
    for (const double sign : {-1.0, 1.0}) {
        memory_storage two;
        run_builder build{two};
        build.collections({"worker_0"}, {{"losses", {"d", "g"}}});
        for (step_number step = 0; step < 10; ++step) {
            const double up = step % 2 == 0 ? 1 : 0;
            build.step(
                {.step = step, .tensors = {tensor_of<double>("d", {1 + up}), tensor_of<double>("g", {2 + sign * up})}});
        }
        build.end();
        CHECK(met_at(two, {.window = 2}) == (sign < 0 ? steps_list{} : steps_list{7, 8, 9}));
    }
    CHECK_THROWS_AS(loss_not_decreasing{.window = -1}.check(), value_error);
    CHECK_THROWS_AS(loss_not_decreasing{.window = std::numeric_limits<std::int64_t>::max()}.check(), value_error);
}

TEST_CASE("loss_not_decreasing: with a window, a loss beside another one that has too few saves to compare is noted") {
    const auto notes = [](step_number saves, double fall) {
        memory_storage store;
        run_builder build{store};
        build.collections({"worker_0"}, {{"losses", {"d", "g"}}});
        for (step_number step = 0; step < saves; ++step) {
            build.step({.step = step,
                        .tensors = {tensor_of<double>("d", {1}),
                                    tensor_of<double>("g", {2 - fall * static_cast<double>(step)})}});
        }
        build.end();
        const rule_outcome outcome = invoke_rule(loss_not_decreasing{.window = 2}, memory_trial{store});
        std::vector<std::string> texts;
        for (const finding& each : outcome.notes) {
            texts.push_back(std::to_string(each.step) + " " + each.tensor + ": " + each.message);
        }
        return texts;
    };
    using texts = std::vector<std::string>;
    const std::string d =
        "3 d: it has not fallen, but may move against g: judged from its save number 8 on; there are ";
    const std::string g =
        "3 g: it has not fallen, but may move against d: judged from its save number 8 on; there are ";
    CHECK(notes(4, 0) == texts{d + "4", g + "4"});
    CHECK(notes(7, 0) == texts{d + "7", g + "7"});
    CHECK(notes(8, 0) == texts{});
    CHECK(notes(7, 0.1) == texts{d + "7"});  // the other one has fallen
}
