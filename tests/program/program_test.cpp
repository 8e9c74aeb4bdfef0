#include <program/program.hpp>

#include "program/captured.hpp"
#include "program/growing.hpp"

#include <program/interrupt.hpp>
#include <program/program_version.hpp>
#include <program/text.hpp>

#include "support/test.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("program: every command runs, and its exit status says what happened") {
    struct row {
        texts arguments;
        int status;
    };
    const std::string run = golden("torch_mlp");
    for (const row& each : std::vector<row>{{{"ls", run}, 0},
                                            {{"show", run, "0_input_0"}, 0},
                                            {{"stats", run}, 0},
                                            {{"check", run, "--rule", "exploding_tensor"}, 0},
                                            {{"check", run, "--rule", "vanishing_gradient,threshold=1"}, 3},
                                            {{"scan", run, "--rule", "vanishing_gradient,threshold=1"}, 3},
                                            {{"scan", "/nowhere"}, 1},
                                            {{"diff", run, run}, 0},
                                            {{"diff", run, golden("torch_ddp")}, 3},
                                            {{"diff", run, "/nowhere"}, 1},
                                            {{"diff", run}, 2},
                                            {{"rules"}, 0},
                                            {{"completion", "csh"}, 2},
                                            {{"manual", "-o", "/proc/none"}, 1},
                                            {{"ls", "/nowhere"}, 1},
                                            {{"stats", golden("damaged/truncated_event")}, 1}}) {
        CAPTURE(cli::detail::joined(each.arguments, " "));
        CHECK(run_to_end(each.arguments).status == each.status);
    }
    CHECK(run_to_end({"--version"}).out == "smdebug " + cli::detail::program_version());
    CHECK(run_to_end({"completion", "bash"}).out.starts_with("# Completion of smdebug for bash"));
    CHECK(run_to_end({"manual", "ls"}).out.starts_with(".\\\" Printed by `smdebug manual ls`"));
}

TEST_CASE("program: --untrusted reads small data, and refuses large") {
    const temporary_folder folder;
    write_sick_run(folder);
    CHECK(run_to_end({"stats", folder.path(), "--untrusted"}).out == run_to_end({"stats", folder.path()}).out);
    const std::string index = smdebug::detail::locations::index_key(1, "worker_0");
    folder.write(index, file_content(folder.path() + "/" + index) + std::string(std::size_t{5} << 20U, ' '));
    for (const std::string command : {"ls", "stats", "scan"}) {
        CAPTURE(command);
        CHECK(run_to_end({command, folder.path()}).status != 1);
        const ended got = run_to_end({command, folder.path(), "--untrusted"});
        CHECK(got.status == 1);
        CHECK(contains(got.out + got.err, "more than the 4194304 allowed"));
    }
}

TEST_CASE("program: a pattern that would take forever on a name is an error") {
    const temporary_folder folder;
    const std::string name = std::string(2000, 'a') + "!";
    local_storage store{folder.path()};
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>(name, {1})}}).end();
    for (const std::string command : {"ls", "stats"}) {
        const ended got = run_to_end({command, folder.path(), "--tensors", "(a+)+$"});
        CHECK(got.status == 1);
        CHECK(contains(got.err, "SMDebugValueError: the search for \"(a+)+$\" in a text of 2001 bytes was given up"));
    }
}

TEST_CASE("program: asks for what can end it when it is about to follow, and only then") {
    int asked = 0;
    std::stop_source stop;
    const cli::detail::stop_giver give = [&] {
        ++asked;
        return stop.get_token();
    };
    const auto status = [&](texts arguments) {
        std::ostringstream out;
        std::ostringstream err;
        return cli::run_program(std::move(arguments), out, err, {}, give);
    };
    CHECK(status({"ls", golden("torch_mlp")}) == 0);
    CHECK(status({"check", golden("torch_mlp"), "--rule", "exploding_tensor"}) == 0);
    CHECK(status({"ls", golden("torch_mlp"), "--follow", "--give-up-after", "never"}) == 2);
    CHECK(asked == 0);
    CHECK(status({"ls", golden("torch_mlp"), "--follow"}) == 0);
    CHECK(status({"check", golden("torch_mlp"), "--rule", "exploding_tensor", "--follow"}) == 0);
    CHECK(asked == 2);
    stop.request_stop();
    CHECK(status({"ls", golden("torch_mlp"), "--follow"}) == 130);
    CHECK(status({"check", golden("torch_mlp"), "--rule", "vanishing_gradient,threshold=1", "--follow"}) == 130);
    CHECK(run_to_end({"ls", golden("torch_mlp"), "--follow"}).status == 0);  // nothing can end it but the job
}

TEST_CASE("program: wrong usage is status 2, words on the error stream, and nothing on the other") {
    for (const texts& wrong : {texts{}, texts{"nope"}, texts{"ls"}, texts{"check", golden("torch_mlp")}, texts{"scan"},
                               texts{"stats", golden("torch_mlp"), "--reductions", "median"},
                               texts{"ls", golden("torch_mlp"), "--give-up-after", "1s"}}) {
        const ended got = run_to_end(wrong);
        CHECK(got.status == 2);
        CHECK(got.out.empty());
        CHECK(got.err.starts_with("smdebug: error: "));
    }
}

