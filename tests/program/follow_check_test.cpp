#include <program/follow_check.hpp>

#include "program/growing.hpp"
#include "program/live_output.hpp"

#include <program/console.hpp>
#include <program/program.hpp>

#include "support/test.hpp"

#include <cerrno>
#include <ostream>
#include <streambuf>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

texts follow(const texts& runs, const texts& more = {}) {
    texts arguments{"check", "--follow", "--rule", "exploding_tensor"};
    arguments.insert(arguments.end(), runs.begin(), runs.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

// The rows of a CSV output, as far as the step.
texts found(const live_output& out) {
    texts rows;
    for (const std::string& line : lines_of(out.text())) {
        std::size_t comma = 0;
        for (int i = 0; i < 3; ++i) {
            comma = line.find(',', comma) + 1;
        }
        rows.push_back(line.substr(0, comma - 1));
    }
    rows.erase(rows.begin());
    return rows;
}

std::string row(const growing& run, step_number step) {
    return run.path() + ",exploding_tensor," + std::to_string(step);
}

const texts csv{"--format", "csv"};

// While it lives, missing event files of running jobs are waited for as good as for ever.
class endless_patience {
public:
    endless_patience() { ::setenv(name, "10000000", 1); }
    endless_patience(const endless_patience&) = delete;
    endless_patience& operator=(const endless_patience&) = delete;
    ~endless_patience() { ::unsetenv(name); }

private:
    static constexpr const char* name = "SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT";
};

}  // namespace

TEST_CASE("check --follow: each finding once, in order, as soon as its step is complete; ends with the job") {
    growing run;
    run.start().step(0, true).step(1, false);
    running_program program{follow({run.path()}, csv)};
    REQUIRE(program.out.wait_for(row(run, 0) + ","));
    for (step_number step = 2; step < 20; step += 2) {  // not every number is a step
        run.step(step, step % 4 == 0);
        if (step % 4 == 0) {
            REQUIRE(program.out.wait_for(row(run, step) + ","));
        }
    }
    run.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 0), row(run, 4), row(run, 8), row(run, 12), row(run, 16)});
    CHECK(program.err.text().empty());
}

TEST_CASE("check --follow: waits for a run that has not started") {
    growing run;
    running_program program{follow({run.path() + "/"})};
    REQUIRE(program.err.wait_for("smdebug: note: waiting for a run to start in " + run.path() + "\n"));
    run.start().step(7, false).end();
    CHECK(program.status() == cli::exit_ok);
    const texts lines = lines_of(program.out.text());
    REQUIRE(lines.size() == 7);
    CHECK(lines[0].starts_with("run "));
    CHECK(lines[2] == "nothing found");
    CHECK(lines[4].ends_with("findings  state"));
    CHECK(lines[6].ends_with("  1          0         0  ended"));
}

TEST_CASE("check --follow: several runs at once, each to its own end") {
    growing one;
    growing other;
    one.start();
    other.start();
    running_program program{follow({one.path(), other.path()}, csv)};
    texts expected;
    for (step_number step = 0; step < 4; ++step) {
        for (growing* run : {&one, &other}) {
            run->step(step, true);
            REQUIRE(program.out.wait_for(row(*run, step) + ","));
            expected.push_back(row(*run, step));
        }
    }
    one.end();
    other.step(4, true);
    REQUIRE(program.out.wait_for(row(other, 4) + ","));
    expected.push_back(row(other, 4));
    other.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == expected);
}

TEST_CASE("check --follow: more steps than a round takes, by several rules; every step once") {
    growing run;
    run.start();
    constexpr step_number count = 150;
    for (step_number step = 0; step < count; ++step) {
        run.step(step, step % 50 == 0);
    }
    run.end();
    running_program program{follow({run.path()}, {"--rule", "vanishing_gradient"})};
    CHECK(program.status() == cli::exit_finding);
    CHECK(contains(squeezed(program.out.text()), "exploding_tensor IssuesFound 150 3 3 ended\n"));
    CHECK(contains(squeezed(program.out.text()), "vanishing_gradient NotApplicable 150 0 0 ended\n"));
}

