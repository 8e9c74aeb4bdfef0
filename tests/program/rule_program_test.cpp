#include <program/rule_program.hpp>

#include "program/captured.hpp"

#include <program/command_options.hpp>
#include <program/database/sqlite.hpp>
#include <program/rule_set.hpp>
#include <smdebug/rule_main.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

struct mean_above {
    double upper_limit = 0.5;
    std::int64_t most = 10;
    bool absolute = true;

    [[nodiscard]] static constexpr std::string_view name() { return "mean_above"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "a mean is above a limit"; }
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"upper_limit", &mean_above::upper_limit, "largest mean that is fine"},
                          setting{"most", &mean_above::most, "how many findings a step may have"},
                          setting{"absolute", &mean_above::absolute, "of magnitudes"}};
    }
    void check() const {
        if (most < 1) {
            throw value_error("mean_above: most must be at least 1, not " + std::to_string(most));
        }
    }
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        std::vector<finding> found;
        for (const std::string& tensor : run.tensor_names({.step = step})) {
            const double mean = run.tensor(tensor).reduction_value(step, reduction::mean, {.abs = absolute});
            if (mean > upper_limit && static_cast<std::int64_t>(found.size()) < most) {
                found.push_back({.met = true, .tensor = tensor, .value = mean, .threshold = upper_limit});
            }
        }
        return found;
    }
};

/// Answers as a Python rule does.
struct says_yes {
    [[nodiscard]] static constexpr std::string_view name() { return "says_yes"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "always"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
    [[nodiscard]] bool operator()(const readable_trial auto& /*run*/, step_number step) const { return step == 1; }
};

/// Wants to say something, and finds nothing.
struct only_notes {
    [[nodiscard]] static constexpr std::string_view name() { return "only_notes"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
    [[nodiscard]] finding operator()(const readable_trial auto& run, step_number /*step*/) const {
        return finding::note(std::to_string(run.tensor_names().size()) + " tensors");
    }
};

/// Compares with the runs that --other-trials names.
struct has_fewer_tensors {
    std::vector<std::shared_ptr<const trial>> others = {};
    [[nodiscard]] static constexpr std::string_view name() { return "has_fewer_tensors"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "another run has more tensors"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
    [[nodiscard]] bool operator()(const readable_trial auto& run, step_number /*step*/) const {
        return run.tensor_names({}).size() < others.at(0)->tensor_names().size();
    }
};

template <class Rule>
cli::program_rules only() {
    cli::program_rules rules;
    rules.add<Rule>();
    return rules;
}

template <class Rule = mean_above>
ended run_it(const texts& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::detail::run_rule_program(only<Rule>(), arguments, out, err);
    return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("rule_program: the settings are flags, and the verdict is the exit status") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended met = run_it({folder.path(), "--format", "csv", "--end-step", "1"});
    CHECK(met.status == cli::exit_finding);
    CHECK(lines_of(met.out).size() == 2);
    CHECK(contains(met.out, ",mean_above,0,TRAIN,0,w,,1.5,0.5,"));
    CHECK(run_it({"--trial-dir", folder.path(), "--upper-limit", "1.5", "--end", "1"}).status == cli::exit_ok);
    CHECK(run_it({folder.path(), "--upper_limit", "0.1", "--most", "1", "--end", "1", "--format", "csv"}).status ==
          cli::exit_finding);
    const ended json = run_it({folder.path(), "--json", "--end", "1"});
    CHECK(json.status == cli::exit_finding);
    CHECK(json.out.starts_with("{\"run\":"));
    CHECK(contains(run_it({folder.path(), "--upper-limit", "5", "--end", "1"}).out, "NoIssuesFound"));
}

TEST_CASE("rule_program: a rule that answers with a bool") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended met = run_it<says_yes>({folder.path(), "--format", "csv"});
    CHECK(met.status == cli::exit_finding);
    REQUIRE(lines_of(met.out).size() == 2);
    CHECK(contains(met.out, ",says_yes,1,EVAL,0,,,,,\n"));
    CHECK(run_it<says_yes>({folder.path(), "--end", "1"}).status == cli::exit_ok);
}

TEST_CASE("rule_program: a note is printed, and kept in a database, and the run stays healthy") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended noted = run_it<only_notes>({folder.path(), "--format", "csv"});
    CHECK(noted.status == cli::exit_ok);
    CHECK(lines_of(noted.out).size() == 1);
    CHECK(contains(noted.err, ": note: only_notes: step 1: 2 tensors [run " + folder.path() + "]\n"));
    const temporary_folder results;
    const ended kept = run_it<only_notes>({folder.path(), "-o", results.path() + "/results.db", "--format", "csv"});
    CHECK(kept.status == cli::exit_ok);
    detail::sqlite::connection database{results.path() + "/results.db", detail::sqlite::access::read,
                                        std::chrono::seconds{1}};
    CHECK(database.number("SELECT COUNT(*) FROM messages WHERE kind = 'note' AND text LIKE '%2 tensors%'") == 3);
    CHECK(database.number("SELECT COUNT(*) FROM messages WHERE kind <> 'note'") == 0);
    CHECK(database.number("SELECT COUNT(*) FROM findings") == 0);
}

TEST_CASE("rule_program: a rule that compares runs gets those that --other-trials names") {
    const temporary_folder folder;
    const temporary_folder larger;
    write_sick_run(folder);
    local_storage store{larger.path()};
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {1}), tensor_of<float>("c", {1})}})
        .end();
    const texts with_other{folder.path(), "--end", "1", "--other-trials"};
    const auto status_with = [&](const std::string& other) {
        texts arguments = with_other;
        arguments.push_back(other);
        return run_it<has_fewer_tensors>(arguments).status;
    };
    CHECK(status_with(larger.path()) == cli::exit_finding);
    CHECK(status_with(folder.path()) == cli::exit_ok);
}