TEST_CASE("program: places that are no run are errors that say what was looked for") {
    const temporary_folder empty;
    const ended got =
        run_to_end({"ls", empty.path(), SMDEBUG_TEST_DATA "/golden/README.md", "s3:///run", "run.tar.gz"});
    CHECK(got.status == 1);
    const texts errors = lines_of(got.err);
    REQUIRE(errors.size() == 4);
    CHECK(contains(errors[0], "there is no training run in " + empty.path()));
    CHECK(contains(errors[1], SMDEBUG_TEST_DATA "/golden/README.md is a file, not the folder of a run"));
    CHECK(contains(errors[2], "\"s3:///run\" names no place in S3"));
    CHECK(contains(errors[3], "NotFound: there is no archive "));
    CHECK(contains(errors[3], "/run.tar.gz"));
}

#ifdef SMDEBUG_PROGRAM
namespace {

// Runs a shell command and gives its exit status and output.
std::pair<int, std::string> shell(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string out;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        out.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
}

// In quotes: the repository may lie in a path with a blank in it.
std::string quoted(const std::string& text) { return "'" + text + "'"; }

const std::string program_path = quoted(SMDEBUG_PROGRAM);

}  // namespace

TEST_CASE("program: a reader that goes away ends it quietly, with the signal or without") {
    const std::string stats = program_path + " stats " + quoted(golden("dtypes")) + " --format csv";
    const auto closed = shell("{ " + stats + "; } 2>&1 | head -n 1");
    CHECK(closed.second.starts_with("run,tensor,"));
    CHECK(lines_of(closed.second).size() == 1);
    const auto ignored = shell("(trap '' PIPE; { " + stats + " 2>&1 >&3 | cat; } 3>&1 | true)");
    CHECK(ignored.second.empty());
}

namespace {

// The program in a process of its own, its results in a pipe.
class process {
public:
    explicit process(texts arguments) {
        std::array<int, 2> ends{};
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        arguments.insert(arguments.begin(), SMDEBUG_PROGRAM);
        std::vector<char*> pointers;
        for (std::string& held : arguments) {
            pointers.push_back(held.data());
        }
        pointers.push_back(nullptr);
        id_ = ::fork();
        REQUIRE(id_ >= 0);
        if (id_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing follows a job after the test has ended
            std::signal(SIGINT, SIG_DFL);        // whatever the tests were started with
            std::signal(SIGTERM, SIG_DFL);
            ::dup2(ends[1], STDOUT_FILENO);
            ::execv(pointers[0], pointers.data());
            ::_exit(99);
        }
        ::close(ends[1]);
        results_ = ::fdopen(ends[0], "r");
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process() {
        std::fclose(results_);
        if (!collected_) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
        }
    }

    [[nodiscard]] std::string line() {
        std::string text;
        for (int c = std::fgetc(results_); c != EOF && c != '\n'; c = std::fgetc(results_)) {
            text += static_cast<char>(c);
        }
        return text;
    }
    void send(int signal) const { REQUIRE(::kill(id_, signal) == 0); }
    /// Its exit status, or minus the signal that ended it.
    [[nodiscard]] int status() {
        int how = 0;
        REQUIRE(::waitpid(id_, &how, 0) == id_);
        collected_ = true;
        return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
    }

private:
    ::pid_t id_ = 0;
    FILE* results_ = nullptr;
    bool collected_ = false;
};

}  // namespace

TEST_CASE("program: follows a job that is written meanwhile, and ends with it") {
    growing run;
    run.start().step(0, true);
    process started{{"check", run.path(), "--rule", "exploding_tensor", "--follow", "--format", "csv"}};
    CHECK(started.line().starts_with("run,rule,"));
    CHECK(started.line().starts_with(run.path() + ",exploding_tensor,0,"));
    run.step(1, false).step(2, true);
    CHECK(started.line().starts_with(run.path() + ",exploding_tensor,2,"));
    run.end();
    CHECK(started.line().empty());
    CHECK(started.status() == 3);
}

TEST_CASE("program: Ctrl-C ends following, with the summary of what was found so far") {
    growing run;
    run.start().step(0, true);
    process checking{{"check", run.path(), "--rule", "exploding_tensor", "--follow"}};
    CHECK(checking.line().starts_with("run "));
    CHECK(checking.line().starts_with("---"));
    CHECK(contains(checking.line(), "1 infinite of 2 values"));
    checking.send(SIGINT);
    CHECK(checking.line().empty());
    CHECK(checking.line().ends_with("findings  state"));
    CHECK(checking.line().starts_with("---"));
    CHECK(checking.line().ends_with("  1          1         1  interrupted"));
    CHECK(checking.status() == 3);

    process listing{{"ls", run.path(), "--follow", "--format", "csv"}};
    CHECK(listing.line() == "run,step,mode,mode_step,workers,tensors");
    CHECK(listing.line() == run.path() + ",0,TRAIN,0,1,1");
    listing.send(SIGTERM);
    CHECK(listing.status() == 130);
}

TEST_CASE("program: a full disk is an error") {
    const auto full = shell(program_path + " ls " + quoted(golden("torch_mlp")) + " 2>&1 >/dev/full");
    CHECK(full.first == 1);
    CHECK(contains(full.second, "smdebug: error: the results cannot be written: No space left on device"));
}

TEST_CASE("program: results go to the one stream, notes to the other, and no bar to a file") {
    const auto notes = shell(program_path + " stats " + quoted(golden("missing_event")) + " 2>&1 >/dev/null");
    CHECK(notes.first == 1);
    CHECK(lines_of(notes.second).size() == 2);
    CHECK(notes.second.find('\r') == std::string::npos);
}
#endif
