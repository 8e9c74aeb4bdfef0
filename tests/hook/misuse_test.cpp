// What goes wrong around a hook: exceptions, forks, numbers used twice, rules that fail, names that nobody meant.
#include <smdebug/hook/hook.hpp>

#include <doctest/doctest.h>

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <support/child_process.hpp>
#include <support/faulty_storage.hpp>
#include <support/sanitized.hpp>
#include <support/skipped.hpp>
#include <support/temporary_folder.hpp>

using namespace std::literals;
namespace smd = smdebug;
using smd::memory_storage;
using memory_hook = smd::basic_hook<memory_storage>;
using smdebug_test::temporary_folder;

namespace {

smd::hook_options everything() { return {.save_config = {.save_interval = 1}, .save_all = true}; }

const std::vector<float> one{1};

// Does what it is told at each question.
struct scripted final : smd::hook_observer {
    bool wants(const smd::hook_step& step) override {
        if (step.step == failing_step) {
            throw std::runtime_error("the rule is sick");
        }
        return true;
    }
    bool wants(std::string_view /*tensor*/) override { return true; }
    void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {}
    void end_step(const smd::hook_step& step) override { ended.push_back(step.step); }
    smd::step_number failing_step = -1;
    std::vector<smd::step_number> ended;
};

}  // namespace

TEST_CASE("hook: an exception that leaves the training gives up the step at hand, and the run can be resumed") {
    memory_storage store;
    const auto train = [&] {
        memory_hook hook{store, everything()};
        hook.save_tensor("a", one);
        hook.end_step();
        hook.save_tensor("a", one);
        throw std::runtime_error("out of memory");
    };
    CHECK_THROWS_AS(train(), std::runtime_error);
    CHECK_FALSE(store.size("training_job_end.ts"));
    CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{0});
    smd::hook_options options = everything();
    options.existing = smd::existing_run::resume;
    memory_hook hook{store, options};
    CHECK(hook.step() == 1);
    hook.close();
    CHECK(store.size("training_job_end.ts"));
}

TEST_CASE(
    "hook: an iteration that an exception of its own keeps from its end can be abandoned, and is not mixed with "
    "another") {
    memory_storage store;
    memory_hook hook{store, everything()};
    const auto rule = std::make_shared<scripted>();
    hook.add_observer(rule);
    hook.set_mode(smd::mode::train);
    for (int step = 0; step < 6; ++step) {
        try {
            hook.save_tensor("a", std::vector<float>{static_cast<float>(step)});
            if (step == 2) {
                throw std::runtime_error("out of memory");
            }
            if (step == 4) {
                hook.save_tensor("", one);
            }
            hook.save_tensor("b", std::vector<float>{static_cast<float>(step)});
            hook.end_step();
        } catch (const std::exception&) {
            hook.abandon_step();
        }
    }
    CHECK(hook.step() == 6);
    CHECK(hook.mode_step() == 6);
    CHECK(hook.counters().lost_steps == 2);
    CHECK(hook.counters().last_loss == "step 4 is lost: it was abandoned");
    CHECK(rule->ended == std::vector<smd::step_number>{0, 1, 3, 5});
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 1, 3, 5});
    for (const smd::step_number step : run.steps()) {
        CHECK(run.tensor("a").value<float>(step)(0) == static_cast<float>(step));
        CHECK(run.tensor("b").value<float>(step)(0) == static_cast<float>(step));
    }
    CHECK_THROWS_AS(hook.abandon_step(), smd::unsupported);
}

TEST_CASE("hook: a step that has ended is not abandoned once more, whatever its end threw") {
    const smdebug_test::faulty_storage store;
    smd::basic_hook<smdebug_test::faulty_storage> hook{store, everything()};
    for (int step = 0; step < 5; ++step) {
        try {
            if (step == 1 || step == 3) {
                store.plan({.first = 0, .only = "commit events/"});
            }
            hook.save_tensor("a", std::vector<float>{static_cast<float>(step)});
            hook.end_step();
        } catch (const smd::unavailable&) {
            hook.abandon_step();
        }
        CHECK(hook.step() == step + 1);
    }
    CHECK(hook.counters().lost_steps == 2);
    hook.abandon_step();  // an iteration that saved nothing is one, too
    CHECK(hook.step() == 6);
    CHECK(hook.counters().lost_steps == 2);
    hook.close();
    CHECK(smd::basic_trial{store.objects()}.steps() == std::vector<smd::step_number>{0, 2, 4});
}