TEST_CASE("check --follow: steps that are complete only because the job has ended, and a step that comes late") {
    growing run{{"worker_0", "worker_1"}};
    run.start().step(5, true, "worker_0").step(5, true, "worker_1");
    running_program program{follow({run.path()}, csv)};
    REQUIRE(program.out.wait_for(row(run, 5) + ","));
    run.step(9, true, "worker_0");
    run.step(3, true, "worker_0").step(3, false, "worker_1");
    run.end();
    CHECK(program.status() == cli::exit_finding);
    texts rows = found(program.out);  // the late one when the rules walk the run again
    std::sort(rows.begin(), rows.end());
    CHECK(rows == texts{row(run, 3), row(run, 5), row(run, 9)});
}

TEST_CASE("check --follow: from a step on, up to another: ends there though the job goes on") {
    growing run;
    run.start().step(0, true);
    running_program program{follow({run.path()}, {"--start", "1", "--end", "3", "--format", "csv"})};
    run.step(1, true);
    REQUIRE(program.out.wait_for(row(run, 1) + ","));
    run.step(4, true);
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 1)});
}

TEST_CASE("check --follow: a run that is given up is an error, which a finding does not hide") {
    growing run;
    run.start().step(120, false);
    running_program healthy{follow({run.path()}, {"--give-up-after", "1ms"})};
    CHECK(healthy.status() == cli::exit_error);
    CHECK(healthy.err.text().starts_with("smdebug: error: " + run.path() + ": stalled: nothing new for "));
    CHECK(healthy.err.text().ends_with(", and no end-of-job mark; the last complete step is 120\n"));
    CHECK(healthy.out.text().ends_with("  1          0         0  stalled\n"));
    run.step(121, true);
    running_program sick{follow({run.path()}, {"--give-up-after", "1ms"})};
    CHECK(sick.status() == cli::exit_finding_and_error);
    CHECK(contains(sick.err.text(), "stalled"));
}

TEST_CASE("check --follow: interrupted: what was found stays, the summary is printed") {
    growing run;
    growing never;
    run.start().step(0, true);
    running_program program{follow({run.path(), never.path()})};
    REQUIRE(program.out.wait_for("1 infinite of 2 values"));
    REQUIRE(program.err.wait_for("waiting for a run to start in " + never.path()));
    program.stop.request_stop();
    CHECK(program.status() == cli::exit_finding);
    CHECK(contains(program.out.text(), "  1          1         1  interrupted\n"));
    CHECK(contains(program.out.text(), "  0          0         0  not started\n"));

    running_program nothing{follow({never.path()})};
    REQUIRE(nothing.err.wait_for("waiting for a run to start in "));
    nothing.stop.request_stop();
    CHECK(nothing.status() == cli::exit_interrupted);
    CHECK_FALSE(contains(nothing.out.text(), "nothing found"));  // nothing was looked at
}

TEST_CASE("check --follow: a stop ends a long round over many known steps") {
    growing run;
    run.start();
    for (step_number step = 0; step < 40; ++step) {
        run.step(step, true);
    }
    running_program program;
    program.out.on_flush = [&](const std::string& text) {
        if (contains(text, "exploding_tensor,3,")) {
            program.stop.request_stop();
        }
    };
    program.start(follow({run.path()}, csv));
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 0), row(run, 1), row(run, 2), row(run, 3)});
}

TEST_CASE("check --follow: a stop ends waiting for an event file, which is then not reported as bad") {
    const endless_patience setting;
    growing run;
    run.start().step(0, true).step(1, true);
    run.remove(smdebug::detail::locations::event_key(1, "worker_0"));
    running_program program{follow({run.path()})};
    REQUIRE(program.out.wait_for("1 infinite of 2 values"));
    program.stop.request_stop();
    CHECK(program.status() == cli::exit_finding);
    CHECK(contains(program.out.text(), "interrupted\n"));
    CHECK(program.err.text().empty());
}

