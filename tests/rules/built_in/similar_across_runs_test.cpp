#include <smdebug/rules/built_in/similar_across_runs.hpp>

#include "rules/built_in/listed.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using steps_list = std::vector<step_number>;
using similar = rules::similar_across_runs;

static_assert(described_rule<similar> && checked_rule<similar>);

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

using tensors = std::vector<written_tensor>;

/// A run with these tensors at steps 0, 1, ...
std::shared_ptr<const memory_trial> run_of(const std::vector<tensors>& steps, const std::string& name = "other",
                                           const std::vector<written_shape>& shapes = {}) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"group", {"in_group"}}});
    for (std::size_t i = 0; i < steps.size(); ++i) {
        build.step({.step = static_cast<step_number>(i), .tensors = steps[i], .shapes = shapes});
    }
    build.end();
    return std::make_shared<const memory_trial>(store, trial_options{.name = name});
}

template <class T>
tensors one(const std::vector<T>& values) {
    return {tensor_of<T>("w", values)};
}

/// The rule's result at step 0 for two runs that each have a tensor "w".
std::vector<finding> compared(const tensors& here, const tensors& there, similar rule = {}) {
    rule.others = {run_of({there})};
    return rule(*run_of({here}), 0);
}
bool differ(const tensors& here, const tensors& there, similar rule = {}) {
    const auto found = compared(here, there, std::move(rule));
    return !found.empty() && found[0].met;
}

}  // namespace

TEST_CASE("similar_across_runs: fires, at the step of the specification's example, where the runs differ") {
    const auto base = run_of({{tensor_of<double>("loss", {1})}, {tensor_of<double>("loss", {0.5})}}, "base");
    const auto far = run_of({{tensor_of<double>("loss", {1})}, {tensor_of<double>("loss", {0.6})}}, "far");
    const auto near = run_of({{tensor_of<double>("loss", {1})}, {tensor_of<double>("loss", {0.5000025})}}, "near");
    const auto outcome = invoke_rule(similar{.others = {far}, .tensor_regex = "loss"}, *base);
    CHECK(outcome.met_at == steps_list{1});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "loss");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == doctest::Approx(0.1));
    CHECK(outcome.findings[0].threshold == doctest::Approx(6.01e-6));
    CHECK(outcome.findings[0].message == "its largest absolute value is 0.5 here, and 0.6 in run far");
    CHECK(invoke_rule(similar{.others = {near}}, *base).met_at.empty());
    CHECK(invoke_rule(similar{.others = {near}, .rtol = 1e-7}, *base).met_at == steps_list{1});
    const auto both = invoke_rule(similar{.others = {near, far}}, *base);
    CHECK(both.met_at == steps_list{1});
    CHECK(both.findings.size() == 1);
    CHECK(invoke_rule(similar{.others = {base}}, *base).met_at.empty());
}

TEST_CASE("similar_across_runs: NaN is NaN if nothing else is said, infinities have a sign, and shapes count") {
    struct row {
        std::vector<float> here;
        std::vector<float> there;
        bool differs;
    };
    for (const row& each : std::vector<row>{{{not_a_number, 1}, {not_a_number, 1}, false},
                                            {{not_a_number, 1}, {1, 1}, true},
                                            {{inf}, {inf}, false},
                                            {{inf}, {-inf}, true},
                                            {{inf}, {1}, true}}) {
        CAPTURE(listed(each.here));
        CAPTURE(listed(each.there));
        CHECK(differ(one(each.here), one(each.there)) == each.differs);
    }
    CHECK(differ(one<float>({not_a_number, 1}), one<float>({not_a_number, 1}), {.equal_nan = false}));
    CHECK(differ({tensor_of<float>("w", {1, 1}, {2})}, {tensor_of<float>("w", {1, 1}, {2, 1})}));
    CHECK_FALSE(differ(one<float>({1, 2}), one<double>({1, 2})));
    const auto inside = compared(one<float>({1, 3, 0, 5}), one<float>({3, 1, 0, 5}));
    REQUIRE(inside.size() == 1);
    CHECK(inside[0].message == "its value 0 of 4 is 1 here, and 3 in run other");
    CHECK(inside[0].value == 2);
}

TEST_CASE("similar_across_runs: empty tensors, complex numbers and what only one run can compare are skipped") {
    CHECK(compared(one<float>({}), one<float>({})).empty());
    CHECK(compared(one<float>({}), one<float>({1})).empty());
    CHECK(compared(one<float>({1}), one<float>({})).empty());
    CHECK(compared(one<std::complex<float>>({{1, 0}}), one<std::complex<float>>({{2, 0}})).empty());
    CHECK(compared(one<float>({1}), one<std::complex<float>>({{2, 0}})).empty());
}

