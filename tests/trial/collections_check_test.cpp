#include <smdebug/trial/verify.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

struct checked {
    collections_check check;
    std::vector<inconsistency> found;
    smdebug::detail::json::document parser;

    void add(const std::string& key, std::string_view text) { check.add(key, as_bytes(text), parser, found); }
};

std::string file_of(const std::string& group, int workers = 1) {
    return R"({"collections": {"w": )" + group + R"(}, "_meta": {"num_workers": )" + std::to_string(workers) + "}}";
}

}  // namespace

TEST_CASE("collections_check: files that agree have no inconsistencies, even if workers have seen different names") {
    checked all;
    CHECK_FALSE(all.check.num_workers().has_value());
    all.add("a", file_of(R"({"name": "w", "include_regex": ["x"], "tensor_names": ["x1"]})", 2));
    all.add("b", file_of(R"({"name": "w", "include_regex": ["x"], "tensor_names": ["x2"]})", 2));
    CHECK(all.found.empty());
    CHECK(all.check.num_workers() == 2);
    CHECK(all.check.key() == "a");
}

TEST_CASE("collections_check: workers' files that disagree, and renamed keys and names, are reported") {
    checked all;
    all.add("a", file_of(R"({"name": "w", "include_regex": ["x"], "tensor_names": ["x1"]})", 2));
    all.add("b", file_of(R"({"name": "w", "include_regex": ["y"], "tensor_names": ["x1"]})", 2));
    all.add("c", file_of(R"({"name": "v", "include_segex": ["x"]})", 3));
    std::vector<std::string> told;
    for (const inconsistency& held : all.found) {
        told.push_back(held.file + " " + std::string{name_of(held.kind)});
    }
    CHECK(told == std::vector<std::string>{"b collections", "c renamed key", "c collections", "c workers",
                                           "c collections", "c collections"});
    CHECK_THROWS_AS(all.add("d", R"({"collections": {)"), corrupt_data);
}

TEST_CASE("collections_check: a listed name that no step has is reported if it is close to a name in no collection") {
    checked all;
    all.add("a", file_of(R"({"name": "w", "tensor_names": ["fc1.weight", "fc2.wdight", "later"]})"));
    all.check.compare_names({"fc1.weight", "fc2.weight", "loss"}, all.found);
    REQUIRE(all.found.size() == 1);
    CHECK(all.found[0].tensor == "fc2.weight");
    CHECK(all.found[0].what == "collection \"w\" has \"fc2.wdight\", which no step has");
}
