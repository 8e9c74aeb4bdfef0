#include "program/database/canonical_rows.hpp"
#include "program/database/results.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/results_database.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("canonical_rows: equal if and only if databases differ only in order and times of writing") {
    const temporary_folder place;
    const std::string first = place.path() + "/first.db";
    const std::string second = place.path() + "/second.db";
    run_result other = some_result(2);
    other.seconds = 77;
    {
        results_database database{first};
        database.write(some_result(1), "q");
        database.write(some_result(2), "q");
        database.write(with_reductions(some_result(3), some_reductions()), "q");
    }
    {
        results_database database{second};
        database.write(with_reductions(some_result(3), some_reductions()), "q");
        database.write(some_result(2, 1), "another");
        database.write(other, "q");
        database.write(some_result(1), "q");
    }
    const std::string rows = canonical_rows(first);
    CHECK(rows == canonical_rows(second));
    CHECK(rows.find("runs '" + std::filesystem::current_path().string() +
                    "/runs/1' 1 'ended' '' '1:1' 100001 20 190 1 12 'q'\n") != std::string::npos);
    const auto differs = [&](const run_result& run, const char* question) {
        results_database{second}.write(run, question);
        const bool is_other = rows != canonical_rows(second);
        results_database{second}.write(some_result(1), "q");
        CHECK(rows == canonical_rows(second));
        return is_other;
    };
    run_result changed = some_result(1);
    changed.messages.push_back({.text = "a\nb"});
    CHECK(differs(changed, "q"));
    CHECK(differs(some_result(1), "why"));
    changed = some_result(1);
    changed.verdicts[0].outcome.findings[0].value *= -1;
    CHECK(differs(changed, "q"));
    changed = some_result(1);
    changed.verdicts[3].outcome.unread = 1;
    CHECK(differs(changed, "q"));
    results_database{second}.write(with_reductions(some_result(1), some_reductions()), "q");
    CHECK(rows != canonical_rows(second));
}
