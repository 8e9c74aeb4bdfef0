// What `smdebug export --to tensorboard` writes is read back as it was.
#include <smdebug/exporting/tensorboard.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

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
                const auto read = logs.tensor(tensor).find_value(step, value_options{.mode = in});
                REQUIRE(read);
                if (value.size() == 1) {
                    ++numbers;
                    CHECK(read->elements<float>()[0] == value.elements<float>()[0]);
                } else {
                    ++histograms;
                    CHECK(read->shape().size() == 2);
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
