#include <smdebug/trial/catalog/catalog_builder.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

std::string index_of(const written_step& step) {
    return index_text(step, encode_events(step).places, smdebug::detail::locations::event_key(step.step, step.worker));
}

written_step step_with(step_number step, std::vector<std::string> names, mode in = mode::train,
                       step_number mode_step = -1, std::string worker = "worker_0") {
    written_step made{.step = step, .tensors = {}, .mode = in, .mode_step = mode_step, .worker = std::move(worker)};
    for (std::string& name : names) {
        made.tensors.push_back(tensor_of<float>(std::move(name), {1, 2}));
    }
    return made;
}

struct building {
    catalog last;
    loader_cache memory;

    explicit building(std::size_t workers = 1) {
        last.job = std::make_shared<const catalog::job_description>(
            catalog::job_description{.collections = {}, .collection_workers = {}, .num_workers = workers});
    }
    void load(const std::vector<written_step>& steps, bool ended = false, int window = 1000) {
        catalog_builder builder{last, memory};
        for (const written_step& step : steps) {
            REQUIRE_FALSE(builder.add(step.step, step.worker, as_bytes(index_of(step))).has_value());
        }
        last = std::move(builder).finish(window, ended);
    }
};

}  // namespace

TEST_CASE("catalog_builder: steps that repeat the same payload share one layout") {
    building run;
    std::vector<written_step> steps;
    for (step_number step = 1; step < 10; ++step) {
        steps.push_back(step_with(step, {"a", "b", "c"}));
    }
    run.load(steps);
    CHECK(run.last.file_count == 9);
    CHECK(run.last.layouts.size() == 1);
    run.load({step_with(10, {"a", "b", "c"})});  // one more digit: another length, another layout
    CHECK(run.last.layouts.size() == 2);
    run.load({step_with(11, {"a", "b", "c"})});  // a refresh remembers the layouts of the last one
    CHECK(run.last.layouts.size() == 2);
    CHECK(run.last.names->size() == 3);
}

TEST_CASE("catalog_builder: modes that take turns do not make a layout each time") {
    building run;
    std::vector<written_step> steps;
    for (step_number step = 200; step < 300; ++step) {
        steps.push_back(step % 2 == 0 ? step_with(step, {"a", "b"}) : step_with(step, {"b", "c"}, mode::eval));
    }
    run.load(steps);
    CHECK(run.last.layouts.size() == 2);
}

TEST_CASE("catalog_builder: a mode step stands for the first global step that claimed it, lowest first in one load") {
    building run;
    run.load(
        {step_with(5, {"a"}, mode::train, 1), step_with(7, {"a"}, mode::train, 1), step_with(8, {"a"}, mode::eval, 1)});
    CHECK(run.last.global_step(mode::train, 1) == 5);
    CHECK(run.last.global_step(mode::eval, 1) == 8);
    run.load({step_with(3, {"a"}, mode::train, 1)});  // comes later: too late
    CHECK(run.last.global_step(mode::train, 1) == 5);
    CHECK(run.last.steps_of(mode::global, true) == std::vector<step_number>{3, 5, 7, 8});
    CHECK_FALSE(run.last.global_step(mode::train, 2).has_value());
    CHECK(run.last.global_step(mode::global, 99) == 99);
}

TEST_CASE("catalog_builder: a step's mode is that of its first index file, even if other workers come later") {
    building run{2};
    run.load({step_with(4, {"a"}, mode::eval, 9, "worker_1")});
    run.load({step_with(4, {"a"}, mode::train, 2, "worker_0")});
    REQUIRE(run.last.steps.size() == 1);
    const catalog::step_entry& held = run.last.steps.front();
    CHECK(held.mode == mode::eval);
    CHECK(held.mode_step == 9);
    CHECK(run.last.workers[held.files()[0].worker] == "worker_0");  // still ordered by name
    CHECK(held.file_count == 2);
}

TEST_CASE("catalog_builder: a step is complete when as many workers wrote it as the job has") {
    building run{2};
    run.load({step_with(0, {"a"}, mode::train, 0, "worker_0"), step_with(0, {"a"}, mode::train, 0, "worker_1"),
              step_with(1, {"a"}, mode::train, 1, "worker_0"), step_with(2, {"a"}, mode::train, 2, "worker_0")});
    CHECK(run.last.last_complete_step == 0);
    CHECK(run.last.steps_of(mode::train, false) == std::vector<step_number>{0});
    CHECK(run.last.state_of(mode::global, 1) == step_state::not_yet_available);
    run.load({step_with(2, {"a"}, mode::train, 2, "worker_1")});
    CHECK(run.last.last_complete_step == 2);  // step 1 stays incomplete
    CHECK(run.last.steps_of(mode::train, false) == std::vector<step_number>{0, 1, 2});
    CHECK(run.last.state_of(mode::global, 1) == step_state::available);
}

TEST_CASE("catalog_builder: a worker that dies does not hold up the rest for ever") {
    building run{2};
    std::vector<written_step> steps;
    for (step_number step = 0; step < 9; ++step) {
        steps.push_back(step_with(step * 10, {"a"}, mode::train, step, "worker_0"));
    }
    run.load(steps, false, 4);
    // Nine steps beyond -1: the second becomes complete; seven: the fourth; five: the sixth; three are within the
    // window.
    CHECK(run.last.last_complete_step == 50);
}

TEST_CASE("catalog_builder: when the job has ended everything is complete") {
    building run{3};
    run.load({step_with(1, {"a"})}, true);
    CHECK(run.last.loaded_all_steps);
    CHECK(run.last.last_complete_step == 1);
    CHECK(run.last.state_of(mode::global, 2) == step_state::unavailable);
    CHECK(run.last.state_of(mode::train, 1) == step_state::available);
    building empty;
    empty.load({}, true);
    CHECK(empty.last.last_complete_step == -1);
}

