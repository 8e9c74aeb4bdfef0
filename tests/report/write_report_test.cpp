#include <smdebug/report/write_report.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_trial exploding(int steps) {
    memory_storage store{"exploding"};
    run_builder builder{store};
    builder.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (int i = 0; i < steps; ++i) {
        const float value = i < steps / 2 ? 1.0F : std::numeric_limits<float>::infinity();
        builder.step({.step = i, .tensors = {tensor_of<float>("loss", {value})}});
    }
    builder.end();
    return memory_trial{store};
}

}  // namespace

TEST_CASE("write_report: a page with what rules found, in the place of an older one") {
    const temporary_folder place;
    const memory_trial run = exploding(10);
    place.write("report.html", "old");
    const std::string path = place.path() + "/report.html";
    write_report(run, {.verdicts = invoke_rules(run, {}, rules::exploding_tensor{})}, path);
    const std::string text = file_content(path);
    CHECK(text.starts_with("<!doctype html>"));
    CHECK(text.ends_with("</html>\n"));
    CHECK(text.find("<title>memory:exploding</title>") != std::string::npos);
    CHECK(text.find("\"findings\":5") != std::string::npos);
    write_report(run, {.title = "another"}, path);
    CHECK(file_content(path).find("<title>another</title>") != std::string::npos);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{place.path()}) {
        ++files;
    }
    CHECK(files == 1);  // no other file is left
}

TEST_CASE("write_report: rules look on, at the steps that are shown") {
    const temporary_folder place;
    const memory_trial run = exploding(10);
    const std::string path = place.path() + "/report.html";
    const std::vector rules{any_rule<memory_trial>{smdebug::rules::exploding_tensor{}}};
    CHECK(write_report(run, rules, {}, path).front().outcome.met_at.size() == 5);
    const std::string both = file_content(path);
    write_report(run, {.verdicts = invoke_rules(run, rules)}, path);
    CHECK(both == file_content(path));
    CHECK(write_report(run, rules, {.which = {.range = {2, 7}}}, path).front().outcome.met_at.size() == 2);
    CHECK(file_content(path).find("\"findings\":2") != std::string::npos);
}

TEST_CASE("write_report: as large as it may be, about") {
    const temporary_folder place;
    const memory_trial run = exploding(3000);
    const std::string path = place.path() + "/report.html";
    write_report(run, {}, path);
    const auto whole = std::filesystem::file_size(path);
    write_report(run, {.most_bytes = 20'000}, path);
    CHECK(std::filesystem::file_size(path) < whole);
}

TEST_CASE("write_report: where it cannot be written, an older one stays") {
    const temporary_folder place;
    place.write("file", "x");
    CHECK_THROWS_AS(write_report(exploding(2), {}, place.path() + "/file/report.html"), error);
    CHECK(file_content(place.path() + "/file") == "x");
}
