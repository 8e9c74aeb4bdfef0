#include <smdebug/rules/drive/rule_drive.hpp>

#include "support/test.hpp"

using namespace smdebug;
using detail::read_log;
using detail::read_tally;

namespace {

const std::optional<std::string> first = "worker_0";
const std::optional<std::string> second = "worker_1";
const smdebug::lookup_error missing{.why = lookup_failure_kind::event_file_missing, .where = "events/x"};

}  // namespace

TEST_CASE("read_tally: what is lost counts once on the way, though a rule comes back to it") {
    read_log log;
    read_tally tally;
    rule_outcome outcome;
    const auto call = [&](const detail::named_step& at, auto&& ask) {
        log.begin(at);
        ask();
        const auto asked = log.end();
        tally.add(&asked, {}, nullptr, outcome);
    };
    call({.step = 7, .mode = mode::eval, .mode_step = 2}, [&] {
        log.was_looked_up(missing, "a", 7, mode::global, first);
        log.was_read("b", 7, mode::global, first);
    });
    CHECK(outcome.tensors == 2);
    CHECK(outcome.unread == 1);
    CHECK(outcome.first_unread.find("events/x") != std::string::npos);
    call({.step = 8, .mode = mode::eval, .mode_step = 3}, [&] {
        log.was_looked_up(missing, "a", 7, mode::global, first);
        log.was_looked_up(missing, "a", 2, mode::eval, first);
        log.was_read("a", 8, mode::global, first);
    });
    CHECK(outcome.tensors == 3);
    CHECK(outcome.unread == 1);
    // A step before the first that the rule was called at.
    call({.step = 9}, [&] { log.was_looked_up(missing, "a", 1, mode::global, first); });
    CHECK(outcome.tensors == 4);
    CHECK(outcome.unread == 2);
}

TEST_CASE("read_tally: a note about a logged look-up is not a second loss; one about another run is a loss") {
    read_log log;
    read_tally tally;
    rule_outcome outcome;
    const std::vector<finding> notes{{.damaged = true, .tensor = "a", .message = "run x: gone"},
                                     {.tensor = "b", .message = "cannot be judged"}};
    log.begin({.step = 7});
    log.was_looked_up(missing, "a", 7, mode::global, first);
    auto asked = log.end();
    tally.add(&asked, notes, nullptr, outcome);
    CHECK(outcome.unread == 1);
    log.begin({.step = 8});
    log.was_read("a", 8, mode::global, first);
    asked = log.end();
    tally.add(&asked, {{.damaged = true, .tensor = "a", .message = "run x: gone, too"}}, nullptr, outcome);
    CHECK(outcome.unread == 2);
    CHECK(outcome.tensors == 3);
}

TEST_CASE("read_tally: without a log notes and skipped steps count; a step without any is one tensor") {
    read_tally tally;
    rule_outcome outcome;
    tally.add(nullptr, {}, nullptr, outcome);
    CHECK(outcome.tensors == 1);
    CHECK(outcome.unread == 0);
    const tensor_unavailable_for_step gone("a", 3, mode::global, false, "as it is gone.", "events/x");
    tally.add(nullptr, {}, &gone, outcome);
    const tensor_unavailable_for_step not_saved("a", 4, mode::global);
    tally.add(nullptr, {}, &not_saved, outcome);
    tally.add(nullptr, {{.damaged = true, .tensor = "a", .message = "damaged"}}, nullptr, outcome);
    CHECK(outcome.tensors == 3);
    CHECK(outcome.unread == 2);
    CHECK(outcome.first_unread == gone.what());
}