TEST_CASE("check --follow: waits for a late event file") {
    const endless_patience setting;
    growing other;
    other.step(1, true);
    growing run;
    run.start().step(0, true);
    running_program program{follow({run.path()}, csv)};
    REQUIRE(program.out.wait_for(row(run, 0) + ","));
    for (const std::string& key :
         {smdebug::detail::locations::index_key(1, "worker_0"), smdebug::detail::locations::event_key(1, "worker_0")}) {
        run.put(key, file_content(other.path() + "/" + key));
    }
    REQUIRE(program.out.wait_for(row(run, 1) + ","));
    run.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 0), row(run, 1)});
    CHECK(program.err.text().empty());
}

TEST_CASE("check --follow: a run that fails does not end the others, and its findings count") {
    growing broken;
    growing sound;
    broken.start().step(0, true);
    sound.start();
    running_program program{follow({broken.path(), sound.path()})};
    REQUIRE(program.out.wait_for("1 infinite of 2 values"));
    broken.put(smdebug::detail::locations::index_key(1, "worker_0"), R"({"meta": 1})");
    REQUIRE(program.err.wait_for("IndexReaderException"));
    sound.step(0, false).end();
    CHECK(program.status() == cli::exit_finding_and_error);
    CHECK(contains(program.out.text(), "  1          1         1  failed\n"));
    CHECK(contains(program.out.text(), "  1          0         0  ended\n"));
}

TEST_CASE("check --follow: damaged index files are skipped on request, and each is reported once") {
    growing run;
    run.start();
    run.put(smdebug::detail::locations::index_key(1, "worker_0"), R"({"meta": 1})");
    running_program program{follow({run.path()}, {"--skip-damaged", "--format", "csv"})};
    REQUIRE(program.err.wait_for("skipped the damaged index file index/"));
    run.step(2, true);
    REQUIRE(program.out.wait_for(row(run, 2) + ","));
    run.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(lines_of(program.err.text()).size() == 1);
}

TEST_CASE("check --follow: an index file still truncated when the job ends is reported, though no more steps come") {
    growing run;
    run.start().step(1, false);
    running_program program{follow({run.path()}, {"--skip-damaged"})};
    run.put(smdebug::detail::locations::index_key(2, "worker_0"), "{\"meta\": {");
    run.end();
    CHECK(program.status() == cli::exit_ok);
    CHECK(contains(program.err.text(),
                   "skipped the damaged index file " + smdebug::detail::locations::index_key(2, "worker_0")));
}

TEST_CASE("check --follow: damage is noted and gives status 1 when nothing was found") {
    running_program program{follow({golden("damaged/flipped_length")})};
    CHECK(program.status() == cli::exit_error);
    CHECK(contains(program.err.text(), "note: exploding_tensor: CorruptRecord: events/"));
    CHECK(contains(program.err.text(), "error: not everything could be read: exploding_tensor lacks "));
    CHECK(contains(program.out.text(), " Incomplete "));
}

TEST_CASE("check --follow: rows come by step, and within a step by rule, however they are named") {
    growing run;
    run.start().step(0, true).step(1, true);
    run.end();
    running_program program{{"check", "--follow", run.path(), "--format", "csv", "--rule", "exploding_tensor", "--rule",
                             "all_zero,tensor_regex=w,threshold=50", "--end", "2"}};
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 0), row(run, 1)});
}

TEST_CASE(
    "check --follow: a job that saves nothing new is a stall to the rule that looks for it, while it is waited for") {
    growing run;
    run.start().step(3, false);
    running_program program{
        {"check", "--follow", run.path(), "--format", "csv", "--rule", "stalled_training,threshold=0.02"}};
    const std::string stall = run.path() + ",stalled_training,";
    REQUIRE(program.out.wait_for(stall + "3,TRAIN,3,,,"));
    run.step(4, false);
    REQUIRE(program.out.wait_for(stall + "4,"));
    run.end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(lines_of(program.out.text()).size() == 3);  // once for each stall
    CHECK(contains(program.out.text(), "nothing new was saved for "));
}

