#include <smdebug/registry/built_in_rules.hpp>

#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("for_each_built_in_rule: every rule is described, works on any trial, and has a name of its own") {
    std::vector<std::string> names;
    std::size_t comparing = 0;
    std::size_t of_service = 0;
    for_each_built_in_rule([&]<class R>() {
        static_assert(described_rule<R> && rule<R, trial>);
        names.emplace_back(R::name());
        comparing += takes_other_runs<R, trial> ? 1 : 0;
        INFO(R::name());
        if constexpr (requires { R::service_name(); }) {
            ++of_service;
            const std::string service = plain_rule_name(R::service_name());
            const std::string plain = plain_rule_name(R::name());
            CHECK((plain == service || plain + "rule" == service));  // StalledTrainingRule
        }
    });
    CHECK(names.size() == 30);
    CHECK(of_service == 20);
    CHECK(comparing == 1);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("plain_rule_name: capitals and underscores make no difference") {
    for (const char* name : {"ExplodingTensor", "exploding_tensor", "explodingtensor", "EXPLODING_TENSOR"}) {
        CHECK(plain_rule_name(name) == "explodingtensor");
    }
    CHECK(plain_rule_name("NLPSequenceRatio") == plain_rule_name("nlp_sequence_ratio"));
    CHECK(plain_rule_name("exploding tensor") != "explodingtensor");
    CHECK(plain_rule_name("").empty());
}
