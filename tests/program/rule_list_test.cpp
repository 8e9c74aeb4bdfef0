#include <program/rule_list.hpp>

#include "program/captured.hpp"

#include <program/rows.hpp>
#include <program/rule_set.hpp>

#include <smdebug/trial/trial.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rules: a row for each parameter of each rule") {
    captured run;
    const auto known = cli::program_rules::built_in();
    CHECK(cli::detail::list_rules({.format = cli::detail::output_format::csv}, known, run.to) == cli::exit_ok);
    const auto lines = lines_of(run.out.str());
    std::size_t parameters = 0;
    for (const rule_info& rule : known.infos()) {
        parameters += rule.parameters.size();
    }
    CHECK(lines.size() == parameters + 1);
    CHECK(lines[0] == "rule,parameter,type,default,in_a_scan,description");
    CHECK(contains(run.out.str(), "\nvanishing_gradient,threshold,float,1e-07,,"));
}

TEST_CASE("rules: only the named ones") {
    captured run;
    CHECK(cli::detail::list_rules({.rules = {"all_zero"}}, cli::program_rules::built_in(), run.to) == cli::exit_ok);
    CHECK(contains(run.out.str(), "\nall_zero (AllZero): "));
    CHECK(contains(run.out.str(), "patience          int    1        3 "));
    CHECK_FALSE(contains(run.out.str(), "dead_relu"));
}

TEST_CASE("rules: the table says what each rule is for") {
    captured run;
    CHECK(cli::detail::list_rules({}, cli::program_rules::built_in(), run.to) == cli::exit_ok);
    CHECK(contains(run.out.str(), "\nexploding_tensor (ExplodingTensor): "));
    CHECK(contains(run.out.str(), "\nloss_spike: "));
    CHECK(contains(run.out.str(), "\nstalled_training (StalledTrainingRule): "));
}

TEST_CASE("rules: a program's own rules are listed as well, and none if there are none") {
    struct mine {
        double limit = 2;
        [[nodiscard]] static constexpr std::string_view name() { return "mine"; }
        [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
        [[nodiscard]] static constexpr auto settings() { return std::tuple{setting{"limit", &mine::limit, "how far"}}; }
        [[nodiscard]] finding operator()(const trial& /*run*/, step_number /*step*/) const { return {}; }
    };
    cli::program_rules known;
    captured nothing;
    CHECK(cli::detail::list_rules({.format = cli::detail::output_format::csv}, known, nothing.to) == cli::exit_ok);
    CHECK(lines_of(nothing.out.str()).size() == 1);
    known.add<mine>();
    captured one;
    CHECK(cli::detail::list_rules({.format = cli::detail::output_format::csv}, known, one.to) == cli::exit_ok);
    CHECK(lines_of(one.out.str()).back() == "mine,limit,float,2.0,,how far");
}
