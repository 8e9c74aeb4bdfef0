#include <smdebug/rules/judge/learned_judge.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/learn/facts/all_facts.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::rules::detail;
namespace data = smdebug::detail::learn;

namespace {

/// Eight runs with "a" and "b" in TRAIN up to step 100, which are tied, have replicas, and l2 from 1 to 2.
data::all_facts healthy() {
    data::all_facts facts;
    for (int i = 0; i < 8; ++i) {
        facts.runs.push_back("run-" + std::to_string(i));
    }
    facts.modes[mode::train] = {8, 100};
    for (const char* name : {"a", "b"}) {
        data::entry_facts& entry = facts.tensors[name].by_mode[mode::train];
        entry.runs = 8;
        entry.every = {1, 10};
        entry.replicas = 80;
        data::number_series& series = entry.numbers[data::number::l2];
        series.runs = 8;
        series.down = 1;
        series.up = 1;
        for (const step_number from : {0, 96}) {
            data::window_facts window{.window = data::window_of(from), .runs = 8};
            window.low.push_back({1, 0});
            window.high.push_back({2, 7});
            series.windows.push_back(window);
        }
    }
    facts.tied.push_back({{"a", "b"}, 80});
    return facts;
}

judged_save_of save_of(const std::string& tensor, const std::string& worker, std::uint64_t content, double l2 = 1) {
    judged_save_of save{.tensor = tensor, .worker = worker};
    save.save.look.has_values = true;
    save.save.look.type = dtype::float32;
    save.save.look.size = 4;
    save.save.look.bad = false;
    save.save.look.content = {.what = data::save_content::kind::values, .hash = {content, 0}};
    save.save.look.has.insert(data::number::l2);
    save.save.look.numbers[static_cast<std::size_t>(data::number::l2)] = l2;
    return save;
}

struct court {
    explicit court(const data::all_facts& facts, const learned_settings& settings = {})
        : judge(data::facts_access::made_of(facts), settings) {}

    std::vector<std::string> at(step_number step, const std::vector<judged_save_of>& saves, mode in = mode::train) {
        judge.begin_step(in, step);
        std::vector<judged_save_of> looked;
        for (const judged_save_of& each : saves) {
            if (judge.see(each.tensor)) {
                looked.push_back(each);
            }
        }
        std::vector<std::string> found;
        for (const finding& each : judge.judge(looked)) {
            found.push_back(each.tensor + " " + each.worker + " " + each.message.substr(0, each.message.find(' ', 10)));
        }
        return found;
    }

