#include <smdebug/trial/catalog/catalog.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using steps_list = std::vector<step_number>;
using names_list = std::vector<std::string>;

namespace {

auto mode_steps(std::vector<catalog::mode_step_entry> some) {
    return smdebug::detail::sorted_blocks<catalog::mode_step_entry, catalog::mode_step_of>{std::move(some)};
}

// Two workers; steps 0 (train 0), 3 (train 2), 5 (eval 0), 9 (train 1, by worker_0 only).
catalog sample() {
    catalog made;
    name_table_builder names{made.names};
    const name_id loss = names.id_of("loss");
    const name_id weight = names.id_of("weight");
    const name_id original = names.id_of("an original name");
    names.mark_tensor(loss);
    names.mark_tensor(weight);
    const auto sort_by_text = [&](std::vector<name_id>& ids) {
        std::sort(ids.begin(), ids.end(), [&](name_id a, name_id b) { return names.text_of(a) < names.text_of(b); });
    };
    const auto both = std::make_shared<const name_list>(std::vector<recorded_item>{{.name = loss}, {.name = weight}},
                                                        std::vector<name_id>{}, sort_by_text);
    const auto one = std::make_shared<const name_list>(std::vector<recorded_item>{{.name = loss}},
                                                       std::vector<name_id>{loss}, sort_by_text);
    made.names = std::move(names).finish();
    made.name_lists = made.name_lists.with({both, one});
    made.workers = {"worker_0", "worker_1"};
    made.layouts = made.layouts.with(
        {std::make_shared<const layout>(both, std::vector<byte_range>{{0, 10}, {10, 10}},
                                        std::vector<layout::shape_entry>{}),
         std::make_shared<const layout>(
             one, std::vector<byte_range>{{0, 10}},
             std::vector<layout::shape_entry>{{.name = loss, .original_name = original, .extents = {}}})});
    detail::growth::add_files(made, {{.step = 0, .mode_step = 0, .layout = 0, .worker = 0, .mode = mode::train},
                                     {.step = 0, .mode_step = 0, .layout = 0, .worker = 1, .mode = mode::train},
                                     {.step = 3, .mode_step = 2, .layout = 0, .worker = 0, .mode = mode::train},
                                     {.step = 3, .mode_step = 2, .layout = 1, .worker = 1, .mode = mode::train},
                                     {.step = 5, .mode_step = 0, .layout = 1, .worker = 0, .mode = mode::eval},
                                     {.step = 5, .mode_step = 0, .layout = 1, .worker = 1, .mode = mode::eval},
                                     {.step = 9, .mode_step = 1, .layout = 0, .worker = 0, .mode = mode::train}});
    made.mode_steps[catalog::place_of(mode::train)] = mode_steps({{0, 0}, {1, 9}, {2, 3}});
    made.mode_steps[catalog::place_of(mode::eval)] = mode_steps({{0, 5}});
    made.job = std::make_shared<const catalog::job_description>(
        catalog::job_description{.collections = {}, .collection_workers = {}, .num_workers = 2});
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
    run.mode_steps[catalog::place_of(mode::train)] = mode_steps({{0, 0}, {2, 9}});
    CHECK(run.state_of(mode::train, 1) == step_state::not_yet_available);
    run.mode_steps[catalog::place_of(mode::train)] = mode_steps({{0, 0}, {2, 3}});
    CHECK(run.state_of(mode::train, 1) == step_state::unavailable);
    run.loaded_all_steps = true;
    CHECK(run.state_of(mode::global, 9) == step_state::available);
    CHECK(run.state_of(mode::global, 8) == step_state::unavailable);
    CHECK(run.state_of(mode::global, 100) == step_state::unavailable);
}

TEST_CASE("catalog: a tensor's steps are those of its files, in any mode") {
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

TEST_CASE("catalog: a name that is only another tensor's original name is not a tensor") {
    const catalog run = sample();
    CHECK_FALSE(run.find_tensor("an original name").has_value());
    CHECK_FALSE(run.find_tensor("nothing").has_value());
    CHECK(run.tensor_names(mode::global) == names_list{"loss", "weight"});
    CHECK(run.tensor_names(mode::eval) == names_list{"loss"});
    CHECK(run.tensor_names(mode::predict).empty());
    CHECK(run.tensor_names_at(*run.find_step(3)) == names_list{"loss", "weight"});
    CHECK(run.tensor_names_at(*run.find_step(5)) == names_list{"loss"});
}

TEST_CASE("catalog: every file, by step, then by worker's name") {
    const catalog run = sample();
    const auto files = run.files_in({});
    REQUIRE(files.size() == 7);
    CHECK(run.file_count == 7);
    CHECK(files[1]->worker == 1);
    CHECK(files[6]->step == 9);
    CHECK(run.memory() > 7 * sizeof(catalog::file));
}

TEST_CASE("catalog: the files of some steps") {
    const catalog run = sample();
    const auto steps_in = [&](const step_range& range) {
        steps_list steps;
        for (const catalog::file* held : run.files_in(range)) {
            steps.push_back(held->step);
        }
        return steps;
    };
    CHECK(steps_in({3, 9}) == steps_list{3, 3, 5, 5});
    CHECK(steps_in({1, {}}) == steps_list{3, 3, 5, 5, 9});
    CHECK(steps_in({{}, 3}) == steps_list{0, 0});
    CHECK(steps_in({9, 10}) == steps_list{9});
    CHECK(steps_in({10, {}}).empty());
    CHECK(steps_in({4, 5}).empty());
    CHECK(steps_in({{}, 0}).empty());
    CHECK(steps_in({-5, 1}) == steps_list{0, 0});
    CHECK(catalog{}.files_in({}).empty());
}

TEST_CASE("catalog: the last steps of a tensor, complete ones, up to a step") {
    catalog run = sample();
    const name_id weight = *run.find_tensor("weight");
    const name_id loss = *run.find_tensor("loss");
    constexpr step_number most = std::numeric_limits<step_number>::max();
    CHECK(run.last_steps(weight, mode::global, 9, 5) == steps_list{0, 3});
    CHECK(run.last_steps(loss, mode::global, 9, 2) == steps_list{3, 5});
    CHECK(run.last_steps(loss, mode::global, 5, 1) == steps_list{5});
    CHECK(run.last_steps(loss, mode::global, 4, 1) == steps_list{3});
    CHECK(run.last_steps(loss, mode::global, 9, 0).empty());
    CHECK(run.last_steps(loss, mode::global, -1, 3).empty());
    CHECK(run.last_steps(loss, mode::global, most, 9) == steps_list{0, 3, 5});  // and comes to an end
    CHECK(run.last_steps(*run.names->find("an original name"), mode::global, most, 9).empty());
    run.loaded_all_steps = true;
    CHECK(run.last_steps(loss, mode::global, most, 2) == steps_list{5, 9});
    CHECK(catalog{}.last_steps(0, mode::global, most, 1).empty());
}

TEST_CASE("catalog: the last steps of a tensor are those at the end of all its steps, even if they are far apart") {
    std::mt19937_64 random{7};
    const auto below = [&](std::uint64_t bound) { return static_cast<step_number>(random() % bound); };
    for (int round = 0; round < 40; ++round) {
        catalog run = sample();
        const name_id weight = *run.find_tensor("weight");
        std::vector<catalog::file> more;
        step_number step = 9;
        for (int i = 0; i < 60; ++i) {
            step += 1 + below(i % 10 == 0 ? 1'000'000 : (i % 3 == 0 ? 40 : 2));
            for (worker_id worker = 0; worker < 2; ++worker) {
                if (worker == 0 || below(4) != 0) {  // else the step is incomplete
                    more.push_back({.step = step,
                                    .mode_step = step,
                                    .layout = static_cast<std::uint32_t>(below(2)),
                                    .worker = worker,
                                    .mode = mode::train});
                }
            }
        }
        detail::growth::add_files(run, more);
        run.last_complete_step = below(static_cast<std::uint64_t>(step));
        const steps_list all = run.tensor_steps(weight, mode::global, false);
        for (int i = 0; i < 50; ++i) {
            const step_number at = i == 0 ? step : below(static_cast<std::uint64_t>(step) + 5);
            const auto n = static_cast<std::size_t>(below(i % 2 == 0 ? 4 : 70));
            steps_list expected{all.begin(), std::upper_bound(all.begin(), all.end(), at)};
            expected.erase(expected.begin(),
                           expected.end() - static_cast<std::ptrdiff_t>(std::min(n, expected.size())));
            CHECK(run.last_steps(weight, mode::global, at, n) == expected);
        }
    }
}