TEST_CASE("check --follow: with --stop-at-first it ends when every rule has a finding, though the job goes on") {
    growing run;
    run.start().step(0, false).step(1, true).step(2, true);
    running_program program{follow({run.path()}, {"--stop-at-first", "--first-offender"})};
    CHECK(program.status() == cli::exit_finding);
    CHECK(contains(squeezed(program.out.text()), "exploding_tensor IssuesFound 2 1 1 running\n"));
}

TEST_CASE("check --follow: rules keep separate state for each run, and the runs to compare with are opened") {
    growing one;
    growing other;
    for (growing* run : {&one, &other}) {
        run->start().step(0, false).step(1, false).step(2, false).step(3, false);
        run->end();
    }
    running_program program{{"check", "--follow", one.path(), other.path(), "--rule", "unchanged_tensor,tensor_regex=w",
                             "--rule", "similar_across_runs,tensor_regex=w", "--other-trials", golden("torch_mlp")}};
    CHECK(program.status() == cli::exit_finding);
    const std::string table = squeezed(program.out.text());
    CHECK(contains(table, one.path() + " unchanged_tensor IssuesFound 4 2 2 ended\n"));
    CHECK(contains(table, other.path() + " unchanged_tensor IssuesFound 4 2 2 ended\n"));
}

TEST_CASE("check --follow: a rule that fails is reported; the others go on") {
    growing run;
    run.start().step(0, true);
    run.end();
    running_program program{follow({run.path()}, {"--rule", "similar_across_runs", "--other-trials", "/nowhere"})};
    CHECK(program.status() == cli::exit_error);
    CHECK(contains(program.err.text(), "/nowhere"));
}

namespace {

// A pipe whose reader goes when the first row comes.
class broken_pipe : public std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        broken_ = broken_ || contains({text, static_cast<std::size_t>(size)}, "exploding_tensor,");
        return size;
    }
    int sync() override {
        errno = broken_ ? EPIPE : 0;
        return broken_ ? -1 : 0;
    }
    bool broken_ = false;
};

}  // namespace

TEST_CASE("check --follow: ends when its reader is gone") {
    growing run;
    run.start().step(0, true);  // and no end
    broken_pipe pipe;
    std::ostream out{&pipe};
    std::ostringstream err;
    CHECK(cli::run_program(follow({run.path(), golden("sparse_running")}, csv), out, err) == cli::exit_error);
    CHECK(err.str().empty());
}

TEST_CASE("check --follow: a removed run is reported, and its replacement is checked from its first step") {
    growing run;
    run.start().step(5, true);
    running_program program{follow({run.path()}, csv)};
    REQUIRE(program.out.wait_for(row(run, 5) + ","));
    std::filesystem::remove_all(run.path());
    REQUIRE(program.err.wait_for("waiting for a run to start in " + run.path() + "\n"));
    CHECK(contains(program.err.text(), "note: the run in " + run.path() + " was removed, or replaced by another one"));
    run.start().step(1, true).step(2, false).end();
    CHECK(program.status() == cli::exit_finding);
    CHECK(found(program.out) == texts{row(run, 5), row(run, 1)});
}

TEST_CASE("check --follow: a finding of a run that was removed counts, though the next run is healthy") {
    growing run;
    run.start().step(5, true);
    running_program program{follow({run.path()}, csv)};
    REQUIRE(program.out.wait_for(row(run, 5) + ","));
    std::filesystem::remove_all(run.path());
    REQUIRE(program.err.wait_for("waiting for a run to start in " + run.path() + "\n"));
    run.start().step(1, false).end();
    CHECK(program.status() == cli::exit_finding);
}
