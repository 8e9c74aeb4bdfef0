#include <smdebug/formats/tensorboard/log_source.hpp>

#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>

#include "support/log_builder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct log_folder {
    memory_storage files = memory_storage{"logs"};
    std::vector<std::string> problems = {};                             ///< when it was opened
    std::chrono::seconds age{std::chrono::minutes{60}};                 ///< of all files, as the source sees it
    std::optional<std::chrono::system_clock::time_point> stopped = {};  ///< when the clock was stopped

    /// Files are a minute old, and younger than they must be for the log to have ended; time passes by `age` alone.
    void stop_clock() {
        stopped = std::chrono::system_clock::now();
        age = std::chrono::minutes{1};
    }
    void write(const std::string& key, const std::string& bytes) { files.write(key, as_bytes(bytes)); }
    [[nodiscard]] trial open(const step_range& range = {}) {
        const any_storage store{files};
        tensorboard_source source{store,
                                  {.now = [this] { return stopped.value_or(std::chrono::system_clock::now()) + age; }}};
        trial run{as_run(store, std::move(source)),
                  {.range = range, .incomplete_step_wait_window = 2, .missing_event_file_retry_limit = 0}};
        problems = texts_of(run);
        return run;
    }
    [[nodiscard]] static std::vector<std::string> texts_of(const trial& run) {
        std::vector<std::string> texts;
        for (const problem& one : run.problems()) {
            texts.push_back(text_of(one));
        }
        return texts;
    }
};

[[nodiscard]] std::string floats(const std::vector<float>& values) {
    std::string bytes;
    for (const float value : values) {
        bytes += proto::raw(value);
    }
    return bytes;
}

[[nodiscard]] std::string whole_numbers(const std::vector<std::int64_t>& values) {
    std::string bytes;
    for (const std::int64_t value : values) {
        bytes += proto::raw(value);
    }
    return bytes;
}

[[nodiscard]] double number(const trial& run, const std::string& tensor, step_number step, mode in = mode::global) {
    return run.tensor(tensor).value<double>(step, {.mode = in, .convert = true})();
}

}  // namespace

TEST_CASE("tensorboard_source: scalars in both forms, several in one record, by tag and step") {
    log_folder logs;
    logs.write("events.out.tfevents.1.host",
               log_head() + log_record(0, {scalar_value("loss", 3), scalar_value("acc", 0.25F)}) +
                   log_record(10, {scalar_value("loss", 2)}) +
                   log_record(10, {logged_tensor("lr", "scalars", 1, {}, proto::raw(0.5F))}) +
                   log_record(20, {scalar_value("loss", 1)}));
    const trial run = logs.open();
    CHECK(run.tensor_names() == std::vector<std::string>{"acc", "loss", "lr"});
    CHECK(run.steps() == std::vector<step_number>{0, 10, 20});
    CHECK(run.tensor("loss").steps() == std::vector<step_number>{0, 10, 20});
    CHECK(run.workers() == std::vector<std::string>{"worker_0"});
    CHECK(run.modes() == std::vector<mode>{mode::train});
    CHECK(number(run, "loss", 0) == 3);
    CHECK(number(run, "loss", 10) == 2);
    CHECK(number(run, "loss", 20) == 1);
    CHECK(number(run, "acc", 0) == 0.25);
    CHECK(number(run, "lr", 10) == 0.5);
    CHECK(run.tensor("loss").shape(10).empty());
    CHECK(run.loaded_all_steps());
    CHECK(run.tensor_names({.collection = "losses"}) == std::vector<std::string>{"loss"});
    CHECK(run.tensor_names({.collection = "scalars"}).size() == 3);
    CHECK(verify_run(run).empty());  // logs say nothing twice
    CHECK(logs.problems.empty());
}

TEST_CASE("tensorboard_source: tensors and texts are read as they lie") {
    log_folder logs;
    logs.write("run/events.out.tfevents.1",
               log_head() + log_record(5, {logged_tensor("w", "my_plugin", 1, {2, 3}, floats({1, 2, 3, 4, 5, 6}))}) +
                   log_record(5, {text_value("note", "a < b")}) +
                   log_record(6, {logged_tensor("half", "", 19, {2}, std::string{"\x00\x3c\x00\x40", 4})}));
    const trial run = logs.open();
    CHECK(run.workers() == std::vector<std::string>{"run"});
    CHECK(run.tensor("w").shape(5) == shape_type{2, 3});
    CHECK(run.tensor("w").reduction_value(5, "mean") == 3.5);
    const auto note = run.tensor("note").value(5);
    CHECK(note.strings().front() == "a < b");
    CHECK(run.tensor("half").reduction_value(6, "sum") == 3);
    CHECK(run.tensor_names({.collection = "texts"}) == std::vector<std::string>{"note"});
}