TEST_CASE("hook: a step that was to hold everything, and was abandoned, leaves that to the next one") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 100}}};
    hook.end_step();
    hook.save_everything_next_step();
    CHECK(hook.should_save("w"));
    hook.abandon_step();
    CHECK(hook.save_tensor("w", one));
    hook.end_step();
    CHECK_FALSE(hook.save_tensor("w", one));
    hook.close();
    CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{2});
}

TEST_CASE("hook: one that is made and destroyed while an exception is on its way ends its run as ever") {
    memory_storage store;
    struct saves_when_destroyed {
        memory_storage* store;
        ~saves_when_destroyed() {
            memory_hook hook{*store, everything()};
            hook.save_tensor("a", one);
        }
    };
    try {
        const saves_when_destroyed last{&store};
        throw 1;
    } catch (int) {
    }
    CHECK(store.size("training_job_end.ts"));
    CHECK(smd::basic_trial{store}.steps().size() == 1);
}

TEST_CASE("hook: what a resumed run's collections file says is not forgotten") {
    memory_storage store;
    {
        smd::hook_options options = everything();
        options.save_all = false;
        options.mark_end_of_job = false;
        memory_hook hook{store, options};
        hook.save_tensor("x", one, {"mine"});
        hook.end_step();
        hook.close();
    }
    smd::hook_options options = everything();
    options.existing = smd::existing_run::resume;
    memory_hook hook{store, options};
    hook.save_tensor("y.weight", one);
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.tensor_names({.collection = "mine"}) == std::vector<std::string>{"x"});
}

TEST_CASE("hook: a number that was just written is not used for another mode's step") {
    memory_storage store;
    memory_hook hook{store, everything()};
    hook.set_mode(smd::mode::train);
    hook.set_step(5, 5);
    hook.save_tensor("w", one);
    hook.end_step();
    hook.set_mode(smd::mode::eval);
    CHECK_THROWS_AS(hook.set_step(5, 0), smd::value_error);
    hook.set_step(6, 0);
    hook.save_tensor("accuracy", one);
    hook.end_step();
    hook.close();
    CHECK(smd::basic_trial{store}.tensor_names().size() == 2);
}

TEST_CASE("hook: a mode's step that was written is not written again as another step of the job") {
    memory_storage store;
    memory_hook hook{store, everything()};
    for (const smd::mode which : {smd::mode::global, smd::mode::eval}) {
        hook.set_mode(which);
        const smd::step_number first = hook.step();
        hook.set_step(first, 5);
        hook.save_tensor("w", one);
        hook.end_step();
        CHECK_THROWS_AS(hook.set_step(first + 1, 5), smd::value_error);
        CHECK(hook.step() == first + 1);
    }
    // Nor where counting comes to it.
    hook.set_step(hook.step(), 4);
    hook.save_tensor("w", one);
    hook.end_step();
    CHECK(hook.mode_step() == 5);
    hook.save_tensor("w", one);
    CHECK_THROWS_WITH_AS(hook.end_step(),
                         "SMDebugValueError: EVAL step 5 has been written already, as step 1 of the job: a mode's step "
                         "is written once, so give this one another number in the mode",
                         smd::value_error);
    CHECK(hook.counters().lost_steps == 1);
    hook.save_tensor("w", one);
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 1, 2, 4});
    CHECK(run.steps({.mode = smd::mode::eval}) == std::vector<smd::step_number>{4, 5, 6});
}

TEST_CASE("hook: a training that goes back replaces the mode's steps behind it, whatever their numbers in the job") {
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        memory_storage store;
        smd::hook_options options = everything();
        options.background.pool_bytes = pool;
        memory_hook hook{store, options};
        const auto step = [&](smd::mode which, float value) {
            hook.set_mode(which);
            hook.save_tensor("w", std::vector<float>{value});
            hook.end_step();
        };
        step(smd::mode::train, 0);
        step(smd::mode::eval, 1);
        step(smd::mode::train, 2);  // TRAIN step 1
        hook.set_mode(smd::mode::train);
        hook.set_step(0, 0);
        step(smd::mode::train, 10);
        step(smd::mode::train, 11);  // TRAIN step 1, where EVAL step 0 was
        hook.close();
        const smd::basic_trial run{store};
        CHECK(run.steps() == std::vector<smd::step_number>{0, 1});
        CHECK(run.tensor("w").value<float>(1, {.mode = smd::mode::train})(0) == 11);
        CHECK(run.steps({.mode = smd::mode::eval}).empty());
    }
}

