#include <smdebug/trial/catalog.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace smdebug;
using steps_list = std::vector<step_number>;
using names_list = std::vector<std::string>;

namespace {

// Two workers; steps 0 (train 0), 3 (train 2), 5 (eval 0), 9 (train 1, of worker_0 alone).
catalog sample() {
    catalog made;
    auto names = std::make_shared<name_table>();
    const name_id loss = names->add("loss");
    const name_id weight = names->add("weight");
    const name_id original = names->add("an original name");
    made.names = names;
    made.workers = {"worker_0", "worker_1"};
    made.layouts = {std::make_shared<const layout>(std::vector<layout::entry>{{.name = loss}, {.name = weight}},
                                                   std::vector<layout::shape_entry>{}),
                    std::make_shared<const layout>(
                        std::vector<layout::entry>{{.name = loss}},
                        std::vector<layout::shape_entry>{{.name = loss, .original_name = original, .extents = {}}})};
    made.files = {{.step = 0, .mode_step = 0, .layout = 0, .worker = 0, .mode = mode::train},
                  {.step = 0, .mode_step = 0, .layout = 0, .worker = 1, .mode = mode::train},
                  {.step = 3, .mode_step = 2, .layout = 0, .worker = 0, .mode = mode::train},
                  {.step = 3, .mode_step = 2, .layout = 1, .worker = 1, .mode = mode::train},
                  {.step = 5, .mode_step = 0, .layout = 1, .worker = 0, .mode = mode::eval},
                  {.step = 5, .mode_step = 0, .layout = 1, .worker = 1, .mode = mode::eval},
                  {.step = 9, .mode_step = 1, .layout = 0, .worker = 0, .mode = mode::train}};
    made.steps = {{.step = 0, .mode_step = 0, .first_file = 0, .file_count = 2, .mode = mode::train},
                  {.step = 3, .mode_step = 2, .first_file = 2, .file_count = 2, .mode = mode::train},
                  {.step = 5, .mode_step = 0, .first_file = 4, .file_count = 2, .mode = mode::eval},
                  {.step = 9, .mode_step = 1, .first_file = 6, .file_count = 1, .mode = mode::train}};
    made.claims[catalog::place_of(mode::train)] = {{0, 0}, {1, 9}, {2, 3}};
    made.claims[catalog::place_of(mode::eval)] = {{0, 5}};
    made.num_workers = 2;
    made.last_complete_step = 5;
    return made;
}

}  // namespace

TEST_CASE("catalog: steps of a mode, complete ones or all") {
    const catalog run = sample();
    CHECK(run.steps_of(mode::global, false) == steps_list{0, 3, 5});
    CHECK(run.steps_of(mode::global, true) == steps_list{0, 3, 5, 9});
    CHECK(run.steps_of(mode::train, false) == steps_list{0, 2});
    CHECK(run.steps_of(mode::train, true) == steps_list{0, 1, 2});
    CHECK(run.steps_of(mode::predict, true).empty());
    CHECK(run.last_step_of(mode::train) == 2);
    CHECK(run.last_step_of(mode::predict) == -1);
}

TEST_CASE("catalog: the state of a step says whether it may still come") {
    catalog run = sample();
    CHECK(run.state_of(mode::global, 0) == step_state::available);
    CHECK(run.state_of(mode::global, 4) == step_state::unavailable);
    CHECK(run.state_of(mode::global, 9) == step_state::not_yet_available);
    CHECK(run.state_of(mode::global, 8) == step_state::not_yet_available);
    CHECK(run.state_of(mode::global, 100) == step_state::not_yet_available);
    CHECK(run.state_of(mode::global, -1) == step_state::unavailable);
    CHECK(run.state_of(mode::train, 2) == step_state::available);
    CHECK(run.state_of(mode::train, 1) == step_state::not_yet_available);
    CHECK(run.state_of(mode::train, 3) == step_state::not_yet_available);
    // A gap in a mode: the next of its steps is incomplete, global step 9, so that 1 may still come before it.
    run.claims[catalog::place_of(mode::train)] = {{0, 0}, {2, 9}};
    CHECK(run.state_of(mode::train, 1) == step_state::not_yet_available);
    run.claims[catalog::place_of(mode::train)] = {{0, 0}, {2, 3}};
    CHECK(run.state_of(mode::train, 1) == step_state::unavailable);
    run.loaded_all_steps = true;
    CHECK(run.state_of(mode::global, 9) == step_state::available);
    CHECK(run.state_of(mode::global, 8) == step_state::unavailable);
    CHECK(run.state_of(mode::global, 100) == step_state::unavailable);
}

TEST_CASE("catalog: a tensor's steps are those of its files, in whatever mode") {
    const catalog run = sample();
    const auto weight = run.find_tensor("weight");
    const auto loss = run.find_tensor("loss");
    REQUIRE(weight.has_value());
    REQUIRE(loss.has_value());
    CHECK(run.tensor_steps(*weight, mode::global, false) == steps_list{0, 3});
    CHECK(run.tensor_steps(*weight, mode::global, true) == steps_list{0, 3, 9});
    CHECK(run.tensor_steps(*weight, mode::train, true) == steps_list{0, 1, 2});
    CHECK(run.tensor_steps(*weight, mode::eval, true).empty());
    CHECK(run.tensor_steps(*loss, mode::global, true) == steps_list{0, 3, 5, 9});
    CHECK(run.files_with(*weight, 3).size() == 1);
    CHECK(run.files_with(*loss, 3).size() == 2);
    CHECK(run.files_with(*loss, 4).empty());
}

TEST_CASE("catalog: a name that is only another tensor's original name is no tensor") {
    const catalog run = sample();
    CHECK_FALSE(run.find_tensor("an original name").has_value());
    CHECK_FALSE(run.find_tensor("nothing").has_value());
    CHECK(run.tensor_names([](const catalog::file&) { return true; }) == names_list{"loss", "weight"});
    CHECK(run.tensor_names([](const catalog::file& held) { return held.mode == mode::eval; }) == names_list{"loss"});
    CHECK(run.tensor_names_at(run.steps[1]) == names_list{"loss", "weight"});
    CHECK(run.tensor_names_at(run.steps[2]) == names_list{"loss"});
}

TEST_CASE("name_table: numbers stay when it is copied and grows") {
    name_table names;
    CHECK(names.add("b") == 0);
    CHECK(names.add("a") == 1);
    CHECK(names.add("b") == 0);
    name_table copy = names;
    CHECK(copy.add("c") == 2);
    CHECK(names.size() == 2);
    CHECK(copy[0] == "b");
    CHECK(copy.find("a") == 1);
    CHECK_FALSE(names.find("c").has_value());
    copy = names;
    CHECK(copy.size() == 2);
    CHECK(copy[1] == "a");
}
