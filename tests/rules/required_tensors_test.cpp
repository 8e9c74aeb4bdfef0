#include <smdebug/rules/concepts.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using names = std::vector<std::string>;

namespace {

memory_storage sample() {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("loss", {1}), tensor_of<float>("grad/a", {1}),
                           tensor_of<float>("grad/b", {1})}})
        .step({.step = 1, .tensors = {tensor_of<float>("loss", {1})}})
        .end();
    return store;
}

}  // namespace

TEST_CASE("required_tensors: collects names, sorted, each once") {
    const memory_trial run{sample()};
    required_tensors<memory_trial> required{run};
    required.add_matching("^grad", 0);
    required.add("loss", {0});
    required.add("loss", {1});
    CHECK(required.names() == names{"grad/a", "grad/b", "loss"});
    required.fetch();
    required_tensors<memory_trial> none{run};
    none.add_matching("^grad", 1);
    CHECK(none.names().empty());
    none.fetch();
}

TEST_CASE("required_tensors: an unknown tensor is an error at once, a missing value when it is fetched") {
    const memory_trial run{sample()};
    required_tensors<memory_trial> required{run};
    CHECK_THROWS_WITH_AS(required.add("los", {0}), doctest::Contains("Did you mean loss?"), tensor_unavailable);
    required.add("grad/a", {1});
    CHECK_THROWS_AS(required.fetch(), tensor_unavailable_for_step);
    required_tensors<memory_trial> later{run};
    later.add("loss", {7});
    CHECK_THROWS_AS(later.fetch(), no_more_data);
}

TEST_CASE("required_tensors: another trial's tensors are waited for there") {
    const memory_trial run{sample()};
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<double>("other", {1})}});
    const memory_trial other{store, {.poll_interval = 1ms}};
    required_tensors<memory_trial> required{run};
    CHECK_THROWS_AS(required.add("loss", {0}, other), tensor_unavailable);
    required.add("other", {0}, other);
    required.fetch();
    CHECK(required.names().empty());
    required.add("other", {5}, other);
    CHECK(thrown_code([&] { static_cast<void>(required.fetch({.timeout = 5ms})); }) == error_code::timed_out);
}

TEST_CASE("required_tensors: for a trial that only reduces, a step with the tensor is enough") {
    const memory_trial run{sample()};
    const trial_archetype other{{{0, 1}, {4, 2}}};
    required_tensors<memory_trial> required{run};
    CHECK_THROWS_AS(required.add("nothing", {0}, other), tensor_unavailable);
    required.add("a", {4, 0}, other);
    required.fetch();
    required.add("a", {0, 3}, other);
    const tensor_unavailable_for_step missing = caught<tensor_unavailable_for_step>([&] { required.fetch(); });
    CHECK(missing.tensor() == "a");
    CHECK(missing.step() == 3);
    CHECK(missing.step_mode() == mode::global);
}
