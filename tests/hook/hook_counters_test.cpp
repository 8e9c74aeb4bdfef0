#include <smdebug/hook/hook_options.hpp>

#include <doctest/doctest.h>

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smd = smdebug;

TEST_CASE("hook_counters: begin at nothing") {
    const smd::hook_counters none;
    CHECK(none.steps + none.tensors + none.bytes + none.dropped_tensors + none.lost_steps == 0);
    CHECK(none.last_loss.empty());
}

TEST_CASE("hook_counters: count steps that were written, what is in them, and the bytes of their files") {
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{
        store,
        {.save_config = {.save_interval = 2},
         .reduction_config = smd::reduction_config{.reductions = {"mean", "max", "sum"}, .save_shape = true},
         .save_all = true}};
    for (int step = 0; step < 4; ++step) {  // two of them are due
        hook.save_tensor("a", std::vector<float>{1, 2, 3});
        hook.save_tensor("b", std::vector<double>{1, 2, 3});
        hook.end_step();
    }
    CHECK(hook.counters().steps == 2);
    CHECK(hook.counters().tensors == 4);  // not one for each reduction
    hook.save_scalar("x", 1);
    hook.close();
    CHECK(hook.counters().steps == 3);
    CHECK(hook.counters().tensors == 5);
    std::size_t bytes = 0;
    for (const char* folder : {"events/", "index/"}) {
        for (const std::string& key : store.list(folder, "")) {
            bytes += store.size(key).value();
        }
    }
    CHECK(hook.counters().bytes == bytes);
    CHECK(hook.counters().lost_steps == 0);
}