    learned_judge judge;
};

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("learned judge: findings of a step by tensor, worker, kind and number") {
    court here{healthy()};
    CHECK(here.at(0, {save_of("a", "w0", 1), save_of("a", "w1", 1), save_of("b", "w0", 1), save_of("b", "w1", 1)})
              .empty());
    const list found = here.at(
        1, {save_of("a", "w0", 1, 9), save_of("a", "w1", 2), save_of("b", "w0", 1, 0.1), save_of("b", "w1", 3)});
    CHECK(found ==
          list{"a w0 high: l2 is", "a w1 replicas: w1", "b w0 low: l2 is", "b w1 replicas: w1", "b w1 tied: differs"});
}

TEST_CASE("learned judge: a file may say that a tensor is saved as rarely as can be") {
    data::all_facts facts = healthy();
    for (auto& [name, tensor] : facts.tensors) {
        data::entry_facts& entry = tensor.by_mode[mode::train];
        entry.every = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
    }
    court here{facts};
    for (step_number step = 0; step < 10; ++step) {
        CHECK(here.at(step, {save_of("b", "w0", 1)}).empty());  // "a" is not missing
    }
}

TEST_CASE("learned judge: of replicas the content that most have is right, of equally many the first worker's") {
    court most{healthy()};
    CHECK(most.at(0, {save_of("a", "w0", 1), save_of("a", "w1", 2), save_of("a", "w2", 2)}) ==
          list{"a w0 replicas: w0"});
    court equal{healthy()};
    CHECK(equal.at(0, {save_of("a", "w0", 1), save_of("a", "w1", 2)}) == list{"a w1 replicas: w1"});
    court first_of_two{healthy()};
    CHECK(first_of_two
              .at(0, {save_of("a", "w0", 9), save_of("a", "w1", 2), save_of("a", "w2", 1), save_of("a", "w3", 1),
                      save_of("a", "w4", 2)})
              .at(0) == "a w0 replicas: w0,");
}

TEST_CASE("learned judge: each kind once for a tensor, mode and worker; tied whatever the mode") {
    data::all_facts facts = healthy();
    facts.modes[mode::eval] = facts.modes[mode::train];
    for (const char* name : {"a", "b"}) {
        facts.tensors[name].by_mode[mode::eval] = *facts.find(name, mode::train);
    }
    court here{facts};
    CHECK(here.at(0, {save_of("a", "w0", 1, 9), save_of("b", "w0", 2)}).size() == 2);
    CHECK(here.at(1, {save_of("a", "w0", 1, 9), save_of("b", "w0", 2)}).empty());
    CHECK(here.at(0, {save_of("a", "w0", 1, 9), save_of("b", "w0", 2)}, mode::eval) == list{"a w0 high: l2 is"});
    CHECK(here.at(2, {save_of("a", "w1", 1, 9)}) == list{"a w1 high: l2 is"});
}

TEST_CASE(
    "learned judge: missing needs all runs of the mode, a save of any tensor, and a step that healthy runs have") {
    court here{healthy()};
    CHECK(here.at(0, {}).empty());
    for (const step_number step : {10, 20, 30}) {
        CHECK(here.at(step, {}).empty());  // nothing was saved yet: perhaps only the worker is
    }
    CHECK(here.at(40, {save_of("a", "w0", 1)}) == list{"b  missing: never"});
    CHECK(here.at(50, {save_of("a", "w0", 2)}).empty());
    data::all_facts rare = healthy();
    rare.tensors["b"].by_mode[mode::train].runs = 7;
    court without{rare};
    for (const step_number step : {0, 10, 20, 30, 40}) {
        CHECK(without.at(step, {save_of("a", "w0", 1)}).empty());
    }
    court beyond{healthy()};
    CHECK(beyond.at(90, {save_of("a", "w0", 1)}).empty());
    CHECK(beyond.at(140, {save_of("a", "w0", 1)}).empty());
    CHECK(beyond.at(190, {save_of("a", "w0", 1)}).empty());
}

TEST_CASE("learned judge: a row outside an envelope is not ended by saves that are not judged") {
    court here{healthy(), {.patience = 2}};
    judged_save_of without = save_of("a", "w0", 1);
    without.save.look.has = {};
    CHECK(here.at(0, {save_of("a", "w0", 1, 9)}).empty());
    CHECK(here.at(1, {without}).empty());
    CHECK(here.at(120, {save_of("a", "w0", 1, 9)}).empty());  // after the last window
    CHECK(here.at(2, {save_of("a", "w0", 1, 9)}) == list{"a w0 high: l2 is"});
    court ended{healthy(), {.patience = 2}};
    CHECK(ended.at(0, {save_of("a", "w0", 1, 9)}).empty());
    CHECK(ended.at(1, {save_of("a", "w0", 1, 1)}).empty());
    CHECK(ended.at(2, {save_of("a", "w0", 1, 9)}).empty());
    CHECK(ended.at(3, {save_of("a", "w1", 1, 9)}).empty());  // another worker's row
}

TEST_CASE("learned judge: a side without a margin is not judged") {
    data::all_facts facts = healthy();
    facts.tensors["a"].by_mode[mode::train].numbers[data::number::l2].up.reset();
    court here{facts};
    CHECK(here.at(0, {save_of("a", "w0", 1, 1e9)}).empty());
    CHECK(here.at(1, {save_of("a", "w0", 1, 0)}) == list{"a w0 low: l2 is"});
}

TEST_CASE("learned judge: kinds, and names that are selected") {
    CHECK_THROWS_AS(static_cast<void>(learned_kind_named("highest")), value_error);
    for (std::size_t i = 0; i < learned_kind_names.size(); ++i) {
        CHECK(learned_kind_named(learned_kind_names[i]) == static_cast<learned_kind>(i));
    }
    court some{healthy(), {.kinds = {"replicas", "low"}}};
    CHECK(some.at(0, {save_of("a", "w0", 1, 9), save_of("a", "w1", 2)}) == list{"a w1 replicas: w1"});
    court only{healthy(), {.tensor_regex = "^b$"}};
    CHECK(only.at(0, {save_of("a", "w0", 1, 9), save_of("b", "w0", 2, 9)}) == list{"b w0 high: l2 is"});
    CHECK(only.judge.conclude().empty());
    court except{healthy(), {.exclude_regex = "a"}};
    CHECK(except.at(0, {save_of("a", "w0", 1, 9), save_of("b", "w0", 2, 9)}) == list{"b w0 high: l2 is"});
    CHECK_THROWS_AS((learned_judge{data::facts_access::made_of(healthy()), {.tensor_regex = "("}}), value_error);
}

TEST_CASE("learned judge: bands of what was saved, at the steps that were judged, equal windows as one") {
    using band = rule_outcome::band;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    data::all_facts facts = healthy();
    data::number_series& changing = facts.tensors["b"].by_mode[mode::train].numbers[data::number::l2];
    changing.down.reset();
    changing.widen = 3;
    changing.windows = {};
    for (const step_number from : {8, 96, 128}) {
        data::window_facts window{.window = data::window_of(from), .runs = from == 8 ? 8U : 6U};
        window.low.push_back({1, 0});
        window.high.push_back({from == 128 ? 9.0 : 2.0, 7});
        changing.windows.push_back(window);
    }
    facts.tensors["c"] = facts.tensors["a"];
    const auto bands_of = [&](const learned_settings& settings) -> std::vector<band> {
        court here{facts, settings};
        for (const step_number step : {0, 10, 50, 96, 100, 130, 200}) {
            static_cast<void>(here.at(step, {save_of("a", "w0", 1, 1), save_of("b", "w0", 1, 1)}));
        }
        return here.judge.bands();
    };
    CHECK(court{facts}.judge.bands().empty());
    const std::vector<band> all = bands_of({});
    REQUIRE(all.size() == 2);  // c was never saved
    CHECK(all[0].tensor == "a");
    CHECK(all[0].mode == mode::train);
    CHECK(all[0].number == "l2");
    REQUIRE(all[0].windows.size() == 1);  // after its last window, at 96, it is not judged
    CHECK(all[0].windows[0].first == 0);
    CHECK(all[0].windows[0].last == 111);
    CHECK(all[0].windows[0].runs == 8);
    CHECK(all[0].windows[0].least == 1);
    CHECK(all[0].windows[0].greatest == 2);
    CHECK(all[0].windows[0].lower == 0.5);
    CHECK(all[0].windows[0].upper == 4);
    const std::vector<band::window>& windows = all[1].windows;
    REQUIRE(windows.size() == 3);  // at 0, before its first window, it is not judged
    CHECK(windows[0].first == 10);
    CHECK(windows[0].last == 55);
    CHECK(windows[0].runs == 8);
    CHECK(windows[1].first == 96);
    CHECK(windows[1].last == 111);
    CHECK(windows[1].runs == 6);
    CHECK(windows[2].first == 128);
    CHECK(windows[2].greatest == 9);
    CHECK(windows[2].upper == 36);  // three times the margin 1
    CHECK(windows[2].lower == -infinite);
    CHECK(bands_of({.widen = 0.5})[0].windows[0].upper == 3);
    const band low = bands_of({.kinds = {"low"}})[0];
    CHECK(low.windows[0].lower == 0.5);
    CHECK(low.windows[0].upper == infinite);
    CHECK(bands_of({.kinds = {"missing"}}).empty());
    CHECK(bands_of({.exclude_regex = "a"}).size() == 1);
}
