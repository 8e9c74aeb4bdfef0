#include <smdebug/report/write_report.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

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

TEST_CASE("write_report: what the rule learned knows of healthy runs, of the numbers of this one") {
    const temporary_folder place;
    const auto run_of = [](float scale, const std::string& name) {
        memory_storage store{name};
        run_builder builder{store};
        builder.collections({"worker_0"}, {{"weights", {"w"}}});
        for (int i = 0; i < 10; ++i) {
            builder.step({.step = i,
                          .tensors = {tensor_of<float>("w", {scale, i == 7 ? scale * scale : 1}),
                                      tensor_of<float>("bias", {1, 2}), tensor_of<float>("loss", {scale})}});
        }
        builder.end();
        return memory_trial{store, {.name = name}};
    };
    learned_facts facts;
    for (int i = 0; i < 8; ++i) {
        facts.join(learn(run_of(1.5F + static_cast<float>(i) / 16, "run-" + std::to_string(i))));
    }
    const memory_trial run = run_of(9, "wild");
    const std::string path = place.path() + "/report.html";
    const auto rules = [&] {  // they keep state: new ones for each walk
        return std::vector{any_rule<memory_trial>{smdebug::rules::learned{.facts = facts}},
                           any_rule<memory_trial>{smdebug::rules::exploding_tensor{}}};
    };
    const std::vector<rule_result> found = write_report(run, rules(), {}, path);
    CHECK(found[0].outcome.bands.size() == 7);  // abs_max, l2 and zeros of two tensors; the loss
    CHECK(found[1].outcome.bands.empty());
    const std::string text = file_content(path);
    CHECK(text.find(R"("bands":[{"rule":0,"tensor":)") != std::string::npos);
    CHECK(text.find(R"("number":"value","found":[{"step":0,"value":9,"worker":"worker_0"}]})") != std::string::npos);
    CHECK(text.find(R"("number":"zeros","found":[]})") != std::string::npos);
    // The same of verdicts that were made before, if they have them.
    write_report(run, {.verdicts = invoke_rules(run, rules(), {.common = {.keep_bands = true}})}, path);
    const bool is_same = file_content(path) == text;
    CHECK(is_same);
    write_report(run, {.verdicts = invoke_rules(run, rules())}, path);
    CHECK(file_content(path).find("\"bands\"") == std::string::npos);
}
