#include <smdebug/rules/concepts.hpp>

#include "support/fake_trial.hpp"
#include "support/test.hpp"

using namespace smdebug;
using smdebug_test::fake_trial;

namespace {

struct archetype {
    finding operator()(const fake_trial&, step_number) { return {}; }
};
struct many {
    std::vector<finding> operator()(const fake_trial&, step_number) const { return {}; }
    [[nodiscard]] static constexpr std::string_view name() { return "many"; }
    void require(const fake_trial&, step_number, required_tensors<fake_trial>&) const {}
};
struct answers_bool {
    bool operator()(const fake_trial&, step_number) const { return true; }
};
// Near misses.
struct answers_number {
    int operator()(const fake_trial&, step_number) const { return 1; }
};
struct takes_no_step {
    finding operator()(const fake_trial&) const { return {}; }
};
struct changes_the_trial {
    finding operator()(fake_trial&, step_number) const { return {}; }
};
struct requires_wrongly : archetype {
    bool require(const fake_trial&, step_number, required_tensors<fake_trial>&) { return true; }
};

struct numbered : archetype {
    [[nodiscard]] int name() const { return 7; }
};
struct compares {
    [[nodiscard]] std::tuple<const fake_trial&, const fake_trial&> other_trials() const;
};
struct compares_one : archetype {
    [[nodiscard]] const fake_trial& other_trials() const;  // a single trial is not a tuple of trials
};
struct compares_mutably : archetype {
    [[nodiscard]] std::tuple<const fake_trial&> other_trials();
};

constexpr auto lambda = [](const readable_trial auto& trial, step_number step) -> finding {
    return {.met = trial.tensor_names({.step = step}).empty()};
};

static_assert(rule<archetype, fake_trial> && !named_rule<archetype> && !requires_tensors<archetype, fake_trial>);
static_assert(rule<many, fake_trial> && named_rule<many> && requires_tensors<many, fake_trial>);
static_assert(rule<decltype(lambda), fake_trial>);
static_assert(rule<answers_bool, fake_trial> && !rule<answers_number, fake_trial>);
static_assert(!named_rule<numbered> && rule<numbered, fake_trial>);
static_assert(compares_trials<compares> && !compares_trials<archetype>);
static_assert(!compares_trials<compares_one> && !compares_trials<compares_mutably>);
static_assert(!rule<takes_no_step, fake_trial>);
static_assert(!rule<changes_the_trial, fake_trial>);
static_assert(!rule<archetype, int>);
static_assert(rule<requires_wrongly, fake_trial> && !requires_tensors<requires_wrongly, fake_trial>);

}  // namespace

TEST_CASE("rule concepts: a rule's name, where it has one") {
    CHECK(name_of_rule(many{}) == "many");
    CHECK(name_of_rule(lambda) == "rule");
}