TEST_CASE("rule_program: help shows the purpose of the rule, its settings with types and defaults") {
    const ended help = run_it({"--help"});
    CHECK(help.status == cli::exit_ok);
    CHECK(help.out.starts_with("a mean is above a limit."));
    CHECK(contains(squeezed(help.out), "--upper_limit,--upper-limit float"));
    CHECK(contains(squeezed(help.out), "largest mean that is fine; default: 0.5"));
    CHECK(contains(squeezed(help.out), "--most int"));
    for (const char* flag : {"--trial-dir", "--other-trials", "--start-step", "--end-step", "--follow", "--json"}) {
        CHECK(contains(help.out, flag));
    }
}

TEST_CASE("rule_program: errors are printed, with exit status 2, or 1 if a run cannot be read") {
    CHECK(contains(run_it({}).err, "a run is missing"));
    CHECK(run_it({}).status == cli::exit_usage);
    CHECK(run_it({"a", "--nothing"}).status == cli::exit_usage);
    CHECK(contains(run_it({"a", "--upper-limit", "x"}).err,
                   "parameter upper_limit (float, default 0.5) must be a number, not \"x\""));
    CHECK(contains(run_it({"a", "--most", "0"}).err, "most must be at least 1"));
    CHECK(contains(run_it({"a", "--other-trials", "b"}).err, "does not compare runs"));
    CHECK(contains(run_it({"a", "--give-up-after", "1s"}).err, "is for --follow"));
    CHECK(run_it({"/nowhere"}).status == cli::exit_error);
    CHECK(run_it({"/nowhere"}).err.starts_with("mean_above: error: NotFound: "));
    CHECK(run_it({"a", "--upper-limt", "1"})
              .err.starts_with("mean_above: error: mean_above has no option --upper-limt. Did you mean --upper-limit"));
}

TEST_CASE("rule_program: prints the rule's name and the version of the library") {
    const ended told = run_it({"--version"});
    CHECK(told.status == cli::exit_ok);
    CHECK(told.out == "mean_above, a rule made with smdebug " + cli::detail::version_text() + "\n");
    CHECK(told.err.empty());
}

TEST_CASE("rule_program: follows a run to its end") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended followed = run_it({folder.path(), "--follow", "--end-step", "1", "--format", "csv"});
    CHECK(followed.status == cli::exit_finding);
    CHECK(lines_of(followed.out).size() == 2);
    CHECK(run_it({folder.path(), "--follow", "--upper-limit", "1e9"}).status == cli::exit_finding);  // an infinite mean
}

TEST_CASE("rule_program: over many runs, with a database, as smdebug scan; a setting of the same name is the rule's") {
    const temporary_folder folder;
    const temporary_folder runs;
    write_sick_run(runs);
    runs.write("list.txt", runs.path() + "\n/nowhere\n");
    std::this_thread::sleep_for(std::chrono::milliseconds{60});  // what is newer has no version to be known by
    const std::string database = folder.path() + "/results.db";
    const texts arguments{"--list", runs.path() + "/list.txt", "-o", database, "--upper-limit", "1", "--end", "1"};
    const ended first = run_it(arguments);
    CHECK(first.status == cli::exit_finding_and_error);
    CHECK(first.out == "2 runs: findings in 1; 1 could not be evaluated; results are in " + database + "\n");
    CHECK(contains(run_it(arguments).out, "1 run had been looked at before"));
    const ended rows = run_it({runs.path(), "--threads", "2", "--format", "csv", "--end", "1"});
    CHECK(rows.status == cli::exit_finding);
    CHECK(contains(rows.out, ",mean_above,IssuesFound,1,1,1,0,"));
    CHECK(contains(run_it({runs.path(), "--threads", "2", "--follow"}).err, "--follow is for runs that are named"));
    CHECK(contains(run_it({"--list", "/nowhere"}).err, "--list: the file /nowhere cannot be read"));
    struct threaded : mean_above {
        std::int64_t threads = 3;
        [[nodiscard]] static constexpr auto settings() {
            return std::tuple{setting{"threads", &threaded::threads, "a number of its own"}};
        }
    };
    std::ostringstream out;
    std::ostringstream err;
    CHECK(cli::detail::run_rule_program(only<threaded>(), {runs.path(), "--threads", "7", "--end", "1"}, out, err) ==
          cli::exit_finding);
    CHECK(contains(out.str(), "IssuesFound"));
}
