#include <program/ls.hpp>

#include "program/growing.hpp"
#include "program/live_output.hpp"

#include <program/console.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("ls --follow: the head of the run, then each step as soon as it is complete") {
    growing run{{"worker_0", "worker_1"}};
    running_program program{{"ls", run.path(), "--follow"}};
    REQUIRE(program.err.wait_for("note: waiting for a run to start in " + run.path() + "\n"));
    run.start();
    REQUIRE(program.out.wait_for("    step  mode     mode_step  workers  tensors\n--------"));
    CHECK(program.out.text().starts_with("run          run\npath         " + run.path() +
                                         "\nstate        running\nworkers      worker_0, worker_1\n"));
    run.step(0, false, "worker_0").step(0, false, "worker_1");
    REQUIRE(program.out.wait_for("       0  TRAIN            0   2 of 2        1\n"));
    run.step(10, false, "worker_0").step(10, false, "worker_1");
    REQUIRE(program.out.wait_for("      10  TRAIN           10   2 of 2        1\n"));
    run.step(4, false, "worker_1");   // late
    run.step(20, false, "worker_0");  // complete only by the end of the job
    run.end();
    CHECK(program.status() == cli::exit_ok);
    const texts lines = lines_of(program.out.text());
    REQUIRE(lines.size() > 4);
    CHECK(texts{lines.end() - 4, lines.end()} ==
          texts{"       0  TRAIN            0   2 of 2        1", "      10  TRAIN           10   2 of 2        1",
                "       4  TRAIN            4   1 of 2        1", "      20  TRAIN           20   1 of 2        1"});
    CHECK(program.err.text().ends_with("smdebug: note: the job of " + run.path() + " has ended after 4 steps\n"));
}

TEST_CASE("ls --follow: CSV and JSON") {
    growing run;
    run.start().step(3, false);
    running_program csv{{"ls", run.path(), "--follow", "--format", "csv"}};
    running_program json{{"ls", run.path(), "--follow", "--format", "json"}};
    REQUIRE(csv.out.wait_for(run.path() + ",3,TRAIN,3,1,1\n"));
    REQUIRE(json.out.wait_for("\"step\":3"));
    run.step(4, false);
    REQUIRE(csv.out.wait_for(run.path() + ",4,TRAIN,4,1,1\n"));
    REQUIRE(json.out.wait_for("\"step\":4"));
    run.end();
    CHECK(csv.status() == cli::exit_ok);
    CHECK(json.status() == cli::exit_ok);
    CHECK(csv.out.text() == "run,step,mode,mode_step,workers,tensors\n" + run.path() + ",3,TRAIN,3,1,1\n" + run.path() +
                                ",4,TRAIN,4,1,1\n");
    const auto object = [&](const std::string& step) {
        return "{\"run\":\"" + run.path() + "\",\"step\":" + step + ",\"mode\":\"TRAIN\",\"mode_step\":" + step +
               ",\"workers\":[\"worker_0\"],\"tensors\":1}\n";
    };
    CHECK(json.out.text() == object("3") + object("4"));
}

TEST_CASE("ls --follow: several runs, each with its head, and lines that name them") {
    running_program program{{"ls", golden("torch_mlp"), golden("scalars"), "--follow"}};
    CHECK(program.status() == cli::exit_ok);
    const std::string out = program.out.text();
    CHECK(contains(out, "run          torch_mlp\n"));
    CHECK(contains(out, "\n\nrun          "));
    CHECK(contains(out, "\n" + golden("scalars") + "  "));
    CHECK(contains(out, "         3  EVAL             0   1 of 1       15\n"));
    CHECK(lines_of(program.err.text()).size() == 2);
}

TEST_CASE("ls --follow: given up, and interrupted") {
    growing run;
    run.start().step(0, false);
    running_program given_up{{"ls", run.path(), "--follow", "--give-up-after", "1ms"}};
    CHECK(given_up.status() == cli::exit_error);
    CHECK(contains(given_up.err.text(), ": stalled: nothing new for "));
    CHECK(given_up.out.text().ends_with("       0  TRAIN            0   1 of 1        1\n"));

    running_program interrupted{{"ls", run.path(), "--follow"}};
    REQUIRE(interrupted.out.wait_for("1 of 1"));
    interrupted.stop.request_stop();
    CHECK(interrupted.status() == cli::exit_interrupted);
    CHECK(interrupted.err.text().empty());
}
