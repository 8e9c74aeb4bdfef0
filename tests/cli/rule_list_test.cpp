#include <smdebug/cli/rule_list.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rules: a row for each parameter of each rule") {
    captured run;
    CHECK(cli::list_rules({.format = cli::output_format::csv}, run.to) == cli::exit_ok);
    const auto lines = lines_of(run.out.str());
    std::size_t parameters = 0;
    for (const cli::rule_info& rule : cli::built_in_rules()) {
        parameters += rule.parameters.size();
    }
    CHECK(lines.size() == parameters + 1);
    CHECK(lines[0] == "rule,parameter,type,default,description");
    CHECK(contains(run.out.str(), "\nvanishing_gradient,threshold,float,1e-07,"));
}

TEST_CASE("rules: the table says what each rule is for") {
    captured run;
    CHECK(cli::list_rules({}, run.to) == cli::exit_ok);
    CHECK(contains(run.out.str(), "\nexploding_tensor (ExplodingTensor): "));
}
