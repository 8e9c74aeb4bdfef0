#include <smdebug/formats.hpp>

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/log_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("formats.hpp: create_trial opens logs, a single one, and runs without their index") {
    const temporary_folder place;
    std::filesystem::create_directories(place.path() + "/logs/train");
    const std::string log = place.path() + "/logs/train/events.out.tfevents.1";
    std::ofstream{log} << log_head() + log_record(3, {scalar_value("loss", 0.5F)});
    const trial logs = create_trial(place.path() + "/logs");
    CHECK(logs.steps({.mode = mode::train}) == std::vector<step_number>{3});
    CHECK(logs.tensor("loss").value<float>(3, {.mode = mode::train})() == 0.5F);
    CHECK(logs.path() == place.path() + "/logs");
    CHECK(create_trial(log).steps() == std::vector<step_number>{3});

    const std::string golden = std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp";
    std::filesystem::create_directories(place.path() + "/run");
    std::filesystem::copy(golden + "/events", place.path() + "/run/events", std::filesystem::copy_options::recursive);
    CHECK(create_trial(place.path() + "/run").tensor_names() == local_trial{golden}.tensor_names());
    const trial no_index = create_trial(std::string{SMDEBUG_TEST_DATA} + "/golden/damaged/no_index");
    CHECK(no_index.tensor_names() == std::vector<std::string>{"a", "b"});
    CHECK(no_index.steps() == std::vector<step_number>{0, 1});
    CHECK_THROWS_AS(
        static_cast<void>(create_trial(place.path() + "/logs", {}, {.formats = {.as = data_format::smdebug}})),
        not_found);
    CHECK_THROWS_AS(static_cast<void>(create_trial(place.path() + "/nothing")), not_found);
}
