#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

TEST_CASE("edit_distance: insertions, deletions, replacements") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("flaw", "lawn") == 2);
    CHECK(edit_distance("layer.1.weight", "layer.12.weight") == 1);
    CHECK(edit_distance("aa", "aaa") == 1);
}

TEST_CASE("near_matches: parts of names and small slips, the nearest first, ignoring case") {
    const texts names{"conv1/weight", "conv2/weight", "dense/bias", "loss"};
    CHECK(near_matches("conv1/weigth", names) == texts{"conv1/weight", "conv2/weight"});
    CHECK(near_matches("BIAS", names) == texts{"dense/bias"});
    CHECK(near_matches("los", names) == texts{"loss"});
    CHECK(near_matches("weight", names, 1).size() == 1);
    CHECK(near_matches("", names).empty());
    CHECK(near_matches("something else", names).empty());
}

TEST_CASE("near_or_all: near names, otherwise all, or the first of many") {
    CHECK(near_or_all("abd", texts{"abc", "xyz"}) == " Did you mean abc?");
    CHECK(near_or_all("nothing", texts{"abc", "xyz"}) == " There are: abc, xyz");
    CHECK(near_or_all("nothing", texts{}).empty());
    CHECK(near_or_all("nothing", texts(21, "abc")).ends_with("abc, abc, ..."));
}

TEST_CASE("did_you_mean: none, one or several names, in a sentence") {
    CHECK(did_you_mean("xyzzy", texts{"abc"}).empty());
    CHECK(did_you_mean("abd", texts{"abc"}) == " Did you mean abc?");
    CHECK(did_you_mean("ab", texts{"abc", "abd", "abe"}) == " Did you mean abc, abd or abe?");
}
