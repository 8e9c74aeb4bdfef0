#include <smdebug/trial/selection.hpp>

#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;

TEST_CASE("name_filter: a name that is listed, or that any of the regexes matches") {
    const detail::name_filter filter{{"^conv", "bias$"}, {"dense/kernel", "loss"}};
    for (const char* const name : {"conv1", "dense/bias", "dense/kernel", "loss"}) {
        CHECK(filter.accepts(name));
    }
    for (const char* const name : {"", "dense", "loss2", "a/conv", "bias_1"}) {
        CHECK_FALSE(filter.accepts(name));
    }
    CHECK_FALSE(detail::name_filter{{}, {}}.accepts("loss"));
    CHECK_THROWS_AS((detail::name_filter{{"("}, {}}), value_error);
}

TEST_CASE("name_filter: a digest is meant where it is listed, or where a regex matches it and not its tensor") {
    const detail::name_filter filter{{"^digest/conv", "loss"}, {"digest/w"}};
    CHECK(filter.names_digest("digest/conv1"));
    CHECK(filter.names_digest("digest/w"));
    CHECK_FALSE(filter.names_digest("digest/loss"));
    CHECK_FALSE(filter.names_digest("digest/v"));
}

TEST_CASE("tensor_selection: covers everything without histograms' tables and digests unless it says otherwise") {
    const tensor_selection all;
    CHECK_FALSE(all.names.has_value());
    CHECK_FALSE(all.regex.given());
    CHECK_FALSE(all.collection.has_value());
    CHECK(all.mode == mode::global);
    CHECK_FALSE(all.worker.has_value());
    CHECK_FALSE(all.tables);
    CHECK_FALSE(all.digests);
}
