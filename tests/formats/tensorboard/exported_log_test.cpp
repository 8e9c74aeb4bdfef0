// Reads back what `smdebug export --to tensorboard` writes.
#include <smdebug/exporting/tensorboard.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/log_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("logs that were exported are runs again: the same tags, steps and numbers") {
    const local_trial run{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"};
    const smdebug_test::temporary_folder place;
    static_cast<void>(export_tensorboard(run, place.path() + "/logs"));
    const trial logs{open_data(any_storage{local_storage{place.path() + "/logs"}})};
    std::size_t histograms = 0;
    std::size_t numbers = 0;
    for (const std::string& tensor : run.tensor_names()) {
        CAPTURE(tensor);
        REQUIRE(logs.has_tensor(tensor));
        for (const mode in : run.modes()) {
            for (const step_number step : run.tensor(tensor).steps({.mode = in})) {
                const tensor_value value = run.tensor(tensor).value(step, {.mode = in});
                if (value.size() == 1) {
                    ++numbers;
                    const auto read = logs.tensor(tensor).find_value(step, value_options{.mode = in});
                    REQUIRE(read);
                    CHECK(read->elements<float>()[0] == value.elements<float>()[0]);
                } else {
                    ++histograms;
                    CHECK(logs.tensor(table_of_histogram(tensor)).shape(step, {.mode = in}).size() == 2);
                    CHECK(logs.tensor(tensor).reduction_value(step, "min", {.mode = in}) ==
                          run.tensor(tensor).reduction_value(step, "min", {.mode = in}));
                    CHECK(logs.tensor(tensor).reduction_value(step, "max", {.mode = in}) ==
                          run.tensor(tensor).reduction_value(step, "max", {.mode = in}));
                }
            }
        }
    }
    CHECK(numbers > 0);
    CHECK(histograms > 0);
}

TEST_CASE("histograms of logs are exported as they were, in both forms") {
    using namespace smdebug_test;
    memory_storage files;
    std::string rows;
    for (const double one : {-1.0, 0.0, 5.0, 0.0, 1.0, 6.0}) {
        rows += proto::raw(one);
    }
    const std::string log = log_record(3, {histogram_value("old", -1, 1, 190, -174, 190, {-1, 0, 1}, {182, 0, 8})}) +
                            log_record(3, {logged_tensor("tf2", "histograms", 2, {2, 3}, rows)});
    files.write("events.out.tfevents.1", as_bytes(log));
    const trial first{open_data(any_storage{files})};
    const temporary_folder place;
    const export_result written = export_tensorboard(first, place.path() + "/logs");
    CHECK(written.tensors == 2);
    CHECK(written.without_values == 0);
    const trial again{open_data(any_storage{local_storage{place.path() + "/logs"}})};
    for (const std::string tensor : {"old", "tf2"}) {
        CAPTURE(tensor);
        const auto numbers = [&](const trial& run) {
            return run.tensor(tensor).saved_reduction_values(run.steps().front());
        };
        CHECK(numbers(again).size() == (tensor == "old" ? 7 : 2));
        for (const auto& [key, number] : numbers(first)) {
            CHECK(numbers(again).at(key) == doctest::Approx(number));
        }
        const auto table = [&](const trial& run) {
            const tensor_value value = run.tensor(table_of_histogram(tensor)).value(run.steps().front());
            return std::vector<double>(value.elements<double>().begin(), value.elements<double>().end());
        };
        CHECK(table(first) == table(again));
    }
    CHECK(again.tensor_names({.collection = "histograms"}) == std::vector<std::string>{"old", "tf2"});

    const temporary_folder one;
    CHECK(export_tensorboard(first, one.path() + "/logs", {.which = {.regex = "^old$"}}).tensors == 1);
}

TEST_CASE("logs of several workers are exported with their modes, tags that differ and texts as texts") {
    using namespace smdebug_test;
    memory_storage files;
    int number = 0;
    for (const std::string folder : {"r1/train", "r1/validation", "r2/train", "validation.r1/predict"}) {
        ++number;
        const auto value = static_cast<float>(number);
        files.write(folder + "/events.out.tfevents.1",
                    as_bytes(log_record(3, {scalar_value("t x", value), scalar_value("t:x", value + 10),
                                            scalar_value("t_x", value + 20), text_value("note", folder)})));
    }
    const trial first{open_data(any_storage{files})};
    for (const bool whole : {false, true}) {
        const temporary_folder place;
        CHECK(export_tensorboard(first, place.path() + "/logs", {.tensors = whole}).tensors == 16);
        const trial again{open_data(any_storage{local_storage{place.path() + "/logs"}})};
        CHECK(again.workers() == first.workers());
        CHECK(again.modes() == first.modes());
        CHECK(again.tensor_names({.collection = "texts"}) == std::vector<std::string>{"note"});
        const std::vector<std::pair<std::string, std::string>> names{
            {"t x", "t_x_2"}, {"t:x", "t_x_3"}, {"t_x", "t_x"}};
        for (const auto& [worker, in] : {std::pair{"r1", mode::train},
                                         {"r1", mode::eval},
                                         {"r2", mode::train},
                                         {"validation.r1", mode::predict}}) {
            const value_options where{.mode = in, .worker = worker};
            for (const auto& [before, after] : names) {
                CHECK(again.tensor(after).value<float>(3, where)() == first.tensor(before).value<float>(3, where)());
            }
            const tensor_value note = again.tensor("note").value(3, where);
            const tensor_value noted = first.tensor("note").value(3, where);
            CHECK(note.strings()[0] == noted.strings()[0]);
        }
    }
}
