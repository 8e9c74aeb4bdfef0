#include <smdebug/batch/run_result.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

namespace smd = smdebug;

TEST_CASE("each state of a run has a name of its own") {
    std::set<std::string_view> names;
    for (const smd::run_state state :
         {smd::run_state::ended, smd::run_state::growing, smd::run_state::failed, smd::run_state::timed_out,
          smd::run_state::no_memory, smd::run_state::unchanged, smd::run_state::undone}) {
        names.insert(smd::name_of(state));
    }
    CHECK(names.size() == 7);
    CHECK_FALSE(names.contains("?"));
    CHECK(smd::name_of(static_cast<smd::run_state>(99)) == "?");
}

TEST_CASE("each kind of message has a name of its own") {
    CHECK(smd::name_of(smd::run_message::kind::note) == "note");
    CHECK(smd::name_of(smd::run_message::kind::damage) == "damage");
    CHECK(smd::name_of(smd::run_message::kind::error) == "error");
    CHECK(smd::name_of(static_cast<smd::run_message::kind>(99)) == "?");
}
