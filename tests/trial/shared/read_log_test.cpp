#include <smdebug/trial/shared/rule_view.hpp>

#include "support/test.hpp"

using namespace smdebug;
using detail::read_log;

namespace {

const std::optional<std::string> first = "worker_0";
const std::optional<std::string> second = "worker_1";
const smdebug::lookup_error missing{.why = lookup_failure_kind::event_file_missing, .where = "events/x"};

}  // namespace

TEST_CASE("read_log: a tensor of the current step counts once, by its step or its mode step; others do not") {
    read_log log;
    log.begin({.step = 7, .mode = mode::eval, .mode_step = 2});
    log.was_read("a", 7, mode::global, first);
    log.was_read("b", 7, mode::global, first);
    log.was_read("a", 7, mode::global, first);
    log.was_read("a", 2, mode::eval, first);
    log.was_read("a", 7, mode::global, second);
    log.was_read("a", 6, mode::global, first);
    log.was_read("a", 7, mode::eval, first);
    const auto asked = log.end();
    CHECK(asked.read == 3);
    CHECK(asked.lost.empty());
    log.begin({.step = 8, .mode = mode::eval, .mode_step = 3});
    CHECK(log.end().read == 0);
}

TEST_CASE("read_log: a lost tensor does not count as read, even if part of it was; nor does an unsaved one") {
    read_log log;
    log.begin({.step = 7});
    log.was_read("a", 7, mode::global, first);
    log.was_looked_up(missing, "a", 7, mode::global, first);
    log.was_looked_up({.why = lookup_failure_kind::damaged, .where = "events/y"}, "b", 7, mode::global, first);
    log.was_looked_up({.why = lookup_failure_kind::tensor_not_saved}, "c", 7, mode::global, first);
    log.was_looked_up({.why = lookup_failure_kind::no_such_worker, .where = "w"}, "c", 7, mode::global, first);
    log.was_looked_up({.why = lookup_failure_kind::wrong_dtype}, "d", 7, mode::global, first);
    const auto asked = log.end();
    CHECK(asked.read == 1);
    CHECK(asked.lost.size() == 2);
    CHECK(asked.first_lost.find("events/x") != std::string::npos);
}
