// Folders, modes and steps of logs, and points that later ones make void.
#include <smdebug/formats/tensorboard/log_source.hpp>

#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

#include "formats/tensorboard/log_source_fixture.hpp"
#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::logs_in_memory;

TEST_CASE("tensorboard_source: folders are workers; train and validation are modes with steps of their own") {
    log_folder logs;
    for (const auto& [key, loss] : {std::pair{"a/train/events.out.tfevents.1", 1.0F},
                                    {"a/validation/events.out.tfevents.2", 2.0F},
                                    {"b/c/train/events.out.tfevents.3", 3.0F}}) {
        logs.write(key, log_head() + log_record(0, {scalar_value("epoch_loss", loss)}) +
                            log_record(1, {scalar_value("epoch_loss", loss + 10)}));
    }
    const trial run = logs.open();
    CHECK(run.workers() == std::vector<std::string>{"a", "b.c"});
    CHECK(run.modes() == std::vector<mode>{mode::train, mode::eval});
    CHECK(run.steps() == std::vector<step_number>{0, 1, 2, 3});
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{0, 1});
    CHECK(run.mode(3) == mode::eval);
    CHECK(run.mode_step(3) == 1);
    CHECK(number(run, "epoch_loss", 1, mode::train) == 11);
    CHECK(number(run, "epoch_loss", 1, mode::eval) == 12);
    CHECK(run.tensor("epoch_loss").value<float>(1, {.mode = mode::train, .worker = "b.c"})() == 13);
}

TEST_CASE("tensorboard_source: folders that would share a worker and a mode are all kept") {
    struct layout {
        std::vector<std::string> folders;
        std::vector<std::string> workers;  ///< of them
    };
    for (const auto& [folders, workers] : {layout{{"train/", "validation/", "test/"}, {"worker_0", "worker_0", "test"}},
                                           {{"train/", "test/"}, {"worker_0", "worker_0"}},
                                           {{"", "eval/", "eval_test/"}, {"worker_0", "worker_0", "eval_test"}},
                                           {{"", "train/"}, {"worker_0", "train"}},
                                           {{"a/", "a/train/", "a/training/"}, {"a", "a.train", "a.training"}},
                                           {{"x/val/", "x/validation/", "x/test/"}, {"x.val", "x", "x.test"}},
                                           {{"a/b/", "a.b/", "a.b_2/"}, {"a.b_3", "a.b", "a.b_2"}},
                                           {{"", "worker_0/"}, {"worker_0", "worker_0_2"}}}) {
        for (const bool backwards : {false, true}) {
            log_folder logs;
            for (std::size_t i = 0; i < folders.size(); ++i) {
                const std::size_t place = backwards ? folders.size() - 1 - i : i;
                logs.write(folders[place] + "events.out.tfevents." + std::to_string(i),
                           log_record(3, {scalar_value("loss", static_cast<float>(place + 1))}));
            }
            const trial run = logs.open();
            for (std::size_t i = 0; i < folders.size(); ++i) {
                CAPTURE(folders[i]);
                const mode in = detail::mode_of_folder(
                                    detail::locations::base_name(folders[i].substr(0, folders[i].find_last_of('/'))))
                                    .value_or(mode::train);
                CHECK(run.tensor("loss").value<float>(3, {.mode = in, .worker = workers[i]})() ==
                      static_cast<float>(i + 1));
            }
            CHECK(logs.problems.empty());
        }
    }
}

TEST_CASE("tensorboard_source: a folder that appears later is named as if it had been there") {
    log_folder logs;
    logs.stop_clock();
    logs.write("test/events.out.tfevents.1", log_record(1, {scalar_value("loss", 1)}));
    const trial run = logs.open();
    CHECK(run.workers() == std::vector<std::string>{"worker_0"});
    logs.write("validation/events.out.tfevents.1", log_record(1, {scalar_value("loss", 2)}));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    run.refresh();
    CHECK(run.workers() == logs.open().workers());
    CHECK(run.tensor("loss").value<float>(1, {.mode = mode::eval, .worker = "worker_0"})() == 2);
    CHECK(run.tensor("loss").value<float>(1, {.mode = mode::eval, .worker = "test"})() == 1);
}

TEST_CASE("tensorboard_source: every point that is not shown is counted, by file and reason") {
    struct log {
        std::vector<std::string> files;
        std::vector<std::string> problems;
    };
    const auto loss = [](int step, float value = 1) { return log_record(step, {scalar_value("loss", value)}); };
    for (const auto& [files, problems] :
         {log{{loss(1) + loss(2)}, {}},
          {{loss(1) + loss(1, 2)}, {"a/tfevents.1: 1 point of loss is void: step 1 is written again (tfevents.1)"}},
          {{loss(1) + loss(3), loss(2)},
           {"a/tfevents.1: 1 point of loss is void: later points go back to step 2 (tfevents.2)"}},
          {{loss(1) + loss(1)}, {}},
          {{loss(1) + loss(2) + log_restart(2) + loss(2)},
           {"a/tfevents.1: 1 point of loss is void: the training starts again at step 2 (tfevents.1)"}},
          {{loss(1) + log_restart(2) + loss(2)}, {}},
          {{log_record(1, {scalar_value("a", 1), scalar_value("b", 1), scalar_value("c", 1)}),
            log_record(0, {scalar_value("a", 1), scalar_value("b", 1), scalar_value("c", 1)})},
           {"a/tfevents.1: 3 points of a, b, c are void: later points go back to step 0 "
            "(tfevents.2)"}}}) {
        log_folder logs;
        for (std::size_t i = 0; i < files.size(); ++i) {
            logs.write("a/tfevents." + std::to_string(i + 1), files[i]);
        }
        static_cast<void>(logs.open());
        CHECK(logs.problems == problems);
    }
}