TEST_CASE("hook: a run that is resumed counts on in every mode, also in one that was not seen for long") {
    memory_storage store;
    smd::hook_options options = everything();
    options.mark_end_of_job = false;
    const auto save = [](memory_hook& hook, smd::mode which, int steps) {
        hook.set_mode(which);
        for (int step = 0; step < steps; ++step) {
            hook.save_tensor("w", one);
            hook.end_step();
        }
    };
    {
        memory_hook hook{store, options};
        save(hook, smd::mode::eval, 3);
        save(hook, smd::mode::train, 1100);
        hook.close();
    }
    options.existing = smd::existing_run::resume;
    memory_hook hook{store, options};
    hook.set_mode(smd::mode::train);
    CHECK_THROWS_AS(hook.set_step(1103, 7), smd::value_error);
    CHECK(hook.mode_step() == 1100);
    save(hook, smd::mode::eval, 1);
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps({.mode = smd::mode::eval}) == std::vector<smd::step_number>{0, 1, 2, 3});
}

TEST_CASE("hook: a first step that is told is the first one of every mode, so that the schedule stays where it was") {
    memory_storage store;
    smd::hook_options options{.save_config = {.save_interval = 500}, .save_all = true, .init_step = 1234};
    memory_hook hook{store, options};
    for (const smd::mode which : {smd::mode::train, smd::mode::global, smd::mode::eval}) {
        hook.set_mode(which);
        CHECK(hook.mode_step() == 1234);
    }
    hook.set_mode(smd::mode::train);
    while (hook.step() < 1600) {
        hook.save_tensor("w", one);
        hook.end_step();
    }
    hook.close();
    CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{1500});
}

TEST_CASE("hook: the same worker's name is refused however the workers are counted") {
    memory_storage store;
    smd::hook_options many = everything();
    many.num_workers = 2;
    many.include_workers = smd::include_workers::all;
    {
        const memory_hook alone{store, everything()};
        CHECK_THROWS_AS((memory_hook{store, many}), smd::in_use);
        CHECK(store.size("claim.smd"));  // still held
    }
    memory_storage other;
    const memory_hook first{other, many};
    CHECK_THROWS_AS((memory_hook{other, everything()}), smd::in_use);
}

TEST_CASE("hook: a name that is for saved reductions is refused, and costs nothing but itself") {
    memory_storage store;
    memory_hook hook{store, everything()};
    hook.save_tensor("a", one);
    CHECK_THROWS_AS(hook.save_tensor("smdebug/reductions/mean/a", one), smd::value_error);
    CHECK_THROWS_AS(hook.save_tensor("smdebug/reductions/x", one, {"mine"}), smd::value_error);
    CHECK_THROWS_AS(hook.save_scalar("smdebug/reductions/mean/a", 1), smd::value_error);
    hook.end_step();
    hook.close();
    CHECK(smd::basic_trial{store}.tensor_names() == std::vector<std::string>{"a"});
    CHECK(hook.counters().lost_steps == 0);
}

