#include <program/report.hpp>

#include "program/growing.hpp"
#include "program/live_output.hpp"

#include <program/console.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// Waits for a page that has this text.
bool wait_for_page(const std::string& path, const std::string& text) {
    for (int i = 0; i < 3000; ++i) {
        if (std::filesystem::exists(path) && contains(file_content(path), text)) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

}  // namespace

TEST_CASE("report --follow: the page is rewritten as the run grows, and says when that has ended") {
    const temporary_folder place;
    const std::string page = place.path() + "/page.html";
    growing run;
    running_program program{{"report", run.path(), "-o", page, "--follow", "--interval", "50ms"}};
    REQUIRE(program.err.wait_for("note: waiting for a run to start in " + run.path() + "\n"));
    run.start().step(0, false);
    REQUIRE(wait_for_page(page, R"("axes":[{"mode":"TRAIN","steps":1}])"));
    CHECK(contains(file_content(page), R"("lookAgain":2)"));
    CHECK(contains(file_content(page), R"("state":"running")"));
    run.step(1, true);
    REQUIRE(wait_for_page(page, R"("axes":[{"mode":"TRAIN","steps":2}])"));
    CHECK(contains(file_content(page), R"({"name":"exploding_tensor","status":"IssuesFound")"));
    run.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(contains(file_content(page), R"("lookAgain":0)"));
    CHECK(contains(file_content(page), R"("state":"ended")"));
    CHECK(contains(program.out.text(), "1 run, 2 findings"));
}

TEST_CASE("report --follow: a run that is given up") {
    const temporary_folder place;
    const std::string page = place.path() + "/page.html";
    growing run;
    run.start().step(0, false);
    running_program program{
        {"report", run.path(), "-o", page, "--follow", "--interval", "20ms", "--give-up-after", "200ms"}};
    CHECK(program.status() == cli::exit_error);
    CHECK(contains(program.err.text(), "stalled"));
    CHECK(contains(file_content(page), R"("lookAgain":0)"));
}
