#include <smdebug/learn/look/run_learner.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::learn;

namespace {

/// A save with values of this content.
save_look values(std::uint64_t content, std::uint64_t size = 4) {
    save_look look;
    look.has_values = true;
    look.type = dtype::float32;
    look.size = size;
    look.bad = false;
    look.content = {.what = save_content::kind::values, .hash = {content, 1}};
    return look;
}
save_look with_number(double one) {
    save_look look = values(1);
    look.has.insert(number::l2);
    look.numbers[static_cast<std::size_t>(number::l2)] = one;
    return look;
}
save_look no_content() {
    save_look look;
    look.bad = std::nullopt;
    return look;
}

struct walk {
    run_learner learner{number_set{}};
    step_number global = 0;

    void step(step_number mode_step, mode in = mode::train) { learner.begin_step(global++, in, mode_step); }
    void save(const save_look& look, const std::string& tensor = "w", const std::string& worker = "worker_0") {
        const shape_type shape{look.size.value_or(0)};
        learner.take(tensor, worker, look, look.size ? &shape : nullptr);
    }
    [[nodiscard]] all_facts end() { return learner.finish("run"); }
};

entry_facts entry_of(walk& all, const std::string& tensor = "w", mode in = mode::train) {
    return *all.end().find(tensor, in);
}

}  // namespace

TEST_CASE("learning a run: how often a tensor is saved, at the start, between and at the end") {
    walk all;
    for (int i = 0; i < 8; ++i) {
        all.step(10 * i);
        all.save(values(1), "always");
        if (i == 2 || i == 3) {
            all.save(values(1), "some");
        }
        if (i == 0) {
            all.save(values(1), "once");
        }
    }
    const all_facts facts = all.end();
    const auto every = [&](const char* tensor) { return facts.find(tensor, mode::train)->every; };
    CHECK(every("always").saves == 1);
    CHECK(every("always").steps == 10);
    CHECK(every("some").saves == 4);  // after step 3
    CHECK(every("some").steps == 40);
    CHECK(every("once").saves == 7);
    CHECK(every("once").steps == 70);
    CHECK(facts.modes.at(mode::train).last == 70);
    CHECK(facts.modes.at(mode::train).runs == 1);
    CHECK(facts.runs == std::vector<std::string>{"run"});
}

TEST_CASE("learning a run: modes are counted apart, by their own steps") {
    walk all;
    for (int i = 0; i < 3; ++i) {
        all.step(i, mode::train);
        all.save(values(1));
        all.step(100 * i, mode::eval);
        if (i == 2) {
            all.save(values(1));
        }
    }
    const all_facts facts = all.end();
    CHECK(facts.find("w", mode::train)->every.steps == 1);
    CHECK(facts.find("w", mode::eval)->every.saves == 3);
    CHECK(facts.find("w", mode::eval)->every.steps == 200);
    CHECK(facts.modes.at(mode::eval).last == 200);
}

TEST_CASE("learning a run: steps that go back are compared, too") {
    walk all;
    for (const step_number step : {5, 9, 2, 3}) {
        all.step(step);
        if (step == 5) {
            all.save(values(1));
        }
    }
    CHECK(entry_of(all).every.steps == 4);
}

TEST_CASE("learning a run: pairs of one worker, and what is between them") {
    const auto pairs = [](const std::vector<save_look>& saves) {
        walk all;
        for (std::size_t i = 0; i < saves.size(); ++i) {
            all.step(static_cast<step_number>(i));
            all.save(saves[i]);
        }
        return entry_of(all);
    };
    CHECK(pairs({values(1), values(1), values(1)}).constant == 2U);
    CHECK_FALSE(pairs({values(1), values(1)}).changing.has_value());
    CHECK(pairs({values(1), values(2), values(1)}).changing == 2U);
    CHECK_FALSE(pairs({values(1), values(2)}).constant.has_value());
    CHECK(pairs({values(1), no_content(), values(1)}).constant == 1U);
    CHECK(pairs({values(1)}).constant == 0U);
    CHECK_FALSE(pairs({values(1, 1), values(2, 1)}).changing.has_value());
    CHECK_FALSE(pairs({values(1, 1)}).changing.has_value());
    save_look reductions = values(1);
    reductions.has_values = false;
    reductions.content = {.what = save_content::kind::reductions, .reductions = 3, .hash = {1, 1}};
    CHECK(pairs({values(1), reductions, values(1)}).constant == 0U);  // neither neighbour is comparable
    walk digests;
    for (int i = 0; i < 2; ++i) {
        digests.step(i);
        digests.save(values(static_cast<std::uint64_t>(i), 1), "digest/w");
    }
    CHECK(entry_of(digests, "digest/w").changing == 1U);
}

