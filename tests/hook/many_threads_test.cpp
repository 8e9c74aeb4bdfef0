#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

namespace smd = smdebug;

TEST_CASE("hook_threads: many threads save into one step, nothing is lost, refused or mixed up") {
    constexpr std::size_t threads = 4;
    constexpr std::size_t tensors = 50;
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        CAPTURE(pool);
        smd::memory_storage store;
        smd::basic_hook<smd::memory_storage> hook{store,
                                                  {.save_config = {.save_interval = 1},
                                                   .save_all = true,
                                                   .threads = smd::hook_threads::many,
                                                   .background = {.pool_bytes = pool}}};
        for (int step = 0; step < 3; ++step) {
            std::vector<std::thread> all;
            for (std::size_t thread = 0; thread < threads; ++thread) {
                all.emplace_back([&hook, thread, step] {
                    for (std::size_t i = 0; i < tensors; ++i) {
                        const std::string name = "t" + std::to_string(thread) + "/" + std::to_string(i);
                        if (hook.should_save(name)) {
                            hook.save_tensor(name, std::vector<float>(10, static_cast<float>(thread * 1000 + i) +
                                                                              static_cast<float>(step) / 4));
                        }
                    }
                });
            }
            for (std::thread& each : all) {
                each.join();
            }
            hook.end_step();
        }
        hook.close();
        const smd::basic_trial trial{store};
        CHECK(trial.steps() == std::vector<smd::step_number>{0, 1, 2});
        REQUIRE(trial.tensor_names().size() == threads * tensors);
        for (std::size_t thread = 0; thread < threads; ++thread) {
            for (std::size_t i = 0; i < tensors; ++i) {
                const auto tensor = trial.tensor("t" + std::to_string(thread) + "/" + std::to_string(i));
                CHECK(tensor.value<float>(2)(9) == static_cast<float>(thread * 1000 + i) + 0.5F);
            }
        }
    }
}