TEST_CASE("hook: the longest name of a worker is good for all files, a longer one is refused when the hook is made") {
    const temporary_folder folder;
    smd::hook_options options = everything();
    options.include_workers = smd::include_workers::all;
    options.num_workers = 2;
    options.export_tensorboard = true;
    options.out_dir = folder.path() + "/run";
    options.worker = std::string(100'000, 'w');
    CHECK_THROWS_AS(smd::hook{options}, smd::value_error);
    CHECK_FALSE(smd::local_storage{options.out_dir}.exists());
    options.worker.resize(200);
    smd::hook hook{options};
    hook.set_step(smd::largest_step);
    hook.save_scalar("x", 1);
    hook.end_step();
    hook.close();
    CHECK(hook.counters().steps == 1);
}

TEST_CASE("hook: a run stays where it was begun when the process goes to another folder") {
    const temporary_folder folder;
    CHECK(smdebug_test::status_of_child([&] {
              std::filesystem::create_directory(folder.path() + "/elsewhere");
              std::filesystem::current_path(folder.path());
              smd::hook_options options = everything();
              options.out_dir = "run";
              options.tensorboard_dir = "curves";
              smd::hook hook{options};
              hook.save_scalar("x", 1);
              hook.end_step();
              const smd::local_trial run{"run"};
              std::filesystem::current_path("elsewhere");
              hook.save_scalar("x", 2);
              hook.end_step();
              hook.close();
              run.refresh();
              return run.steps().size() == 2 && run.loaded_all_steps() && std::filesystem::is_empty(".") ? 0 : 1;
          }) == 0);
    CHECK(smd::local_trial{folder.path() + "/run"}.steps().size() == 2);
    CHECK(std::filesystem::exists(folder.path() + "/curves/GLOBAL"));
}

TEST_CASE("hook: a shape in braces is a shape, whatever its numbers") {
    memory_storage store;
    memory_hook hook{store, everything()};
    const std::vector<float> none;
    CHECK(hook.save_tensor("empty", none, {0}));
    CHECK(hook.save_tensor("empty 2", none, {0, 0}));
    CHECK(hook.save_tensor("square", std::vector<float>{1, 2, 3, 4}, {2, 2}, {"mine"}));
    CHECK(hook.save_tensor("scalar", one, smd::shape_type{}));
    CHECK(hook.save_tensor("flat", one, {"mine"}));
    CHECK(hook.save_tensor("flat 2", one, {"mine", "yours"}));
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.tensor("empty").shape(0) == smd::shape_type{0});
    CHECK(run.tensor("empty 2").shape(0) == smd::shape_type{0, 0});
    CHECK(run.tensor("scalar").shape(0).empty());
    CHECK(run.tensor("flat 2").shape(0) == smd::shape_type{1});
    CHECK(run.tensor_names({.collection = "mine"}) == std::vector<std::string>{"flat", "flat 2", "square"});
}

TEST_CASE("hook: says that nothing was taken of what has no reductions") {
    memory_storage store;
    smd::hook_options options = everything();
    options.reduction_config = smd::reduction_config{.reductions = {"mean"}};
    memory_hook hook{store, options};
    const std::array texts{"a"sv};
    CHECK_FALSE(hook.save_tensor("texts", std::span<const std::string_view>{texts}, {1}));
    CHECK_FALSE(hook.save_tensor("complex", std::vector<std::complex<float>>{{1, 2}}));
    CHECK(hook.save_tensor("float", one));
    hook.end_step();
    CHECK(hook.counters().tensors == 1);
}

TEST_CASE("hook: asks for a tensor that is to go into a collection of its own") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 2}}};
    CHECK_FALSE(hook.should_save("x"));
    CHECK(hook.should_save("x", {"mine"}));
    CHECK(hook.save_tensor("x", one, {"mine"}));
    hook.end_step();
    CHECK_FALSE(hook.should_save("x", {"mine"}));
    hook.close();
    CHECK_FALSE(hook.should_save("x"));
    CHECK_THROWS_AS(hook.save_tensor("x", one), smd::unsupported);
}

TEST_CASE("hook: a step is over, and told, whatever an observer throws") {
    memory_storage store;
    memory_hook hook{store, everything()};
    const auto rule = std::make_shared<scripted>();
    rule->failing_step = 1;
    hook.add_observer(rule);
    hook.save_tensor("a", one);
    hook.end_step();
    CHECK_THROWS_WITH(hook.end_step(), "the rule is sick");
    CHECK(hook.step() == 2);
    hook.save_tensor("b", one);
    hook.close();  // ends the step at hand, and tells of it
    CHECK(rule->ended.back() == 2);
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 2});
    CHECK(run.tensor_names({.step = 2}) == std::vector<std::string>{"b"});
}

