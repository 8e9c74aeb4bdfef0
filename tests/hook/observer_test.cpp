#include <smdebug/hook/observer.hpp>

#include <doctest/doctest.h>

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace smdebug;

namespace {

static_assert(!std::is_copy_constructible_v<hook_observer> && std::has_virtual_destructor_v<hook_observer>);

// Records its calls.
class noting_observer final : public hook_observer {
public:
    [[nodiscard]] bool wants(const hook_step& step) override { return step.step % every == 0; }
    [[nodiscard]] bool wants(std::string_view tensor) override { return tensor.starts_with(prefix); }
    void see(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> collections) override {
        notes += std::string{name} + "(" + std::to_string(tensor.count());
        for (const std::string_view each : collections) {
            notes += " " + std::string{each};
        }
        notes += ") ";
        on_see();
    }
    void end_step(const hook_step& step) override {
        notes += "| " + std::string{name_of(step.mode)} + " " + std::to_string(step.step) + "/" +
                 std::to_string(step.mode_step) + " ";
    }

    std::string notes;
    std::string prefix;
    step_number every = 1;
    std::function<void()> on_see = [] {};
};

using memory_hook = basic_hook<memory_storage>;

}  // namespace

TEST_CASE("hook_observer: sees what it wants, whether it is saved or not, and the end of each step") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 2}, .save_all = true}};
    const auto all = std::make_shared<noting_observer>();
    const auto some = std::make_shared<noting_observer>();
    some->prefix = "a";
    some->every = 3;
    hook.add_observer(all);
    hook.add_observer(some);
    for (int step = 0; step < 4; ++step) {
        hook.set_mode(step < 2 ? mode::train : mode::eval);
        CHECK(hook.should_save("a"));
        CHECK(hook.save_tensor("a", std::vector<float>{1, 2}));
        CHECK(hook.save_tensor("b", std::vector<float>{1, 2, 3}, {"mine"}));
        hook.save_scalar("x", 1);
        hook.end_step();
    }
    hook.close();
    CHECK(all->notes ==
          "a(2) b(3 mine) scalar/x(1) | TRAIN 0/0 a(2) b(3 mine) scalar/x(1) | TRAIN 1/1 "
          "a(2) b(3 mine) scalar/x(1) | EVAL 2/0 a(2) b(3 mine) scalar/x(1) | EVAL 3/1 ");
    CHECK(some->notes == "a(2) | TRAIN 0/0 | TRAIN 1/1 | EVAL 2/0 a(2) | EVAL 3/1 ");
    const memory_trial run{store};
    CHECK(run.tensor("a").steps() == std::vector<step_number>{0, 2});  // nothing more is saved because of them
    CHECK(run.tensor("scalar/x").steps().size() == 4);
}

TEST_CASE("hook_observer: one of a hook that does not write sees all the same") {
    memory_storage store;
    memory_hook hook{store, {.save_all = true, .worker = "worker_1", .num_workers = 2}};
    const auto all = std::make_shared<noting_observer>();
    hook.add_observer(all);
    CHECK(hook.save_tensor("a", std::vector<float>{1}));
    hook.end_step();
    hook.end_step();  // one without tensors
    CHECK(all->notes == "a(1) | GLOBAL 0/0 | GLOBAL 1/1 ");
    CHECK(store.list("", "").empty());
}

TEST_CASE("hook_observer: what it throws comes out of the call, and costs no step") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    const auto all = std::make_shared<noting_observer>();
    hook.add_observer(all);
    all->on_see = [] { throw std::runtime_error("a rule's"); };
    CHECK_THROWS_AS(hook.save_tensor("a", std::vector<float>{1}), std::runtime_error);
    CHECK_THROWS_AS(hook.save_scalar("x", 1), std::runtime_error);
    hook.end_step();
    hook.close();
    CHECK(hook.counters().lost_steps == 0);
    const memory_trial run{store};
    CHECK(run.tensor_names() == std::vector<std::string>{"a", "scalar/x"});
    CHECK(run.loaded_all_steps());
}