TEST_CASE("tensorboard_source: a histogram has saved reductions and no values; its rows are a table") {
    log_folder logs;
    logs.write("events.out.tfevents.1",
               log_record(1, {scalar_value("loss", 1), histogram_value("w", -1.5, 3, 4, 6, 14, {-2, -1, 0, 1, 2, 4, 8},
                                                                       {0, 1, 0, 2, 0, 1, 0})}) +
                   log_record(2, {histogram_value("w", 0, 0, 0, 0, 0, {1}, {0})}) +
                   log_record(3, {histogram_value("w", -1, 1, 4, 0, 0, {-1, 1}, {1, 3})}));  // without its sums
    const trial run = logs.open();
    const auto w = run.tensor("w");
    const auto table = run.tensor("w [buckets]");
    CHECK(table.shape(1) == shape_type{5, 3});
    const smdebug::tensor_value rows = table.value(1);
    const std::vector<double> expected{-1.5, -1, 1, -1, 0, 0, 0, 1, 2, 1, 2, 0, 2, 3, 1};
    CHECK(std::vector<double>(rows.elements<double>().begin(), rows.elements<double>().end()) == expected);
    const auto saved = [&](step_number step) {
        std::map<std::string, double> numbers;
        for (const auto& [key, number] : w.reduction_values(step)) {
            numbers[key.name()] = number;
        }
        return numbers;
    };
    using numbers = std::map<std::string, double>;
    numbers first = saved(1);
    CHECK(first["l2"] == doctest::Approx(3.7416573867739413));
    CHECK(first["std"] == doctest::Approx(1.118033988749895));
    first.erase("l2");
    first.erase("std");
    CHECK(first == numbers{{"min", -1.5}, {"max", 3}, {"sum", 6}, {"mean", 1.5}, {"variance", 1.25}});
    CHECK(saved(2) == numbers{{"sum", 0}, {"l2", 0}});
    CHECK(saved(3) == numbers{{"min", -1}, {"max", 1}});
    CHECK_FALSE(w.find_value(1));
    CHECK_FALSE(w.find_reduction(1, reduction::l1));  // nothing is computed from counts
    CHECK_FALSE(w.find_computed(1, reduction_set::counts()));
    CHECK(table.shape(2) == shape_type{0, 3});
    CHECK(number(run, "loss", 1) == 1);
    CHECK(run.tensor_names({.collection = "histograms"}) == std::vector<std::string>{"w"});
    CHECK(logs.problems.empty());
}

TEST_CASE("tensorboard_source: of a tag that stands twice in a record the first value counts") {
    const auto histogram = [](const std::vector<double>& counts) {
        return histogram_value("h", 0, 4, 4, 6, 14, {1, 2, 4}, counts);
    };
    log_folder logs;
    logs.write("events.out.tfevents.1", log_record(1, {histogram({1, 0, 0}), histogram({1, 1, 1})}) +
                                            log_record(2, {histogram({1, 1, 1}), histogram({1, 0, 0})}) +
                                            log_record(3, {scalar_value("h", 5), histogram({1, 1, 1})}) +
                                            log_record(4, {histogram({1, 1, 1}), scalar_value("h", 5)}) +
                                            log_record(5, {scalar_value("h", 6), scalar_value("h", 7)}) +
                                            log_record(6, {logged_tensor("h", "", 1, {1}, floats({1})),
                                                           logged_tensor("h", "", 1, {2}, floats({2, 3}))}));
    const trial run = logs.open();
    const auto h = run.tensor("h");
    const auto table = run.tensor("h [buckets]");
    CHECK(table.value(1).size() == 3);
    CHECK(table.value(2).size() == 9);
    CHECK(number(run, "h", 3) == 5);
    CHECK(table.value(4).size() == 9);
    CHECK(number(run, "h", 5) == 6);
    CHECK(h.shape(6) == shape_type{1});
    CHECK(verify_run(run).size() == 1);
    REQUIRE(logs.problems.size() == 1);  // of a file, however many records have it
    CHECK(logs.problems[0] ==
          "events.out.tfevents.1, byte 0: h stands more than once in the record: only its first value "
          "is read; so in 5 more records");
    CHECK(run.problems()[0].kind == problem_kind::left_out);
}