TEST_CASE("tensorboard_source: of many tags with void points, ten are named and the others counted") {
    std::vector<std::string> first;
    std::vector<std::string> again;
    for (int i = 10; i < 23; ++i) {
        first.push_back(scalar_value("t" + std::to_string(i), 1));
        again.push_back(scalar_value("t" + std::to_string(i), 2));
    }
    log_folder logs;
    logs.write("events.out.tfevents.1", log_record(1, first) + log_record(1, again));
    static_cast<void>(logs.open());
    CHECK(logs.problems ==
          std::vector<std::string>{"events.out.tfevents.1: 13 points of t10, t11, t12, t13, t14, t15, t16, t17, t18, "
                                   "t19 and 3 more tags are void: step 1 is written again (events.out.tfevents.1)"});
}

TEST_CASE("tensorboard_source: where steps go back, the later points count from there on") {
    log_folder logs;
    std::string first = log_head();
    for (int step = 0; step < 5; ++step) {
        first += log_record(step, {scalar_value("loss", static_cast<float>(step))});
    }
    first += log_record(9, {scalar_value("other", 9)});
    logs.write("events.out.tfevents.1", first);
    logs.write("events.out.tfevents.2",
               log_head() + log_record(2, {scalar_value("loss", 20)}) + log_record(3, {scalar_value("loss", 30)}));
    const trial run = logs.open();
    CHECK(run.tensor("loss").steps() == std::vector<step_number>{0, 1, 2, 3});
    CHECK(number(run, "loss", 1) == 1);
    CHECK(number(run, "loss", 2) == 20);
    CHECK(number(run, "loss", 3) == 30);
    CHECK(number(run, "other", 9) == 9);  // of another tag
    CHECK(logs.problems == std::vector<std::string>{"events.out.tfevents.1: 3 points of loss are void: later points go "
                                                    "back to step 2 (events.out.tfevents.2)"});
    CHECK(run.problems()[0].kind == problem_kind::replaced);

    SUBCASE("a session that starts voids all tags") {
        logs.write("events.out.tfevents.3", log_restart(1) + log_record(1, {scalar_value("loss", 100)}));
        const trial again = logs.open();
        CHECK(again.tensor("loss").steps() == std::vector<step_number>{0, 1});
        CHECK(number(again, "loss", 1) == 100);
        CHECK_FALSE(again.has_tensor("other"));
        CHECK(logs.problems ==
              std::vector<std::string>{
                  "events.out.tfevents.1: 3 points of loss are void: later points go back to step 2 "
                  "(events.out.tfevents.2); "
                  "2 points of loss, other are void: the training starts again at step 1 "
                  "(events.out.tfevents.3)",
                  "events.out.tfevents.2: 2 points of loss are void: the training starts again at step 1 "
                  "(events.out.tfevents.3)"});
    }
}

TEST_CASE("tensorboard_source: the global step is the log's, unless folders of several modes share numbers") {
    struct layout {
        std::vector<std::pair<std::string, std::vector<step_number>>> folders = {};
        std::vector<step_number> steps = {};
        bool synthetic = false;
    };
    for (const layout& each : {
             layout{{{"train", {0, 10, 20}}}, {0, 10, 20}},
             layout{{{"validation", {0, 10, 20}}}, {0, 10, 20}},
             layout{{{"", {0, 10}}, {"a/train", {0, 20}}}, {0, 10, 20}},
             layout{{{"train", {0, 10, 20}}, {"validation", {0, 10}}}, {0, 1, 20, 21, 40}, true},
             layout{{{"", {0, 10}}, {"validation", {10}}}, {0, 20, 21}, true},
             layout{{{"a/train", {5}}, {"b/eval", {5}}}, {10, 11}, true},
             layout{{{"train", {1}}, {"val", {1}}, {"predict", {1}}}, {3, 4, 5}, true},
         }) {
        log_folder logs;
        for (const auto& [folder, steps] : each.folders) {
            CAPTURE(folder);
            std::string log = log_head();
            for (const step_number step : steps) {
                log += log_record(step, {scalar_value("loss", static_cast<float>(step))});
            }
            logs.write(folder + (folder.empty() ? "" : "/") + "events.out.tfevents.1", log);
        }
        const trial run = logs.open();
        CHECK(run.steps() == each.steps);
        CHECK(run.steps_are_synthetic() == each.synthetic);
        for (const step_number step : run.steps()) {
            CHECK(run.shown_step(step) == run.mode_step(step));
            CHECK(number(run, "loss", step) == static_cast<double>(*run.mode_step(step)));
        }
    }
}

