// Logs that are cut, damaged or still growing.
#include <smdebug/formats/tensorboard/log_source.hpp>

#include <smdebug/trial/basic_trial.hpp>

#include "formats/tensorboard/log_source_fixture.hpp"
#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::logs_in_memory;

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
        growing.write("a/tfevents.2", log_head());  // a later file: the first one is complete
        run.refresh();
        CHECK(log_folder::texts_of(run) == expected);
        growing.write("a/tfevents.1", whole + next);  // it was incomplete
        run.refresh();
        CHECK(log_folder::texts_of(run).empty());
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
    SUBCASE("a negative step") {
        logs.write("events.out.tfevents.1", one + log_record(-3, {scalar_value("loss", 2)}) +
                                                log_record(-2, {scalar_value("loss", 2), scalar_value("acc", 2)}) +
                                                three);
        CHECK(logs.open().steps() == std::vector<step_number>{1, 3});
        CHECK(logs.problems ==
              std::vector<std::string>{
                  "events.out.tfevents.1: 1 value of acc left out, at step -2: steps begin at 0",
                  "events.out.tfevents.1: 2 values of loss left out, at step -3 and others: steps begin at 0"});
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
    run.refresh();  // step 2 may be incomplete
    logs.write(key, log + more);
    log += more;
    run.refresh();
    log += log_record(3, {scalar_value("loss", 3)});
    logs.write(key, log);
    run.refresh();
    CHECK(run.steps() == std::vector<step_number>{1, 2});
    CHECK(number(run, "acc", 2) == 0.5);
    CHECK(run.workers(2) == std::vector<std::string>{"worker_0"});
    logs.age += std::chrono::seconds{5};  // no new data meanwhile: step 3 is complete
    run.refresh();
    CHECK(run.steps() == std::vector<step_number>{1, 2, 3});

    logs.write("events.out.tfevents.2", log_record(4, {scalar_value("loss", 4)}));
    run.refresh();
    logs.age += std::chrono::seconds{5};
    CHECK(number(run, "loss", 4) == 4);

    // A late value of a step that was read joins it.
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