TEST_CASE("tensorboard_source: each thing that is wrong in a record is named") {
    log_folder logs;
    const auto bad = [](const std::string& tag) { return histogram_value(tag, 0, 4, 1, 6, 14, {1, 2, 4}, {1, 0}); };
    logs.write("events.out.tfevents.1",
               log_record(1, {bad("h1"), bad("h2"), scalar_value("x", 1), scalar_value("x", 2)}));
    static_cast<void>(logs.open());
    const std::string place = "events.out.tfevents.1, byte 0: ";
    CHECK(logs.problems ==
          std::vector<std::string>{place + "the histogram of h1 is damaged: it is left out",
                                   place + "the histogram of h2 is damaged: it is left out",
                                   place + "x stands more than once in the record: only its first value is read"});
}

TEST_CASE("tensorboard_source: of a histogram that TensorFlow 2 writes min and max are known") {
    log_folder logs;
    std::string rows;
    for (const double one : {-3.0, -2.0, 0.0, -2.0, 0.5, 5.0, 0.5, 1.0, 6.0, 1.0, 9.0, 0.0}) {
        rows += proto::raw(one);
    }
    // The plugin's name stands in a tag's first record alone.
    logs.write("events.out.tfevents.1.v2", log_record(1, {logged_tensor("h", "histograms", 2, {4, 3}, rows)}) +
                                               log_record(2, {logged_tensor("h", "", 2, {4, 3}, rows)}) +
                                               log_record(3, {logged_tensor("h", "", 1, {1, 3}, floats({1, 2, 3}))}));
    const trial run = logs.open();
    const auto h = run.tensor("h");
    for (const step_number step : {1, 2}) {
        CHECK(h.reduction_values(step) ==
              std::map<reduction_key, double>{{{reduction::min, false}, -2.0}, {{reduction::max, false}, 1.0}});
        CHECK_FALSE(h.find_reduction(step, reduction::mean));
        CHECK_FALSE(h.find_value(step));
        CHECK(run.tensor("h [buckets]").shape(step) == shape_type{4, 3});
        CHECK(run.tensor("h [buckets]").value<double>(step)(1, 2) == 5);
    }
    CHECK(h.reduction_value(3, "max") == 2);
    CHECK(run.tensor_names({.collection = "histograms"}) == std::vector<std::string>{"h"});
}

TEST_CASE("tensorboard_source: a tag is bytes, and may be empty") {
    log_folder logs;
    std::vector<std::string> many;
    for (int i = 0; i < 300; ++i) {
        many.push_back(scalar_value("layer" + std::to_string(i), static_cast<float>(i)));
    }
    logs.write("events.out.tfevents.1",
               log_record(1, {scalar_value("loss", 2), scalar_value("", 1), scalar_value("\xff", 3),
                              logged_tensor("\xfe\xfd", "", 1, {2}, floats({4, 5}))}) +
                   log_record(2, {logged_tensor("", "", 1, {}, floats({6}))}) + log_record(3, many) +
                   log_record(4, {logged_tensor("\xfe!", "", 9, {2, 3}, whole_numbers({1, 2, 3, 4, 5, 6}))}));
    const trial run = logs.open();
    CHECK(number(run, "", 1) == 1);
    CHECK(number(run, "", 2) == 6);
    CHECK(number(run, "\xff", 1) == 3);
    CHECK(run.tensor("\xfe\xfd").reduction_value(1, "sum") == 9);
    CHECK(run.tensor("layer57").value<float>(3)() == 57);
    CHECK(run.tensor("\xfe!").value<std::int64_t>(4)(1, 2) == 6);  // of three columns, and no histogram
    CHECK(logs.problems.empty());
}

