#include <smdebug/rules/concepts.hpp>

#include "support/archetypes.hpp"
#include "support/test.hpp"

using namespace smdebug;
using smdebug_test::trial_archetype;

namespace {

struct archetype {
    finding operator()(const trial_archetype&, step_number) { return {}; }
};
struct many {
    std::vector<finding> operator()(const trial_archetype&, step_number) const { return {}; }
    [[nodiscard]] static constexpr std::string_view name() { return "many"; }
    void require(const trial_archetype&, step_number, required_tensors<trial_archetype>&) const {}
};
struct answers_bool {
    bool operator()(const trial_archetype&, step_number) const { return true; }
};
// Near misses.
struct answers_number {
    int operator()(const trial_archetype&, step_number) const { return 1; }
};
struct takes_no_step {
    finding operator()(const trial_archetype&) const { return {}; }
};
struct changes_the_trial {
    finding operator()(trial_archetype&, step_number) const { return {}; }
};
struct requires_wrongly : archetype {
    bool require(const trial_archetype&, step_number, required_tensors<trial_archetype>&) { return true; }
};

struct numbered : archetype {
    [[nodiscard]] int name() const { return 7; }
};
struct compares {
    [[nodiscard]] std::tuple<const trial_archetype&, const trial_archetype&> other_trials() const;
};
struct compares_one : archetype {
    [[nodiscard]] const trial_archetype& other_trials() const;  // a single trial is not a tuple of trials
};
struct compares_mutably : archetype {
    [[nodiscard]] std::tuple<const trial_archetype&> other_trials();
};

constexpr auto lambda = [](const readable_trial auto& trial, step_number step) -> finding {
    return {.met = trial.tensor_names({.step = step}).empty()};
};

static_assert(rule<archetype, trial_archetype> && !named_rule<archetype> &&
              !requires_tensors<archetype, trial_archetype>);
static_assert(rule<many, trial_archetype> && named_rule<many> && requires_tensors<many, trial_archetype>);
static_assert(rule<decltype(lambda), trial_archetype>);
static_assert(rule<answers_bool, trial_archetype> && !rule<answers_number, trial_archetype>);
static_assert(!named_rule<numbered> && rule<numbered, trial_archetype>);
static_assert(compares_trials<compares> && !compares_trials<archetype>);
static_assert(!compares_trials<compares_one> && !compares_trials<compares_mutably>);
static_assert(!rule<takes_no_step, trial_archetype>);
static_assert(!rule<changes_the_trial, trial_archetype>);
static_assert(!rule<archetype, int>);
static_assert(rule<requires_wrongly, trial_archetype> && !requires_tensors<requires_wrongly, trial_archetype>);

}  // namespace

TEST_CASE("rule concepts: a rule's name, where it has one") {
    CHECK(name_of_rule(many{}) == "many");
    CHECK(name_of_rule(lambda) == "rule");
}
