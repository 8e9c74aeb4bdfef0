#include <smdebug/formats/tensorboard/log_source.hpp>

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/xtensor.hpp>

#include "formats/tensorboard/log_source_fixture.hpp"
#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::logs_in_memory;

namespace {

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
    CHECK(verify_run(run).empty());  // logs repeat nothing
    CHECK(logs.problems.empty());
}

TEST_CASE("tensorboard_source: tensors and texts are read in place") {
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
        for (const auto& [key, number] : w.saved_reduction_values(step)) {
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

TEST_CASE("tensorboard_source: if a tag occurs twice in a record, the later value counts") {
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
    CHECK(table.value(1).size() == 9);
    CHECK(table.value(2).size() == 3);
    CHECK(table.value(3).size() == 9);
    CHECK(number(run, "h", 4) == 5);
    CHECK(number(run, "h", 5) == 7);
    CHECK(h.shape(6) == shape_type{2});
    CHECK(verify_run(run).size() == 1);
    REQUIRE(logs.problems.size() == 1);  // one for a file, however many records have it
    CHECK(logs.problems[0] ==
          "events.out.tfevents.1: 6 points of h are void: step 1 is written again (events.out.tfevents.1)");
    CHECK(run.problems()[0].kind == problem_kind::replaced);
}

TEST_CASE("tensorboard_source: each thing that is wrong in a record is named") {
    log_folder logs;
    const auto bad = [](const std::string& tag) { return histogram_value(tag, 0, 4, 1, 6, 14, {1, 2, 4}, {1, 0}); };
    logs.write("events.out.tfevents.1",
               log_record(1, {bad("h1"), bad("h2"), bad("h2"), logged_tensor("t1", "", 1, {4}, floats({1})),
                              logged_tensor("t2", "", 1, {4}, floats({1})), logged_tensor("q1", "", 20, {}, "abcd"),
                              logged_tensor("q2", "", 20, {}, "abcd"), scalar_value("x", 1), scalar_value("x", 2),
                              scalar_value("y", 1), scalar_value("y", 2)}));
    const trial run = logs.open();
    const std::string place = "events.out.tfevents.1, byte 0: ";
    CHECK(logs.problems ==
          std::vector<std::string>{
              "events.out.tfevents.1: 2 points of x, y are void: step 1 is written again (events.out.tfevents.1)",
              place + "the histogram of h1 is damaged: it is left out",
              place + "the histogram of h2 is damaged: it is left out",
              place + "the tensor q1 has dtype 20 of TensorFlow, which is not supported: only its name is listed",
              place + "the tensor q2 has dtype 20 of TensorFlow, which is not supported: only its name is listed",
              place + "the tensor t1 is damaged: only its name is listed",
              place + "the tensor t2 is damaged: only its name is listed"});
    std::set<std::pair<std::string, std::string>> topics;
    for (const problem& one : run.problems()) {
        CHECK(topics.emplace(one.where, one.topic).second);
    }
}

TEST_CASE("tensorboard_source: a point that is written again with the same bits is no loss") {
    const auto histogram = [](const std::vector<double>& counts) {
        return histogram_value("h", 0, 4, 4, 6, 14, {1, 2, 4}, counts);
    };
    const float nan = std::bit_cast<float>(0x7fc00001U);
    const float other_nan = std::bit_cast<float>(0x7fc00002U);
    struct pair_of_values {
        std::string first;
        std::string second;
        bool is_same;
    };
    for (const auto& [first, second, is_same] :
         {pair_of_values{scalar_value("x", 1), scalar_value("x", 1), true},
          {scalar_value("x", 1), scalar_value("x", 2), false},
          {scalar_value("x", 0.0F), scalar_value("x", -0.0F), false},
          {scalar_value("x", nan), scalar_value("x", nan), true},
          {scalar_value("x", nan), scalar_value("x", other_nan), false},
          {histogram({1, 0, 1}), histogram({1, 0, 1}), true},
          {histogram({1, 0, 1}), histogram({1, 1, 1}), false},
          {logged_tensor("v", "", 1, {2}, floats({1, 2})), logged_tensor("v", "", 1, {2}, floats({1, 2})), true},
          {logged_tensor("v", "", 1, {2}, floats({1, 2})), logged_tensor("v", "", 1, {2}, floats({1, 3})), false},
          {text_value("t", "a"), text_value("t", "a"), true},
          {text_value("t", "a"), text_value("t", "b"), false},
          {proto::text(1, "i") + proto::text(4, "\x08\x01"), proto::text(1, "i") + proto::text(4, "\x08\x01"), true},
          {proto::text(1, "i") + proto::text(4, "\x08\x01"), proto::text(1, "i") + proto::text(4, "\x08\x02"),
           false}}) {
        const std::string next = log_record(2, {first});
        const std::size_t expected = is_same ? 0 : 1;
        const auto problems_of_files = [](const std::vector<std::string>& files) {
            log_folder logs;
            for (std::size_t i = 0; i < files.size(); ++i) {
                logs.write("events.out.tfevents." + std::to_string(i), files[i]);
            }
            static_cast<void>(logs.open());
            return logs.problems.size();
        };
        CHECK(problems_of_files({log_record(1, {first, second})}) == expected);
        CHECK(problems_of_files({log_record(1, {first}) + log_record(1, {second})}) == expected);
        CHECK(problems_of_files({log_record(1, {first}), log_record(1, {second})}) == expected);
        CHECK(problems_of_files({log_record(1, {first}) + next + log_record(1, {second})}) == expected);
    }
}

TEST_CASE("tensorboard_source: a file that repeats part of another takes nothing away") {
    log_folder logs;
    std::string all;
    for (int step = 0; step < 20; ++step) {
        all += log_record(step, {scalar_value("loss", static_cast<float>(step))});
    }
    logs.write("events.out.tfevents.1", all);
    logs.write("events.out.tfevents.2",
               log_record(5, {scalar_value("loss", 5)}) + log_record(7, {scalar_value("loss", 7)}));
    const trial run = logs.open();
    CHECK(logs.problems.empty());
    CHECK(run.tensor("loss").steps().size() == 20);
    SUBCASE("from the first that differs on, the later ones count") {
        logs.write("events.out.tfevents.3", log_record(6, {scalar_value("loss", 6)}) +
                                                log_record(17, {scalar_value("loss", 0)}) +
                                                log_record(18, {scalar_value("loss", 18)}));
        const trial again = logs.open();
        CHECK(again.tensor("loss").steps().size() == 19);
        CHECK(number(again, "loss", 17) == 0);
        CHECK(logs.problems == std::vector<std::string>{"events.out.tfevents.1: 3 points of loss are void: later "
                                                        "points go back to step 17 (events.out.tfevents.3)"});
    }
}

TEST_CASE("tensorboard_source: a histogram of TensorFlow 2 has min and max") {
    log_folder logs;
    std::string rows;
    for (const double one : {-3.0, -2.0, 0.0, -2.0, 0.5, 5.0, 0.5, 1.0, 6.0, 1.0, 9.0, 0.0}) {
        rows += proto::raw(one);
    }
    // Only a tag's first record names the plugin.
    logs.write("events.out.tfevents.1.v2", log_record(1, {logged_tensor("h", "histograms", 2, {4, 3}, rows)}) +
                                               log_record(2, {logged_tensor("h", "", 2, {4, 3}, rows)}) +
                                               log_record(3, {logged_tensor("h", "", 1, {1, 3}, floats({1, 2, 3}))}));
    const trial run = logs.open();
    const auto h = run.tensor("h");
    for (const step_number step : {1, 2}) {
        CHECK(h.saved_reduction_values(step) ==
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