TEST_CASE("tensorboard_source: a tensor that cannot be read is listed, and named by its file and byte") {
    const std::string head = log_head();
    const std::string place = "a/tfevents.1, byte " + std::to_string(head.size()) + ": the tensor q ";
    struct unread {
        std::string value;
        std::string problem;
        problem_kind kind;
    };
    for (const auto& [value, problem, kind] :
         {unread{logged_tensor("q", "x", 11, {2}, "ab"),
                 place + "has dtype 11 of TensorFlow, which is not supported: only its name is listed",
                 problem_kind::unsupported},
          {logged_tensor("q", "x", 1, {2}, "abc"), place + "is damaged: only its name is listed",
           problem_kind::damaged},
          {logged_tensor("q", "histograms", 7, {2, 3}, ""), place + "is damaged: only its name is listed",
           problem_kind::damaged}}) {
        log_folder logs;
        logs.write("a/tfevents.1", head + log_record(1, {value, scalar_value("loss", 1)}));
        const trial run = logs.open();
        CHECK(logs.problems == std::vector{problem});
        CHECK(run.problems()[0].kind == kind);
        CHECK(run.has_tensor("q"));
        CHECK_FALSE(run.tensor("q").find_value(1));
        CHECK(number(run, "loss", 1) == 1);
    }
}

TEST_CASE("tensorboard_source: images are listed, and have no values") {
    log_folder logs;
    logs.write("events.out.tfevents.1", log_record(3, {image_value("digits"), scalar_value("loss", 1)}) +
                                            log_record(3, {logged_tensor("pictures", "images", 7, {3}, "")}));
    const trial run = logs.open();
    CHECK(run.has_tensor("digits"));
    CHECK(run.tensor("pictures").shape(3) == shape_type{3});
    CHECK_THROWS_AS(static_cast<void>(run.tensor("digits").value(3)), tensor_unavailable_for_step);
    CHECK(number(run, "loss", 3) == 1);
}

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

TEST_CASE("tensorboard_source: a folder that appears later takes no worker away") {
    log_folder logs;
    logs.stop_clock();
    logs.write("test/events.out.tfevents.1", log_record(1, {scalar_value("loss", 1)}));
    const trial run = logs.open();
    CHECK(run.workers() == std::vector<std::string>{"worker_0"});
    logs.write("validation/events.out.tfevents.1", log_record(1, {scalar_value("loss", 2)}));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    run.refresh();
    CHECK(run.tensor("loss").value<float>(1, {.mode = mode::eval, .worker = "worker_0"})() == 1);
    CHECK(run.tensor("loss").value<float>(1, {.mode = mode::eval, .worker = "validation"})() == 2);
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
          {{loss(1) + loss(2) + log_restart(2) + loss(2)},
           {"a/tfevents.1: 1 point of loss is void: the training starts again at step 2 (tfevents.1)"}},
          {{loss(1) + log_restart(2) + loss(2)}, {}},
          {{log_record(1, {scalar_value("a", 1), scalar_value("b", 1), scalar_value("c", 1)}),
            log_record(0, {scalar_value("a", 1), scalar_value("b", 1), scalar_value("c", 1)})},
           {"a/tfevents.1: 3 points of a and of 2 other tags are void: later points go back to step 0 "
            "(tfevents.2)"}}}) {
        log_folder logs;
        for (std::size_t i = 0; i < files.size(); ++i) {
            logs.write("a/tfevents." + std::to_string(i + 1), files[i]);
        }
        static_cast<void>(logs.open());
        CHECK(logs.problems == problems);
    }
}

TEST_CASE("tensorboard_source: a file that is cut is named once nothing more is expected of it") {
    const std::string whole = log_head() + log_record(1, {scalar_value("loss", 1)});
    const std::string next = log_record(2, {scalar_value("loss", 2)});
    const std::string place = "a/tfevents.1, byte ";
    struct cut {
        std::string bytes;
        std::string problem;
    };
    for (const auto& [bytes, problem] :
         {cut{whole, ""},
          {whole + next.substr(0, next.size() - 7),
           place + std::to_string(whole.size()) + ": the record is cut: the file ends 7 bytes early"},
          {whole + next.substr(0, next.size() - 1),
           place + std::to_string(whole.size()) + ": the record is cut: the file ends 1 byte early"},
          {whole + next.substr(0, 5),
           place + std::to_string(whole.size()) + ": the record is cut: the file ends within its length"},
          {whole + std::string(100, '\0'),
           place + std::to_string(whole.size()) + ": zeros follow: the file was not written to its end"},
          {std::string(100, '\0'), place + "0: zeros follow: the file was not written to its end"},
          {"", place + "0: the file is empty"}}) {
        CAPTURE(problem);
        const std::vector<std::string> expected = problem.empty() ? std::vector<std::string>{} : std::vector{problem};
        log_folder logs;
        logs.write("a/tfevents.1", bytes);
        static_cast<void>(logs.open());
        CHECK(logs.problems == expected);

        log_folder of_the_future;
        of_the_future.age = -std::chrono::hours{24};
        of_the_future.write("a/tfevents.1", bytes);
        static_cast<void>(of_the_future.open());
        CHECK(of_the_future.problems == expected);

        log_folder growing;
        growing.age = std::chrono::seconds{0};
        growing.write("a/tfevents.1", bytes);
        const trial run = growing.open();
        CHECK(growing.problems.empty());
        growing.write("a/tfevents.2", log_head());  // a later file: the first one is over
        run.refresh();
        CHECK(log_folder::texts_of(run) == expected);
        growing.write("a/tfevents.1", whole + next);  // it was not
        run.refresh();
        CHECK(log_folder::texts_of(run).empty());
    }
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
                  "2 points of loss and of another tag are void: the training starts again at step 1 "
                  "(events.out.tfevents.3)",
                  "events.out.tfevents.2: 2 points of loss are void: the training starts again at step 1 "
                  "(events.out.tfevents.3)"});
    }
}

