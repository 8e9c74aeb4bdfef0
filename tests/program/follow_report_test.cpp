#include <program/report.hpp>

#include "program/growing.hpp"
#include "program/live_output.hpp"

#include <program/console.hpp>
#include <program/rule_set.hpp>

#include "support/test.hpp"

#include <future>

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

/// A rule that is slow at its first step, and does something there.
struct slow_at_first {
    static inline std::function<void()> meanwhile = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "slow_at_first"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "nothing"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
    finding operator()(const trial& /*run*/, step_number /*step*/) {
        if (const auto once = std::exchange(meanwhile, {})) {
            once();
            std::this_thread::sleep_for(std::chrono::seconds{3});
        }
        return {};
    }
};

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

TEST_CASE("report --follow: the last page does not wait for the pause behind a page that took long") {
    const temporary_folder place;
    const std::string page = place.path() + "/page.html";
    growing run;
    run.start().step(0, false);
    slow_at_first::meanwhile = [&] { run.end(); };
    cli::program_rules rules;
    rules.add<slow_at_first>();
    const cli::detail::report_arguments args{.check = {.runs = {run.path()}, .follow = {.on = true}},
                                             .output = page,
                                             .interval = std::chrono::milliseconds{20}};
    captured by;
    std::stop_source stop;
    std::future<int> status = std::async(
        std::launch::async, [&] { return cli::detail::follow_report(args, rules, by.to, stop.get_token()); });
    const bool has_ended = status.wait_for(std::chrono::seconds{20}) == std::future_status::ready;
    stop.request_stop();
    CHECK(has_ended);
    CHECK(status.get() == cli::exit_ok);
    CHECK(contains(file_content(page), R"("state":"ended")"));
}
