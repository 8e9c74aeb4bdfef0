#include <program/scan_page.hpp>

#include "program/captured.hpp"

#include <program/program.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("address_of: a file's name is escaped so that it is not another address") {
    CHECK(cli::detail::address_of("run-1_a.html") == "run-1_a.html");
    CHECK(cli::detail::address_of("javascript:alert(1).html") == "javascript%3Aalert%281%29.html");
    CHECK(cli::detail::address_of("../a b.html") == "%2E.%2Fa%20b.html");
    CHECK(cli::detail::address_of("\xC3\xA9") == "%C3%A9");
}

TEST_CASE("scan --report: a row for each run, and the reports beside it are linked") {
    const temporary_folder place;
    const temporary_folder sick;
    write_sick_run(sick);
    place.write("torch_mlp.html", "a report");
    const std::string page = place.path() + "/batch.html";
    const ended run = run_to_end({"scan", golden("torch_mlp"), sick.path(), "/nowhere/at/all", "--report", page});
    CHECK(run.status == cli::exit_finding_and_error);
    const std::string text = file_content(page);
    CHECK(contains(text, R"("isBatch":true)"));
    CHECK(contains(text, R"("link":"torch_mlp.html")"));
    CHECK(contains(text, R"("rule":"exploding_tensor","status":"IssuesFound","findings":2,"first":1)"));
    CHECK(contains(text, R"("path":"/nowhere/at/all","state":"failed")"));
    CHECK(contains(text, "<title>3 runs</title>"));
    const ended wrong = run_to_end({"scan", golden("torch_mlp"), "--reductions", "all", "--report", page});
    CHECK(wrong.status == cli::exit_usage);
}