TEST_CASE("tensorboard_source: a damaged record is named and left out; what is cut is waited for") {
    log_folder logs;
    const std::string one = log_record(1, {scalar_value("loss", 1)});
    std::string bad = log_record(2, {scalar_value("loss", 2)});
    bad[20] = static_cast<char>(bad[20] ^ 1);
    const std::string three = log_record(3, {scalar_value("loss", 3)});
    SUBCASE("the payload") {
        logs.write("events.out.tfevents.1", one + bad + three);
        const trial run = logs.open();
        CHECK(run.steps() == std::vector<step_number>{1, 3});
        REQUIRE(logs.problems.size() == 1);
        CHECK(logs.problems[0] ==
              "events.out.tfevents.1, byte " + std::to_string(one.size()) + ": the record is damaged: it is left out");
    }
    SUBCASE("the length") {
        bad[1] = 1;
        logs.write("events.out.tfevents.1", one + bad + three);
        const trial run = logs.open();
        CHECK(run.steps() == std::vector<step_number>{1});
        REQUIRE(logs.problems.size() == 1);
        CHECK(logs.problems[0].find("nothing behind it can be read") != std::string::npos);
    }
    SUBCASE("every cut of the last record") {
        for (std::size_t size = 0; size < three.size(); ++size) {
            log_folder cut;
            cut.write("events.out.tfevents.1", one + three.substr(0, size));
            CHECK(cut.open().steps() == std::vector<step_number>{1});
            CHECK(cut.problems.size() == (size == 0 ? 0 : 1));
        }
    }
    SUBCASE("a step that is none") {
        logs.write("events.out.tfevents.1", one + log_record(-3, {scalar_value("loss", 2)}) + three);
        CHECK(logs.open().steps() == std::vector<step_number>{1, 3});
        REQUIRE(logs.problems.size() == 1);
        CHECK(logs.problems[0].find("step -3 is none") != std::string::npos);
    }
}

TEST_CASE("tensorboard_source: a record that holds no event, and a damaged histogram, are named and left out") {
    log_folder logs;
    const std::string one = log_record(1, {scalar_value("loss", 1)});
    const std::string none = framed("\x0a");
    const std::string bad = log_record(
        2, {histogram_value("w", 0, 4, 1, 6, 14, {1, 2, 4}, {1, 0}), scalar_value("loss", 2)});  // fewer counts
    const std::string good = log_record(3, {histogram_value("w", 0, 4, 1, 6, 14, {1, 2, 4}, {1, 0, 1})});
    const std::string key = "events.out.tfevents.1";
    logs.write(key, one + none + bad + good);
    const trial run = logs.open();
    CHECK(run.steps() == std::vector<step_number>{1, 2, 3});
    CHECK(run.tensor("w").steps() == std::vector<step_number>{3});
    CHECK(run.tensor("w [buckets]").shape(3) == shape_type{3, 3});
    CHECK(number(run, "loss", 2) == 2);
    REQUIRE(logs.problems.size() == 2);
    CHECK(logs.problems[0] ==
          key + ", byte " + std::to_string(one.size()) + ": the record holds no event: it is left out");
    CHECK(logs.problems[1] == key + ", byte " + std::to_string(one.size() + none.size()) +
                                  ": the histogram of w is damaged: it is left out");
}

