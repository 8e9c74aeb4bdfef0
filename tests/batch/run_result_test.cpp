#include <smdebug/batch/run_result.hpp>

#include "support/test.hpp"

namespace smd = smdebug;

TEST_CASE("each state of a run has a name of its own") {
    std::set<std::string_view> names;
    for (const smd::run_state state : {smd::run_state::ended, smd::run_state::growing, smd::run_state::failed,
                                       smd::run_state::timed_out, smd::run_state::no_memory, smd::run_state::unchanged,
                                       smd::run_state::undone, smd::run_state::incomplete, smd::run_state::gone}) {
        names.insert(smd::name_of(state));
    }
    CHECK(names.size() == 9);
    CHECK_FALSE(names.contains("?"));
    CHECK(smd::name_of(static_cast<smd::run_state>(99)) == "?");
}

TEST_CASE("each kind of message has a name of its own") {
    CHECK(smd::name_of(smd::run_message::kind::note) == "note");
    CHECK(smd::name_of(smd::run_message::kind::damage) == "damage");
    CHECK(smd::name_of(smd::run_message::kind::error) == "error");
    CHECK(smd::name_of(static_cast<smd::run_message::kind>(99)) == "?");
}

TEST_CASE("a run that ended or grows is incomplete where something of it was not read; other states stay") {
    using kind = smd::run_message::kind;
    using smd::run_state;
    const auto verdict = [](smd::rule_status status, std::size_t unread = 0) {
        return smd::run_result{.verdicts = {{.name = "r", .outcome = {.unread = unread}, .status = status}}};
    };
    const auto message = [](kind what) { return smd::run_result{.messages = {{.what = what}}}; };
    struct {
        smd::run_result result;
        run_state before;
        run_state after;
    } cases[]{
        {{}, run_state::ended, run_state::ended},
        {message(kind::note), run_state::growing, run_state::growing},
        {message(kind::damage), run_state::ended, run_state::incomplete},
        {message(kind::error), run_state::growing, run_state::incomplete},
        {message(kind::error), run_state::timed_out, run_state::timed_out},
        {message(kind::error), run_state::failed, run_state::failed},
        {verdict(smd::rule_status::issues_found), run_state::ended, run_state::ended},
        {verdict(smd::rule_status::issues_found, 1), run_state::ended, run_state::incomplete},
        {verdict(smd::rule_status::error), run_state::ended, run_state::incomplete},
        {verdict(smd::rule_status::incomplete), run_state::ended, run_state::incomplete},
    };
    for (auto& each : cases) {
        each.result.state = each.before;
        smd::settle_state(each.result);
        CHECK(each.result.state == each.after);
    }
}
