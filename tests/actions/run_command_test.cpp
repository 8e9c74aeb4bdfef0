#include <smdebug/actions/run_command.hpp>

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

using namespace smdebug;
using namespace smdebug::actions;
using namespace smdebug_test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

/// A small program in the shell's language; the library itself never starts a shell.
words script(const std::string& text, const words& arguments = {}) {
    words all{"sh", "-c", text, "sh"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

const finding example{.met = true,
                      .tensor = "a b;$(c)",
                      .worker = "worker_0",
                      .rule = "exploding_tensor",
                      .step = 7,
                      .mode_step = 5,
                      .mode = mode::eval,
                      .value = 1e-7,
                      .message = "it says {rule}"};

bool is_gone(const std::string& pid_file) {
    const std::string pid = file_content(pid_file);
    REQUIRE_FALSE(pid.empty());
    for (int i = 0; i < 500; ++i) {  // another process reaps an orphan, which may take a while
        // A zombie counts as gone: on some systems no process reaps orphans.
        const std::string stat = file_content("/proc/" + std::to_string(std::stol(pid)) + "/stat");
        if (stat.empty() || stat.find(") Z") != std::string::npos) {
            return true;
        }
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

}  // namespace

TEST_CASE("run_command: gives the exit status, and says what went wrong") {
    const command_result good = run_command({"true"});
    CHECK(good);
    CHECK(good.how == command_end::exited);
    CHECK(good.status == 0);
    CHECK(good.failure.empty());
    const command_result bad = run_command(script("exit 3"));
    CHECK_FALSE(bad);
    CHECK(bad.how == command_end::exited);
    CHECK(bad.status == 3);
    CHECK(bad.failure == "sh ended with status 3.");
    const command_result killed = run_command(script("kill -9 $$"));
    CHECK(killed.how == command_end::killed);
    CHECK(killed.status == SIGKILL);
    CHECK(killed.failure == "sh was ended by signal 9.");
}

TEST_CASE("run_command: a program that is not there is a result; no program at all is an error") {
    const command_result result = run_command({"/no/such/program"});
    CHECK(result.how == command_end::not_started);
    CHECK(result.status == ENOENT);
    CHECK(result.failure == "Cannot start /no/such/program: No such file or directory.");
    CHECK(run_command({"/"}).how == command_end::not_started);
    CHECK_THROWS_AS(static_cast<void>(run_command({})), value_error);
    CHECK_THROWS_AS(static_cast<void>(run_command({""})), value_error);
    CHECK_THROWS_AS(finding_command{}(example), value_error);
}

TEST_CASE("run_command: no shell looks at the arguments") {
    const temporary_folder folder;
    const std::string file = folder.path() + "/out";
    CHECK(
        run_command(script("out=$1; shift; printf '%s|' \"$@\" > \"$out\"", {file, "$(echo x)", "a b", "", "*", "'"})));
    CHECK(file_content(file) == "$(echo x)|a b||*|'|");
    CHECK_FALSE(run_command({"echo hello"}));
}

TEST_CASE("run_command: a program that takes too long is ended, with all that it has started") {
    const temporary_folder folder;
    const std::string pid = folder.path() + "/pid";
    SUBCASE("by SIGTERM") {
        const command_result result =
            run_command(script("sleep 300 & echo $! > \"$1\"; wait", {pid}), {.time_limit = 300ms, .grace = 60s});
        CHECK(result.how == command_end::timed_out);
        CHECK(result.failure == "sh did not end within 300 ms.");
    }
    SUBCASE("by SIGKILL, where it does not listen") {
        const command_result result =
            run_command(script("trap '' TERM; sleep 300 & echo $! > \"$1\"; while :; do sleep 1; done", {pid}),
                        {.time_limit = 300ms, .grace = 100ms});
        CHECK(result.how == command_end::timed_out);
    }
    CHECK(is_gone(pid));
}

TEST_CASE("run_command: a stop token ends it") {
    std::stop_source source;
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    }};
    const command_result result = run_command({"sleep", "300"}, {.time_limit = 300s, .stop = source.get_token()});
    CHECK(result.how == command_end::stopped);
    CHECK(result.failure == "sleep was stopped.");
}

TEST_CASE("run_command: limits without end are none, and one of nothing ends the program at once") {
    CHECK(run_command({"true"}, {.time_limit = std::chrono::milliseconds::max()}));
    CHECK(run_command({"sleep", "300"}, {.time_limit = 0ms}).how == command_end::timed_out);
    CHECK(run_command({"sleep", "300"}, {.time_limit = -5ms}).how == command_end::timed_out);
}

TEST_CASE("run_command: the program reads nothing, and inherits no other file and no signal that is blocked") {
    CHECK(run_command(script("read line && exit 1; exit 0")));
    // Even a file without O_CLOEXEC is closed, if the system supports that.
    const int open_file = ::open("/dev/null", O_RDONLY);
    REQUIRE(open_file >= 0);
    CHECK(run_command(script("test ! -e /proc/self/fd/$1", {std::to_string(open_file)})));
    ::close(open_file);
    CHECK(status_of_child([] {
              ::sigset_t blocked;
              ::sigfillset(&blocked);
              ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
              std::signal(SIGPIPE, SIG_IGN);
              return run_command(script("kill -PIPE $$; exit 0")).how == command_end::killed ? 0 : 1;
          }) == 0);
}

TEST_CASE("run_command: its output goes to our standard error, or to the chosen place") {
    const temporary_folder folder;
    const auto printed = [&](command_output output) {
        const std::string out = folder.path() + "/out";
        const std::string errors = folder.path() + "/errors";
        CHECK(status_of_child([&] {
                  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
                  ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), STDERR_FILENO);
                  return run_command(script("echo out; echo error >&2"), {.output = output}) ? 0 : 1;
              }) == 0);
        return file_content(out) + "|" + file_content(errors);
    };
    CHECK(printed(command_output::to_errors) == "|out\nerror\n");
    CHECK(printed(command_output::inherited) == "out\n|error\n");
    CHECK(printed(command_output::discarded) == "|");
}