TEST_CASE("tensorboard_source: a tensor of the plugin for histograms that has not three columns is a tensor") {
    log_folder logs;
    const std::string numbers = proto::raw(1.0) + proto::raw(2.0) + proto::raw(3.0) + proto::raw(4.0);
    logs.write("events.out.tfevents.1", log_record(1, {logged_tensor("two", "histograms", 2, {2, 2}, numbers),
                                                       logged_tensor("flat", "histograms", 2, {4}, numbers)}));
    const trial run = logs.open();
    CHECK(run.tensor("two").shape(1) == shape_type{2, 2});
    CHECK(run.tensor("two").reduction_value(1, "sum") == 10);
    CHECK(run.tensor("flat").value<double>(1).flat(3) == 4);
    CHECK(run.tensor_names({.collection = "tensors"}) == std::vector<std::string>{"flat", "two"});
    CHECK(logs.problems.empty());
}

TEST_CASE("tensorboard_source: a growing log is followed, record by record and file by file") {
    log_folder logs;
    logs.stop_clock();
    const std::string key = "events.out.tfevents.1";
    std::string log = log_head() + log_record(1, {scalar_value("loss", 1)});
    logs.write(key, log);
    const trial run = logs.open();
    CHECK(run.steps() == std::vector<step_number>{1});
    CHECK_FALSE(run.loaded_all_steps());

    log += log_record(2, {scalar_value("loss", 2)});
    const std::string more = log_record(2, {scalar_value("acc", 0.5F)});
    logs.write(key, log + more.substr(0, 10));
    run.refresh();  // step 2 may not be whole
    logs.write(key, log + more);
    log += more;
    run.refresh();
    log += log_record(3, {scalar_value("loss", 3)});
    logs.write(key, log);
    run.refresh();
    CHECK(run.steps() == std::vector<step_number>{1, 2});
    CHECK(number(run, "acc", 2) == 0.5);
    CHECK(run.workers(2) == std::vector<std::string>{"worker_0"});
    logs.age += std::chrono::seconds{5};  // nothing came meanwhile: step 3 is what there is
    run.refresh();
    CHECK(run.steps() == std::vector<step_number>{1, 2, 3});

    logs.write("events.out.tfevents.2", log_record(4, {scalar_value("loss", 4)}));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    CHECK(number(run, "loss", 4) == 4);

    // What comes late to a step that was read joins it.
    logs.write("events.out.tfevents.3",
               log_record(1, {scalar_value("late", 7)}) + log_record(5, {scalar_value("loss", 5)}));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    run.refresh();
    CHECK(number(run, "late", 1) == 7);
    CHECK(run.workers(1) == std::vector<std::string>{"worker_0"});

    logs.age = std::chrono::minutes{11};
    run.refresh();
    CHECK(run.loaded_all_steps());
    CHECK(run.steps().size() == 5);
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
    const auto all = run.snapshot();
    CHECK(all->global_range({.begin = 11}).contains(40));
    CHECK_FALSE(all->global_range({.begin = 11}).contains(21));
    CHECK(all->global_range({.end = 20}).contains(21));
    CHECK_FALSE(all->global_range({.end = 20}).contains(40));
    CHECK(all->files_in(all->global_range({.begin = 11, .end = 20})).empty());
}

TEST_CASE(
    "tensorboard_source: a mode that appears later has steps behind those that are there, which stay as they were") {
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
    for (const step_number step : {0, 1, 3}) {
        CHECK(run.mode(step) == mode::train);
        CHECK(number(run, "loss", step) == static_cast<double>(step));
    }
    for (const step_number step : {4, 5}) {
        CHECK(*run.global_step(mode::train, step) > 3);
        CHECK(number(run, "loss", step, mode::train) == static_cast<double>(step));
    }
    for (const step_number step : {0, 1}) {
        CHECK(*run.global_step(mode::eval, step) > 3);
        CHECK(number(run, "loss", step, mode::eval) == 100 + static_cast<double>(step));
    }
    CHECK(number(run, "late", 1) == 7);  // of a step that keeps its number
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
    CHECK(logs.problems[0] ==
          "train/events.out.tfevents.1: step " + std::to_string(INT64_MAX - 1) +
              " of loss is too large for a log of several modes: its value is left out; read each folder by itself");
}
