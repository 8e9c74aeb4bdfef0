#include <smdebug/trial/read/held_steps.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using held_files = held_steps;

namespace {

// Ten steps of a little more than `floats` floats.
struct far_run {
    explicit far_run(std::size_t floats)
        : store([&] {
              memory_storage objects;
              run_builder build{objects};
              build.collections();
              for (step_number step = 0; step < 10; ++step) {
                  build.step({.step = step,
                              .tensors = {tensor_of("a", std::vector<float>(floats, 1)), tensor_of<float>("b", {1})}});
              }
              build.end();
              return counting_storage<>{objects};
          }()) {
        static_cast<void>(store.calls());
    }

    // Which steps' event files are not asked for any more when they are read.
    [[nodiscard]] std::vector<step_number> near() const {
        std::vector<step_number> found;
        for (step_number step = 0; step < 10; ++step) {
            static_cast<void>(store.calls());
            static_cast<void>(run.tensor("b").value(step));
            const auto calls = store.calls();
            const bool is_read = std::any_of(calls.begin(), calls.end(), [&](const std::string& call) {
                return call.starts_with("part ") || call.starts_with("read ");
            });
            if (!is_read) {
                found.push_back(step);
            }
        }
        return found;
    }

    [[nodiscard]] smdebug::detail::selected_tensors which(const std::string& name) const {
        return smdebug::detail::selected_tensors{{.names = std::vector{name}}, *run.snapshot()};
    }

    counting_storage<> store;
    trial run{any_storage{cached(store, memory_cache{0})}};
};

using steps_list = std::vector<step_number>;

}  // namespace

TEST_CASE("held_steps: steps ahead take half of the room, and steps behind a quarter") {
    const far_run far{25'000};  // 100 KB a step
    held_files files{far.run.state(), 650'000};
    const auto from = far.run.snapshot();
    const auto all = far.which("a");
    files.go_to(0);
    files.bring(*from, all);
    for (step_number step = 1; step < 10; ++step) {
        CHECK(files.plan_ahead(*from, step, all) == (step <= 3));
    }
    files.bring_planned();
    CHECK(far.near() == steps_list{0, 1, 2, 3});
    files.go_to(3);
    CHECK(files.wants_more());
    for (step_number step = 4; step < 10; ++step) {
        CHECK(files.plan_ahead(*from, step, all) == (step <= 6));
    }
    CHECK_FALSE(files.wants_more());
    files.bring_planned();
    CHECK(far.near() == steps_list{2, 3, 4, 5, 6});
}

TEST_CASE("held_steps: one step ahead is held whatever its size, if there is room for it at all") {
    const far_run far{25'000};
    const auto from = far.run.snapshot();
    const auto all = far.which("a");
    held_files two{far.run.state(), 250'000};
    two.go_to(0);
    two.bring(*from, all);
    CHECK(two.plan_ahead(*from, 1, all));
    CHECK_FALSE(two.plan_ahead(*from, 2, all));
    two.bring_planned();
    CHECK(far.near() == steps_list{0, 1});
    held_files none{far.run.state(), 50'000};
    none.go_to(5);
    none.bring(*from, all);
    CHECK_FALSE(none.plan_ahead(*from, 6, all));
    CHECK(far.near() == steps_list{0, 1});
}

TEST_CASE("held_steps: of a large file of which little is wanted that is held, unless more will be asked for") {
    const far_run far{300'000};  // 1.2 MB a step
    const auto from = far.run.snapshot();
    const auto little = far.which("b");
    held_files files{far.run.state(), std::uint64_t{64} << 20U};
    files.go_to(4);
    files.bring(*from, little);
    CHECK(far.near() == steps_list{4});
    static_cast<void>(far.store.calls());
    static_cast<void>(far.run.tensor("a").value(4));
    CHECK(far.store.calls().size() == 1);
    files.go_to(5);
    files.bring_wholes(*from, little);
    CHECK(far.near() == steps_list{4, 5});
    static_cast<void>(far.run.tensor("a").value(5));
    CHECK(far.store.calls().empty());
}

TEST_CASE("held_steps: nothing is held of a run near by, and there is always room") {
    memory_storage objects;
    run_builder{objects}.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}}).end();
    const trial run{any_storage{objects}};
    held_files files{run.state(), 0};
    CHECK_FALSE(files.holds());
    files.go_to(0);
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors all{{}, *from};
    files.bring(*from, all);
    CHECK(files.plan_ahead(*from, 0, all));
    files.bring_planned();
}
