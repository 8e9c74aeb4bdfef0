#include <smdebug/actions/status_file.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/json_text.hpp>

using namespace smdebug;
using namespace smdebug::actions;
using namespace smdebug_test;
using smdebug::actions::evaluation_status;
using smdebug::actions::status_writes;
using std::chrono::milliseconds;

namespace {

constexpr evaluation_status::clock::time_point morning =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 22} + std::chrono::hours{7} + milliseconds{65'043};

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator{folder}, std::filesystem::directory_iterator{}));
}

}  // namespace

TEST_CASE("status_file: a status has the service's fields, and its time is of ISO 8601") {
    const evaluation_status one{"my rule", rule_status::issues_found, "it \"fired\"", morning};
    CHECK(status_json(one) ==
          R"({"RuleConfigurationName":"my rule","RuleEvaluationStatus":"IssuesFound","StatusDetails":"it \"fired\"",)"
          R"("LastModifiedTime":"2026-11-22T07:01:05.043Z"})"
          "\n");
    CHECK(iso_time_text({}) == "1970-01-01T00:00:00.000Z");
    CHECK(iso_time_text(evaluation_status::clock::time_point{milliseconds{-1}}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("status_file: details are cut to 1024 bytes, between characters") {
    std::string details(1023, 'x');
    details += "\xC3\xA4 and more";
    const std::string text = status_json({.details = details});
    CHECK(text.find("\"" + std::string(1023, 'x') + "\"") != std::string::npos);
    CHECK(is_utf8(smdebug::detail::cut_text(details, most_status_details)));
}

TEST_CASE("status_file: one rule is an object, several are a list") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/deep/status.json";
    CHECK(write_status_file(path, evaluation_status{.rule_configuration_name = "a"}));
    CHECK(file_content(path).starts_with("{\"RuleConfigurationName\":\"a\","));
    const std::vector<evaluation_status> all{{.rule_configuration_name = "a"}, {.rule_configuration_name = "b"}};
    CHECK(write_status_file(path, all));
    CHECK(file_content(path) == status_json(all));
    CHECK(status_json(all).starts_with("[{\"RuleConfigurationName\":\"a\","));
    CHECK(status_json(std::vector<evaluation_status>{}) == "[]\n");
    CHECK(files_in(folder.path() + "/deep") == 1);  // nothing temporary is left
}

TEST_CASE("status_file: what cannot be written is a result, not an exception") {
    const temporary_folder folder;
    folder.write("file", "no folder");
    const smdebug::actions::status_written result =
        write_status_file(folder.path() + "/file/status.json", evaluation_status{});
    CHECK_FALSE(result);
    CHECK(result.failure.find("/file") != std::string::npos);
}

TEST_CASE("status_file: is kept up to date, and a status that stays keeps its time") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/status.json";
    status_file file{path};
    CHECK(file.set("a", rule_status::in_progress, "", morning));
    CHECK(file.set("b", rule_status::in_progress, "", morning));
    CHECK(file.set("a", rule_status::issues_found, "found", morning + milliseconds{1}));
    CHECK(file.set("b", rule_status::in_progress, "", morning + milliseconds{2}));
    const std::vector<evaluation_status> expected{{"a", rule_status::issues_found, "found", morning + milliseconds{1}},
                                                  {"b", rule_status::in_progress, "", morning}};
    CHECK(file_content(path) == status_json(expected));
    CHECK(file.set(rule_result{.name = "c", .status = rule_status::stopped, .details = "so far"}));
    CHECK(file_content(path).find(R"("RuleEvaluationStatus":"Stopped","StatusDetails":"so far")") != std::string::npos);
}

TEST_CASE("status_file: a write that failed is made up for by the next call") {
    const temporary_folder folder;
    folder.write("way", "in the way");
    status_file file{folder.path() + "/way/status.json"};
    CHECK_FALSE(file.set("a", rule_status::no_issues_found, "", morning));
    folder.remove("way");
    CHECK(file.set("a", rule_status::no_issues_found, "", morning));
    CHECK(file_content(folder.path() + "/way/status.json").find("NoIssuesFound") != std::string::npos);
}

TEST_CASE("status_file: in the background the first status is written at once, the others soon, the last at the end") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/status.json";
    {
        status_file file{path, status_writes::in_background};
        CHECK(file.set("rule 0", rule_status::in_progress, "", morning));
        CHECK(file_content(path).find("rule 0") != std::string::npos);
        for (int i = 1; i < 500; ++i) {
            CHECK(file.set("rule " + std::to_string(i), rule_status::in_progress, "", morning));
        }
        for (int tries = 0; tries < 5000 && file_content(path).find("rule 499") == std::string::npos; ++tries) {
            CHECK(file_content(path).ends_with("]\n"));  // always whole
            std::this_thread::sleep_for(milliseconds{2});
        }
        CHECK(file_content(path).find("rule 499") != std::string::npos);
        for (int i = 0; i < 500; ++i) {
            CHECK(file.set("rule " + std::to_string(i), rule_status::no_issues_found, "", morning));
        }
        CHECK(file.flush());
        CHECK(file_content(path).find("InProgress") == std::string::npos);
        CHECK(file.set("rule 7", rule_status::stopped, "", morning));
    }
    CHECK(file_content(path).find("Stopped") != std::string::npos);
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("status_file: in the background many changes are few writes") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/status.json";
    status_file file{path, status_writes::in_background};
    std::size_t written = 0;
    std::filesystem::file_time_type last = {};
    for (int i = 0; i < 4000; ++i) {
        CHECK(file.set("rule " + std::to_string(i), rule_status::in_progress, std::string(100, 'x'), morning));
        const auto now = std::filesystem::last_write_time(path);
        written += now != last ? 1U : 0U;
        last = now;
    }
    CHECK(written < 2000);
}

TEST_CASE("status_file: a failed write in the background is reported by a later call, and repeated") {
    const temporary_folder folder;
    folder.write("way", "in the way");
    status_file file{folder.path() + "/way/status.json", status_writes::in_background};
    CHECK_FALSE(file.set("a", rule_status::in_progress, "", morning));
    smdebug::actions::status_written told;
    for (int tries = 0; tries < 5000 && told; ++tries) {
        told = file.set("a", rule_status::in_progress, std::to_string(tries), morning);
        std::this_thread::sleep_for(milliseconds{1});
    }
    CHECK_FALSE(told);
    CHECK_FALSE(file.flush());
    folder.remove("way");
    CHECK(file.flush());
    CHECK(file_content(folder.path() + "/way/status.json").find("InProgress") != std::string::npos);
}

TEST_CASE("status_file: what only we call incomplete is an error for the service") {
    CHECK(status_json({.status = rule_status::incomplete, .details = "3 of 60"})
              .find(R"("RuleEvaluationStatus":"Error","StatusDetails":"3 of 60")") != std::string::npos);
}