TEST_CASE("run_command: where the system has no means it is a result") {
    CHECK(status_of_child([] {
              // The system reaps children itself: the exit status of this one is lost.
              std::signal(SIGCHLD, SIG_IGN);
              return run_command({"true"}).how == command_end::lost ? 0 : 1;
          }) == 0);
}

TEST_CASE("fill_in: placeholders are replaced inside a text, once") {
    CHECK(fill_in("{run}/{rule}@{step} {mode}:{mode_step} {tensor} {worker} {value}<{threshold} {message}", "out",
                  example) == "out/exploding_tensor@7 EVAL:5 a b;$(c) worker_0 1e-07<nan it says {rule}");
    CHECK(fill_in("{}{unknown}{{step}} {step", "", example) == "{}{unknown}{7} {step");
    CHECK(fill_in("", "", example).empty());
    CHECK(fill_in("x{tensor}y", "", {.tensor = std::string{"a\0b", 3}}) == "xaby");
    CHECK(fill_in("{mode_step}", "", {.step = 3}) == "3");
    CHECK(fill_in("<{value}>", "", {.step = 3}) == "<>");  // a rule that only says yes has no value
}

TEST_CASE("finding_command: fills in the arguments, but not the program, and reports the result") {
    const temporary_folder folder;
    const std::string file = folder.path() + "/out";
    words told;
    const finding_command act{
        .arguments = script("printf '%s' \"$2\" > \"$1\"; exit 4", {file, "{rule} at {step}: {tensor} in {run}"}),
        .run = "out/run",
        .on_result = [&](const command_result& result) { told.push_back(result.failure); }};
    CHECK_FALSE(act(example));
    CHECK(file_content(file) == "exploding_tensor at 7: a b;$(c) in out/run");
    CHECK_FALSE(act("my rule", example));
    CHECK(file_content(file) == "my rule at 7: a b;$(c) in out/run");
    CHECK(told == words{"sh ended with status 4.", "sh ended with status 4."});
    const command_result result = finding_command{.arguments = {"{tensor}"}}(finding{.tensor = "true"});
    CHECK(result.failure == "Cannot start {tensor}: No such file or directory.");
}
