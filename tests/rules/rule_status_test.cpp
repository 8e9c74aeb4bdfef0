#include <smdebug/rules/rule_result.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("rule_status: names are the service's and one of ours, and lead back to the status") {
    constexpr std::string_view names[] = {"InProgress", "NoIssuesFound", "IssuesFound",  "Error",
                                          "Stopped",    "Incomplete",    "NotApplicable"};
    for (const std::string_view name : names) {
        const auto status = rule_status_named(name);
        REQUIRE(status);
        CHECK(name_of(*status) == name);
        CHECK(service_name_of(*status) == (name == "Incomplete" || name == "NotApplicable" ? "Error" : name));
    }
    CHECK(name_of(rule_status::issues_found) == "IssuesFound");
    CHECK(name_of(static_cast<rule_status>(99)) == "?");
}

TEST_CASE("rule_status: no other word is one") {
    CHECK_FALSE(rule_status_named("Stopping"));
    CHECK_FALSE(rule_status_named("issuesfound"));
    CHECK_FALSE(rule_status_named(""));
}