TEST_CASE("catalog_builder: a file that names nothing makes no step; a damaged one is reported and changes nothing") {
    building run;
    catalog_builder builder{run.last, run.memory};
    CHECK_FALSE(builder.add(1, "worker_0", as_bytes(index_of(step_with(1, {})))).has_value());
    CHECK_FALSE(builder.changed());
    const std::string whole = index_of(step_with(2, {"a"}));
    CHECK(builder.add(2, "worker_0", as_bytes(std::string_view{whole}.substr(0, whole.size() / 2))).has_value());
    CHECK_FALSE(builder.changed());
    const catalog made = std::move(builder).finish(1000, false);
    CHECK(made.steps.empty());
    CHECK(made.layouts.empty());
    CHECK(made.names->size() == 0);
}

TEST_CASE("catalog_builder: a list's tensors are sorted by name, whenever the names were added") {
    std::mt19937 random{3};
    building run;
    step_number number = 0;
    for (int load = 0; load < 6; ++load) {
        std::vector<written_step> steps;
        for (int i = 0; i < 30; ++i) {
            std::vector<std::string> names;
            for (int n = 0; n < 8; ++n) {  // later ones are new and sort between known ones
                names.push_back("t" + std::to_string(random() % (4U + static_cast<unsigned>(number))));
            }
            steps.push_back(step_with(number++, names));
        }
        run.load(steps);
    }
    CHECK(run.last.name_lists.size() > 100);
    run.last.name_lists.for_each([&](const auto& list) {
        std::set<std::string> texts;
        for (const recorded_item& item : list->items()) {
            texts.insert((*run.last.names)[item.name]);
        }
        std::vector<std::string> in_order;
        for (const name_id id : list->tensors()) {
            in_order.push_back((*run.last.names)[id]);
            CHECK(list->find(id, 0).has_value());
        }
        CHECK(in_order == std::vector<std::string>(texts.begin(), texts.end()));
    });
}

TEST_CASE("catalog_builder: two files of one worker and step count as one worker") {
    building run{2};
    run.load({step_with(1, {"a"}, mode::train, 1), step_with(1, {"b"}, mode::train, 7)});
    CHECK(run.last.steps.front().file_count == 1);
    CHECK(run.last.last_complete_step == -1);
    CHECK(run.last.steps_of(mode::train, true) == std::vector<step_number>{1});  // the second has no effect
    CHECK_FALSE(run.last.find_tensor("b").has_value());
}

TEST_CASE("catalog_builder: unusual event file names are stored, the usual ones are not") {
    building run;
    catalog_builder builder{run.last, run.memory};
    const written_step usual = step_with(1, {"a"});
    CHECK_FALSE(builder.add(1, "worker_0", as_bytes(index_of(usual))).has_value());
    CHECK_FALSE(builder
                    .add(2, "worker_0",
                         as_bytes(index_text(step_with(2, {"a"}), encode_events(usual).places, "events/elsewhere")))
                    .has_value());
    const catalog made = std::move(builder).finish(1000, false);
    REQUIRE(made.event_files.size() == 1);
    CHECK(made.event_files[0] == "events/elsewhere");
    CHECK(made.find_step(1)->one.event_file == catalog::usual_event_file);
    CHECK(made.find_step(2)->one.event_file == 0);
}

TEST_CASE("catalog_builder: published snapshots do not change") {
    building run;
    run.load({step_with(1, {"a"})});
    const catalog before = run.last;
    run.load({step_with(2, {"b"})});
    CHECK(before.steps.size() == 1);
    CHECK(before.names->size() == 1);
    CHECK_FALSE(before.find_tensor("b").has_value());
    CHECK(run.last.find_tensor("b").has_value());
    CHECK(run.last.find_tensor("a").has_value());
}

TEST_CASE("catalog_builder: workers with different layouts share each layout across steps") {
    building run{40};
    std::vector<written_step> steps;
    for (step_number step = 200; step < 210; ++step) {
        for (int worker = 0; worker < 40; ++worker) {
            std::vector<std::string> names(static_cast<std::size_t>(worker) + 1);
            for (std::size_t i = 0; i < names.size(); ++i) {
                names[i] = "tensor_" + std::to_string(i);
            }
            steps.push_back(
                step_with(step, std::move(names), mode::train, step, "worker_" + std::to_string(10 + worker)));
        }
    }
    run.load(steps);
    CHECK(run.last.layouts.size() == 40);
    CHECK(run.last.last_complete_step == 209);
}

TEST_CASE("catalog_builder: layouts that differ only in their places share their names") {
    building run;
    for (step_number step = 1; step < 20; ++step) {
        written_step made = step_with(step, {"a", "b"});
        made.tensors[0] = tensor_of<float>("a", std::vector<float>(static_cast<std::size_t>(step), 1.0F));
        run.load({made});
    }
    CHECK(run.last.layouts.size() == 19);
    CHECK(run.last.name_lists.size() == 1);
    CHECK(run.last.tensor_steps(*run.last.find_tensor("b"), mode::global, true).size() == 19);
}

TEST_CASE("catalog_builder: an original name becomes a tensor when a later file has one of that name") {
    building run;
    written_step first = step_with(1, {"a"});
    first.shapes.push_back({"a", "later", {2}});
    run.load({first});
    CHECK_FALSE(run.last.find_tensor("later").has_value());
    const auto number = run.last.names->find("later");
    run.load({step_with(2, {"later"})});
    CHECK(run.last.find_tensor("later") == number);
}