TEST_CASE("tensorboard_source: a range is one of the log's steps, in every mode") {
    log_folder logs;
    for (const std::string folder : {"train/", "validation/"}) {
        std::string log = log_head();
        for (const step_number step : {0, 10, 20, 30}) {
            log += log_record(step, {scalar_value("loss", 1), scalar_value("at" + std::to_string(step), 1)});
        }
        logs.write(folder + "events.out.tfevents.1", log);
    }
    const trial run = logs.open({.begin = 10, .end = 30});
    CHECK(run.steps({.mode = mode::train}) == std::vector<step_number>{10, 20});
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{10, 20});
    CHECK(run.tensor_names() == std::vector<std::string>{"at10", "at20", "loss"});
    const auto all = smdebug::detail::catalog_of(run);
    CHECK(all->global_range({.begin = 11}).contains(40));
    CHECK_FALSE(all->global_range({.begin = 11}).contains(21));
    CHECK(all->global_range({.end = 20}).contains(21));
    CHECK_FALSE(all->global_range({.end = 20}).contains(40));
    CHECK(all->files_in(all->global_range({.begin = 11, .end = 20})).empty());
}

TEST_CASE("tensorboard_source: when a mode appears later, all steps are numbered by all modes") {
    log_folder logs;
    logs.stop_clock();
    const auto point = [](step_number step, std::string_view tag, float value) {
        return log_record(step, {scalar_value(tag, value)});
    };
    const std::string train = log_head() + point(0, "loss", 0) + point(1, "loss", 1) + point(3, "loss", 3);
    logs.write("train/events.out.tfevents.1", train);
    const trial run = logs.open();
    CHECK(run.steps() == std::vector<step_number>{0, 1, 3});
    CHECK_FALSE(run.steps_are_synthetic());

    logs.write("validation/events.out.tfevents.2", log_head() + point(0, "loss", 100) + point(1, "loss", 101));
    logs.write("train/events.out.tfevents.1", train + point(4, "loss", 4));
    logs.write("train/events.out.tfevents.2", log_head() + point(1, "late", 7) + point(5, "loss", 5));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    run.refresh();
    CHECK(run.steps({.mode = mode::train}) == std::vector<step_number>{0, 1, 3, 4, 5});
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{0, 1});
    for (const step_number step : {0, 1, 3, 4, 5}) {
        CHECK(run.global_step(mode::train, step) == 2 * step);
        CHECK(number(run, "loss", step, mode::train) == static_cast<double>(step));
    }
    for (const step_number step : {0, 1}) {
        CHECK(run.global_step(mode::eval, step) == 2 * step + 1);
        CHECK(number(run, "loss", step, mode::eval) == 100 + static_cast<double>(step));
    }
    CHECK(number(run, "late", 1, mode::train) == 7);
    CHECK(run.steps_are_synthetic());
    CHECK(run.steps().size() == 7);
}

TEST_CASE("tensorboard_source: a step that is too large to be numbered beside another mode's is named and left out") {
    log_folder logs;
    const std::string head = log_head();
    logs.write("train/events.out.tfevents.1",
               head + log_record(INT64_MAX - 1, {scalar_value("loss", 1)}) + log_record(7, {scalar_value("acc", 1)}));
    CHECK(logs.open().steps() == std::vector<step_number>{7, INT64_MAX - 1});
    CHECK(logs.problems.empty());
    logs.write("validation/events.out.tfevents.1", head + log_record(7, {scalar_value("loss", 2)}));
    CHECK(logs.open().steps() == std::vector<step_number>{14, 15});
    REQUIRE(logs.problems.size() == 1);
    const std::string why = "this is too large for a log of several modes; read each folder by itself";
    CHECK(logs.problems[0] == "train/events.out.tfevents.1: 1 value of loss left out, at step " +
                                  std::to_string(INT64_MAX - 1) + ": " + why);
    logs.write("validation/events.out.tfevents.2",
               head + log_record(INT64_MAX - 4, {scalar_value("loss", 1), scalar_value("acc", 1)}) +
                   log_record(INT64_MAX - 3, {scalar_value("loss", 1)}) +
                   log_record(INT64_MAX, {scalar_value("z", 1)}));
    static_cast<void>(logs.open());
    REQUIRE(logs.problems.size() == 4);
    const std::string file = "validation/events.out.tfevents.2: ";
    CHECK(logs.problems[1] == file + "1 value of acc left out, at step 9223372036854775803: " + why);
    CHECK(logs.problems[2] == file + "2 values of loss left out, at step 9223372036854775803 and others: " + why);
    CHECK(logs.problems[3] == file + "1 value of z left out, at step 9223372036854775807: " + why);
}