TEST_CASE("hook: a forked child that ends touches nothing of its parent's") {
    const temporary_folder folder;
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        const std::string run = folder.path() + "/run" + std::to_string(pool);
        smd::hook_options options = everything();
        options.out_dir = run;
        options.background.pool_bytes = pool;
        auto parents = std::make_unique<smd::hook>(options);
        parents->save_tensor("a", std::vector<float>(100'000));
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::alarm(20);
            parents.reset();
            ::_exit(0);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        CHECK_FALSE(smd::local_storage{run}.size("training_job_end.ts"));
        parents->save_tensor("b", one);
        parents->end_step();
        CHECK_THROWS_AS(smd::hook{options}, smd::in_use);
        parents->close();
        CHECK(smd::local_trial{run}.tensor("a").value<float>(0).size() == 100'000);
    }
}

TEST_CASE("hook: whatever a forked child calls says whose the hook is, and does nothing") {
    const temporary_folder folder;
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        if (pool > 0 && smdebug_test::threads_sanitized) {
            smdebug_test::skipped(smdebug_test::lacking::sanitizer, "ThreadSanitizer allows no threads in a child");
            break;
        }
        smd::hook_options options = everything();
        options.out_dir = folder.path() + "/run" + std::to_string(pool);
        options.background.pool_bytes = pool;
        smd::hook hook{options};
        hook.save_tensor("a", one);
        CHECK(smdebug_test::status_of_child([&] {
                  ::alarm(20);
                  int refused = 0;
                  const auto refuses = [&](auto&& call) {
                      try {
                          call();
                      } catch (const smd::unsupported& thrown) {
                          refused += std::string{thrown.what()}.find(std::to_string(::getppid())) != std::string::npos;
                      }
                  };
                  refuses([&] { hook.save_tensor("b", one); });
                  refuses([&] { hook.save_tensor("b", one, {1}); });
                  refuses([&] { hook.save_scalar("b", 1); });
                  refuses([&] { static_cast<void>(hook.should_save("b")); });
                  refuses([&] { static_cast<void>(hook.should_save("b", {"mine"})); });
                  refuses([&] { hook.set_mode(smd::mode::eval); });
                  refuses([&] { hook.set_step(7); });
                  refuses([&] { hook.end_step(); });
                  refuses([&] { hook.abandon_step(); });
                  refuses([&] { hook.flush(); });
                  refuses([&] { hook.close(); });
                  smd::hook_options own = options;
                  own.out_dir += "_child";
                  smd::hook mine{own};
                  mine.save_tensor("c", one);
                  mine.end_step();
                  mine.close();
                  return refused;
              }) == 11);
        hook.end_step();
        hook.close();
        CHECK(smd::local_trial{options.out_dir}.tensor_names() == std::vector<std::string>{"a"});
        CHECK(smd::local_trial{options.out_dir + "_child"}.tensor_names() == std::vector<std::string>{"c"});
    }
}

TEST_CASE(
    "hook: exit() in the middle of a training waits for the steps in the background, and leaves a run to resume") {
    const temporary_folder folder;
    smd::hook_options options = everything();
    options.out_dir = folder.path() + "/run";
    options.background.pool_bytes = std::size_t{8} << 20U;
    for (const bool again : {false, true}) {
        options.existing = again ? smd::existing_run::resume : smd::existing_run::refuse;
        CHECK(smdebug_test::status_of_child([&] {
                  smd::hook hook{options};
                  for (int step = 0; step < 100; ++step) {
                      hook.save_tensor("w", std::vector<float>(2000, static_cast<float>(step)));
                      hook.end_step();
                  }
                  hook.save_tensor("w", one);  // of a step that does not end
                  std::exit(7);
                  return 0;
              }) == 7);
        const smd::local_trial run{options.out_dir};
        CHECK(run.steps().size() == (again ? 200 : 100));
        CHECK_FALSE(run.loaded_all_steps());
    }
}

TEST_CASE("hook: a step that is lost in the background before it has ended is counted once, and no other is") {
    const smdebug_test::faulty_storage store;
    smd::hook_options options = everything();
    options.background.pool_bytes = std::size_t{2} << 20U;
    options.on_failure = smd::failure_policy::drop;
    smd::basic_hook<smdebug_test::faulty_storage> hook{store, options};
    hook.save_tensor("a", one);
    hook.end_step();
    hook.flush();
    store.plan({.first = 0, .count = 1, .only = "create events/"});
    hook.save_tensor("large", std::vector<float>(1'000'000));
    hook.flush();
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().steps == 1);
    CHECK_FALSE(hook.save_tensor("more of it", one));
    hook.end_step();
    hook.save_tensor("b", one);
    hook.end_step();
    hook.close();
    CHECK(hook.counters().lost_steps == 1);
    CHECK(hook.counters().steps == 2);
    CHECK(smd::basic_trial{store.objects()}.steps() == std::vector<smd::step_number>{0, 2});
}
