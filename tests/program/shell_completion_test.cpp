#include <program/shell_completion.hpp>

#include "program/captured.hpp"
#include "program/small_table.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

using namespace smdebug_test;

TEST_CASE("shell_completion: each shell has a script of its own, which says how it was made") {
    std::set<std::string> scripts;
    for (const std::string_view shell : smdebug::cli::detail::completed_shells) {
        const std::string script = smdebug::cli::detail::completion_script(small_table(), shell);
        CHECK(contains(script, "printed by `prog-x completion " + std::string{shell} + "`"));
        CHECK_FALSE(contains(script,
                             "@"
                             "program@"));
        CHECK_FALSE(contains(script,
                             "@"
                             "function@"));
        scripts.insert(script);
    }
    CHECK(scripts.size() == 3);
}