TEST_CASE("similar_across_runs: what the other run does not have is noted, and with strict unknown tensors differ") {
    const tensors here{tensor_of<float>("w", {1}), tensor_of<float>("only_here", {1}),
                       tensor_of<float>("in_group", {1})};
    const auto base = run_of({here, here}, "base");
    const auto other = run_of({{tensor_of<float>("w", {1}), tensor_of<float>("in_group", {2})}});
    const auto notes = similar{.others = {other}, .tensor_regex = "only|w"}(*base, 0);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
    CHECK(notes[0].tensor == "only_here");
    CHECK(notes[0].message == "run other does not have this tensor");
    const auto strict = similar{.others = {other}, .tensor_regex = "only|w", .strict = true}(*base, 0);
    REQUIRE(strict.size() == 1);
    CHECK(strict[0].met);
    const auto later = similar{.others = {other}, .tensor_regex = "w", .strict = true}(*base, 1);
    REQUIRE(later.size() == 1);
    CHECK_FALSE(later[0].met);
    CHECK(later[0].message == "run other did not save this tensor at step 1");
    CHECK(similar{.others = {other}, .collection_names = {"group", "no_such"}}(*base, 0).size() == 1);
    CHECK(similar{.others = {other}}(*base, 0).size() == 2);
}

TEST_CASE("similar_across_runs: saved reductions prove a difference, beside values of the other run, too") {
    const auto reduced = [](const std::string& name, float max, float min) {
        return tensors{tensor_of<float>("smdebug/reductions/max/" + name, {max}),
                       tensor_of<float>("smdebug/reductions/min/" + name, {min})};
    };
    const auto far = compared(reduced("w", 5, 0), reduced("w", 6, 0));
    REQUIRE(far.size() == 1);
    CHECK(far[0].met);
    CHECK(far[0].message == "its largest value is 5 here, and 6 in run other");
    CHECK(differ(reduced("w", 5, 0), one<float>({0, 6})));
    CHECK(differ(one<float>({0, 6}), reduced("w", 5, 0)));
    const auto open = compared(reduced("w", 5, 0), reduced("w", 5, 0));
    REQUIRE(open.size() == 1);
    CHECK_FALSE(open[0].met);
    const auto there = compared(one<float>({0, 5}), reduced("w", 5, 0));
    REQUIRE(there.size() == 1);
    CHECK_FALSE(there[0].met);
    CHECK(there[0].message.starts_with("run other: "));
}

TEST_CASE("similar_across_runs: says the same with and without reductions to look at first") {
    for (const float change : {0.0F, 1e-6F, 1e-4F, 1.0F}) {
        for (const std::size_t at : {0U, 1U, 2U}) {
            const std::vector<float> here{1, 2, -3};
            std::vector<float> there = here;
            there[at] += change;
            const auto with_reductions = [](const std::vector<float>& values) {
                tensors found = one<float>(values);
                found.push_back(
                    tensor_of<float>("smdebug/reductions/max/w", {std::max({values[0], values[1], values[2]})}));
                found.push_back(
                    tensor_of<float>("smdebug/reductions/min/w", {std::min({values[0], values[1], values[2]})}));
                return found;
            };
            CHECK(differ(one<float>(here), one<float>(there)) == differ(with_reductions(here), with_reductions(there)));
            CHECK(differ(one<float>(here), one<float>(there)) == (change > 1e-5F));
        }
    }
}

TEST_CASE("similar_across_runs: compares the first worker of each run, or with all_workers those of the same name") {
    const auto run_with = [](const std::vector<std::string>& workers, float of_last) {
        memory_storage store;
        run_builder build{store};
        build.collections(workers);
        for (const std::string& worker : workers) {
            build.step({.step = 0,
                        .tensors = {tensor_of<float>("w", {worker == workers.back() ? of_last : 1.0F})},
                        .worker = worker});
        }
        build.end();
        return std::make_shared<const memory_trial>(store, trial_options{.name = "other"});
    };
    const auto base = run_with({"worker_0", "worker_1"}, 1);
    const auto other = run_with({"worker_0", "worker_1"}, 2);
    CHECK(similar{.others = {other}}(*base, 0).empty());
    const auto found = similar{.others = {other}, .all_workers = true}(*base, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].met);
    CHECK(found[0].worker == "worker_1");
    const auto missing = similar{.others = {run_with({"worker_0"}, 1)}, .all_workers = true}(*base, 0);
    REQUIRE(missing.size() == 1);
    CHECK_FALSE(missing[0].met);
    CHECK(missing[0].message == "worker worker_1 of run other did not save this tensor at step 0");
}

TEST_CASE("similar_across_runs: works on reductions alone, and gives the others by reference") {
    const auto other = std::make_shared<const memory_trial>(reduced_run({{"a", {{0, {1}}}}, {"b", {{0, {1}}}}}));
    const similar rule{.others = {other}};
    const memory_trial base = reduced_run({{"a", {{0, {2}}}}, {"b", {{0, {1}}}}});
    const auto found = rule(base, 0);
    REQUIRE(found.size() == 2);
    CHECK(found[0].met);
    CHECK_FALSE(found[1].met);
    REQUIRE(rule.other_runs().size() == 1);
    CHECK(&rule.other_runs()[0].get() == other.get());
}

TEST_CASE("similar_across_runs: settings that make no sense are refused") {
    CHECK_THROWS_WITH_AS(similar{}.check(), doctest::Contains("other_trials is needed"), value_error);
    CHECK(thrown_code([&] { static_cast<void>(similar{.others = {nullptr}}.check()); }) ==
          error_code::insufficient_information);
    const auto other = run_of({one<float>({1})});
    CHECK_NOTHROW(similar{.others = {other}}.check());
    CHECK_THROWS_AS((similar{.others = {other}, .rtol = -1}.check()), value_error);
    CHECK_THROWS_AS((similar{.others = {other}, .atol = inf}.check()), value_error);
}