TEST_CASE("learning a run: replicas at steps of two workers") {
    walk all;
    all.step(0);
    all.save(values(1), "w", "worker_0");
    all.save(values(1), "v", "worker_0");
    all.save(values(1), "w", "worker_1");
    all.save(values(2), "v", "worker_1");
    all.step(1);
    all.save(values(2), "w", "worker_0");
    const all_facts facts = all.end();
    CHECK(facts.find("w", mode::train)->replicas == 1U);
    CHECK_FALSE(facts.find("v", mode::train)->replicas.has_value());
}

TEST_CASE("learning a run: sign, finiteness, dtype, shape, and void saves") {
    walk all;
    save_look one = values(1);
    one.least = -1;
    one.greatest = 0;
    all.step(0);
    all.save(one, "signed");
    all.save(values(1), "unknown");
    save_look bad = values(1);
    bad.bad = true;
    all.save(bad, "bad");
    save_look text;
    text.is_void = true;
    all.save(text, "text");
    const all_facts facts = all.end();
    const auto entry = [&](const char* tensor) { return *facts.find(tensor, mode::train); };
    CHECK_FALSE(entry("signed").nonnegative.has_value());
    CHECK(entry("signed").nonpositive == 1U);
    CHECK(entry("unknown").nonnegative == 0U);
    CHECK(entry("unknown").finite == 1U);
    CHECK(*entry("unknown").dtypes == std::vector<std::string>{"float32"});
    CHECK_FALSE(entry("bad").finite.has_value());
    CHECK(entry("text").dtypes->empty());
    CHECK_FALSE(entry("text").shape->extents.has_value());
    CHECK(entry("text").every.saves == 1);
    CHECK(entry("text").runs == 1);
}

TEST_CASE("learning a run: the least and greatest number of a window") {
    walk all;
    for (const auto& [step, one] : std::vector<std::pair<step_number, double>>{{0, 1}, {8, 3}, {9, 2}, {10, 7}}) {
        all.step(step);
        all.save(with_number(one));
    }
    const number_series series = entry_of(all).numbers.at(number::l2);
    REQUIRE(series.windows.size() == 3);
    CHECK(series.runs == 1);
    CHECK(series.windows[1].low[0].number == 2);
    CHECK(series.windows[1].high[0].number == 3);
    CHECK(series.windows[1].runs == 1);
    CHECK(series.windows[2].low[0].number == 7);
}

TEST_CASE("learning a run: tied tensors are equal in all saves, and change") {
    const auto classes = [](const std::vector<std::pair<save_look, save_look>>& saves, bool reversed = false) {
        walk all;
        for (std::size_t i = 0; i < saves.size(); ++i) {
            all.step(static_cast<step_number>(i));
            all.save(saves[i].first, reversed ? "b" : "a");
            all.save(saves[i].second, reversed ? "a" : "b");
        }
        return all.end().tied;
    };
    const auto tied = classes({{values(1), values(1)}, {values(2), values(2)}}, true);
    REQUIRE(tied.size() == 1);
    CHECK(tied[0].tensors == std::vector<std::string>{"a", "b"});
    CHECK(tied[0].saves == 2);
    CHECK(classes({{values(1), values(1)}, {values(1), values(1)}}).empty());  // frozen
    CHECK(classes({{values(1), values(1)}}).empty());
    CHECK(classes({{values(1), values(1)}, {values(2), values(3)}}).empty());
    CHECK(classes({{values(1, 1), values(1, 1)}, {values(2, 1), values(2, 1)}}).empty());
    save_look text;
    text.is_void = true;
    CHECK(classes({{values(1), values(1)}, {values(2), values(2)}, {text, text}}).empty());
    CHECK(classes({{values(1), values(1)}, {values(2), values(2)}, {no_content(), no_content()}}).size() == 1);
    walk other_worker;
    for (int i = 0; i < 2; ++i) {
        other_worker.step(i);
        other_worker.save(values(static_cast<std::uint64_t>(i)), "a", "worker_0");
        other_worker.save(values(static_cast<std::uint64_t>(i)), "b", "worker_1");
    }
    CHECK(other_worker.end().tied.empty());
}
