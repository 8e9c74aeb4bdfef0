#include <smdebug/hook/observer.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test::hooks;

namespace {

static_assert(!std::is_copy_constructible_v<hook_observer> && std::has_virtual_destructor_v<hook_observer>);

// Notes what the observer sees, and the ends of steps.
std::shared_ptr<scripted_observer> noting(std::string& notes) {
    auto made = std::make_shared<scripted_observer>();
    made->sees = [&notes](std::string_view name, const tensor_view& tensor, const auto& collections) {
        notes += std::string{name} + "(" + std::to_string(tensor.count());
        for (const std::string_view each : collections) {
            notes += " " + std::string{each};
        }
        notes += ") ";
    };
    made->ends = [&notes](const hook_step& step) {
        notes += "| " + std::string{name_of(step.mode)} + " " + std::to_string(step.step) + "/" +
                 std::to_string(step.mode_step) + " ";
    };
    return made;
}

}  // namespace

TEST_CASE("hook_observer: sees what it wants, whether it is saved or not, and the end of each step") {
    memory_storage store;
    memory_hook hook{store, everything(2)};
    std::string all;
    std::string some;
    int asked = 0;
    hook.add_observer(noting(all));
    const auto chooses = noting(some);
    chooses->wants_step = [&](const hook_step& step) { return ++asked != 0 && step.step % 3 == 0; };
    chooses->wants_tensor = [](std::string_view tensor) { return tensor.starts_with("a"); };
    hook.add_observer(chooses);
    for (int step = 0; step < 4; ++step) {
        hook.set_mode(step < 2 ? mode::train : mode::eval);
        CHECK(hook.should_save("a"));
        CHECK(hook.save_tensor("a", std::vector<float>{1, 2}));
        CHECK(hook.save_tensor("b", std::vector<float>{1, 2, 3}, {"mine"}));
        hook.save_scalar("x", 1);
        hook.end_step();
    }
    hook.close();
    CHECK(all ==
          "a(2) b(3 mine) scalar/x(1) | TRAIN 0/0 a(2) b(3 mine) scalar/x(1) | TRAIN 1/1 "
          "a(2) b(3 mine) scalar/x(1) | EVAL 2/0 a(2) b(3 mine) scalar/x(1) | EVAL 3/1 ");
    CHECK(some == "a(2) | TRAIN 0/0 | TRAIN 1/1 | EVAL 2/0 a(2) | EVAL 3/1 ");
    CHECK(asked == 4);
    const memory_trial run{store};
    CHECK(run.tensor("a").steps() == std::vector<step_number>{0, 2});  // nothing more is saved because of them
    CHECK(run.tensor("scalar/x").steps().size() == 4);
}

TEST_CASE("hook_observer: one of a hook that does not write sees all the same") {
    memory_storage store;
    memory_hook hook{store, {.save_all = true, .worker = "worker_1", .num_workers = 2}};
    std::string all;
    hook.add_observer(noting(all));
    CHECK(hook.save_tensor("a", one));
    hook.save_scalar("x", 1);
    hook.end_step();
    hook.end_step();  // one without tensors
    CHECK(all == "a(1) scalar/x(1) | GLOBAL 0/0 | GLOBAL 1/1 ");
    CHECK(store.list("", "").empty());
}

TEST_CASE("hook_observer: what it throws comes out of the call, and costs no step") {
    memory_storage store;
    memory_hook hook{store, everything()};
    const auto all = std::make_shared<scripted_observer>();
    hook.add_observer(all);
    all->sees = [](const auto&...) { throw std::runtime_error("a rule's"); };
    CHECK_THROWS_AS(hook.save_tensor("a", one), std::runtime_error);
    CHECK_THROWS_AS(hook.save_scalar("x", 1), std::runtime_error);
    hook.end_step();
    hook.close();
    CHECK(hook.counters().lost_steps == 0);
    const memory_trial run{store};
    CHECK(run.tensor_names() == std::vector<std::string>{"a", "scalar/x"});
    CHECK(run.loaded_all_steps());
}

TEST_CASE("hook_observer: the end of an abandoned step is not shown, that of the next one is") {
    memory_hook hook{memory_storage{}, everything(2)};
    std::string all;
    hook.add_observer(noting(all));
    hook.save_tensor("a", one);
    hook.abandon_step();
    hook.abandon_step();  // of which it was not asked
    hook.save_tensor("b", one);
    hook.end_step();
    CHECK(all == "a(1) b(1) | GLOBAL 2/2 ");
}

TEST_CASE("hook_observer: one may add others in every call") {
    memory_hook hook{memory_storage{}, everything()};
    const auto host = std::make_shared<scripted_observer>();
    const auto invite = [&hook] {
        for (int i = 0; i < 100; ++i) {  // so that a vector would have to grow
            hook.add_observer(std::make_shared<scripted_observer>());
        }
        return true;
    };
    int seen = 0;
    host->wants_step = [&](const auto&) { return invite(); };
    host->wants_tensor = [&](const auto&) { return invite(); };
    host->sees = [&](const auto&...) { seen += invite() ? 1 : 0; };
    host->ends = [&](const auto&) { invite(); };
    hook.add_observer(host);
    CHECK(hook.should_save("t"));
    CHECK(hook.save_tensor("t", one));
    hook.end_step();
    CHECK(seen == 1);
}

TEST_CASE("hook_observer: all are notified of a step's end, even if one throws") {
    memory_hook hook{memory_storage{}, everything()};
    std::string ended;
    for (const char* name : {"a", "b"}) {
        const auto made = std::make_shared<scripted_observer>();
        made->ends = [&ended, name](const hook_step& step) {
            ended += name + std::to_string(step.step);
            throw std::runtime_error(name);
        };
        hook.add_observer(made);
    }
    CHECK_THROWS_WITH(hook.end_step(), "a");
    CHECK(ended == "a0b0");
    CHECK(hook.step() == 1);
}
