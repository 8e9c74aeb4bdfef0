// What a process does to its hooks: forks, exit(), another folder, a second hook for the same worker.
#include <smdebug/hook/hook.hpp>

#include "hook/hook_fixture.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <support/child_process.hpp>
#include <support/sanitized.hpp>
#include <support/skipped.hpp>
#include <support/temporary_folder.hpp>

namespace smd = smdebug;
using namespace smdebug_test::hooks;
using smd::memory_storage;
using smdebug_test::temporary_folder;

TEST_CASE("hook: the same worker's name is refused however the workers are counted") {
    memory_storage store;
    smd::hook_options many = everything();
    many.num_workers = 2;
    many.include_workers = smd::include_workers::all;
    {
        const memory_hook alone{store, everything()};
        CHECK(smdebug_test::thrown_code([&] {
                  static_cast<void>(memory_hook{store, many});
              }) == smd::error_code::in_use);
        CHECK(store.size("claim.smd"));  // still held
    }
    memory_storage other;
    const memory_hook first{other, many};
    CHECK(smdebug_test::thrown_code([&] {
              static_cast<void>(memory_hook{other, everything()});
          }) == smd::error_code::in_use);
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
    CHECK(smd::local_storage{options.out_dir}.place() == smd::place_kind::missing);
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
        CHECK(smdebug_test::thrown_code([&] { static_cast<void>(smd::hook{options}); }) == smd::error_code::in_use);
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
                  hook.save_tensor("w", one);  // its step does not end
                  std::exit(7);
                  return 0;
              }) == 7);
        const smd::local_trial run{options.out_dir};
        CHECK(run.steps().size() == (again ? 200 : 100));
        CHECK_FALSE(run.loaded_all_steps());
    }
}
