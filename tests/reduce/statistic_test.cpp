#include <smdebug/reduce/statistic.hpp>

#include <smdebug/reduce/name.hpp>

#include "support/test.hpp"

using namespace smdebug;
using detail::all_statistics;
using detail::statistic_named;
using detail::wanted_by;

TEST_CASE("statistic: the nine reductions, their abs forms, four counts, each by its name") {
    std::set<std::string> names;
    for (const detail::statistic& each : all_statistics()) {
        names.insert(each.name);
        const auto again = statistic_named(each.name);
        REQUIRE(again.has_value());
        CHECK(again->key == each.key);
        CHECK(again->count == each.count);
        CHECK(each.key.has_value() == (each.count == nullptr));
    }
    CHECK(names.size() == 22);
    CHECK_FALSE(statistic_named("median").has_value());
    CHECK(detail::statistic_names().size() == all_statistics().size());
    CHECK(detail::statistic_names().back() == "zeros");
    CHECK_FALSE(statistic_named("").has_value());
}

TEST_CASE("wanted_by: what has to be computed for some columns") {
    CHECK(wanted_by({}).empty());
    const reduction_set mean = wanted_by({*statistic_named("mean")});
    CHECK(mean.contains(reduction_key{reduction::mean}));
    CHECK_FALSE(mean.has_counts());
    CHECK(wanted_by({*statistic_named("nan")}).has_counts());
}
