#include <program/program.hpp>

#include "program/growing.hpp"
#include "support/archive_builder.hpp"
#include "support/checkpoint_files.hpp"
#include "support/log_builder.hpp"

#include <program/console.hpp>
#include <program/interrupt.hpp>
#include <program/program_version.hpp>
#include <program/text.hpp>
#include <smdebug/archive.hpp>
#include <smdebug/formats.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::string_view_literals;
using texts = std::vector<std::string>;

namespace {

struct ran {
    int status = 0;
    std::string out;
    std::string err;
};

ran program(texts arguments, cli::detail::console_kind kind = {}) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::run_program(std::move(arguments), out, err, kind);
    return {status, out.str(), err.str()};
}

// Whether it cannot command a terminal.  "!" is behind what could, in nobody's names; lines of progress, which come where
// the machine is slow, begin with a bar or a number.
void check_harmless(const std::string& shown) {
    CAPTURE(printable(shown));
    CHECK(shown.find_first_of("\x1b\0"sv) == std::string::npos);
    for (std::size_t place = shown.find('\r'); place != std::string::npos; place = shown.find('\r', place + 1)) {
        CHECK((place + 1 == shown.size() || "[0123456789 \rs"sv.find(shown[place + 1]) != std::string::npos));
    }
    CHECK(shown.find("\xC2\x9B") == std::string::npos);
    CHECK(shown.find("\xE2\x80\xAE") == std::string::npos);
    CHECK(shown.find("\n!") == std::string::npos);
    CHECK(shown.find("\n\\r!") == std::string::npos);
}

std::string joined_arguments(const texts& arguments) { return cli::detail::joined(arguments, " "); }

}  // namespace

TEST_CASE("program: every command runs, and its exit status says what happened") {
    CHECK(program({"ls", golden("torch_mlp")}).status == 0);
    CHECK(program({"show", golden("torch_mlp"), "0_input_0"}).status == 0);
    CHECK(program({"stats", golden("torch_mlp")}).status == 0);
    CHECK(program({"check", golden("torch_mlp"), "--rule", "exploding_tensor"}).status == 0);
    CHECK(program({"check", golden("torch_mlp"), "--rule", "vanishing_gradient,threshold=1"}).status == 3);
    CHECK(program({"scan", golden("torch_mlp"), "--rule", "vanishing_gradient,threshold=1"}).status == 3);
    CHECK(program({"scan", "/nowhere"}).status == 1);
    CHECK(program({"diff", golden("torch_mlp"), golden("torch_mlp")}).status == 0);
    CHECK(program({"diff", golden("torch_mlp"), golden("torch_ddp")}).status == 3);
    CHECK(program({"diff", golden("torch_mlp"), "/nowhere"}).status == 1);
    CHECK(program({"diff", golden("torch_mlp")}).status == 2);
    CHECK(program({"rules"}).status == 0);
    CHECK(program({"--version"}).out == "smdebug " + cli::detail::program_version());
    CHECK(program({"completion", "bash"}).out.starts_with("# Completion of smdebug for bash"));
    CHECK(program({"completion", "csh"}).status == 2);
    CHECK(program({"manual", "ls"}).out.starts_with(".\\\" Printed by `smdebug manual ls`"));
    CHECK(program({"manual", "-o", "/proc/none"}).status == 1);
    CHECK(program({"ls", "/nowhere"}).status == 1);
    CHECK(program({"stats", golden("damaged/truncated_event")}).status == 1);
}

TEST_CASE("program: nobody's names command a terminal, in whatever command, format and message") {
    constexpr std::string_view hostile = "a\0\x1b[2J\xC2\x9B\xE2\x80\xAE\n\r!"sv;
    const std::string on_disk = "b\x1b[2J\xC2\x9B\xE2\x80\xAE\n\r!";  // names of files have no byte 0
    const std::string tensor{hostile};
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const temporary_folder folder;
    const std::string run = folder.path() + "/" + on_disk;
    local_storage store{run};
    run_builder{store}
        .collections({on_disk}, {{"gradients", {tensor}}, {tensor, {tensor}}})
        .step({.step = 0, .tensors = {tensor_of<float>(tensor, {nan, 2})}, .worker = on_disk})
        .step({.step = 1, .tensors = {tensor_of<float>(tensor, {1, 2})}, .worker = on_disk})
        .end();
    const std::string changed = folder.path() + "/" + on_disk + "changed";
    local_storage changed_store{changed};
    run_builder{changed_store}
        .collections({on_disk}, {{tensor, {}}})
        .step({.step = 0, .tensors = {tensor_of<float>(tensor, {1, 2})}, .worker = on_disk})
        .step({.step = 1, .tensors = {tensor_of<float>(tensor + "x", {1, 2})}, .worker = on_disk})
        .end();
    const auto write_rule = [&](const std::string& file, const std::string& label, const std::string& parameters) {
        folder.write(file,
                     R"([{"RuleConfigurationName": "l)" + label + R"(", "RuleParameters": {)" + parameters + "}}]");
    };
    const std::string escaped = R"(\u0000\u001b\u009b\u202e\n\r!)";
    write_rule("rules.json", escaped, R"("rule_to_invoke": "ExplodingTensor")");
    write_rule("unknown.json", escaped, R"("rule_to_invoke": "r)" + escaped + "\"");
    write_rule("parameter.json", "", R"("rule_to_invoke": "ExplodingTensor", "p)" + escaped + R"(": "1")");
    write_rule("value.json", escaped, R"("rule_to_invoke": "ExplodingTensor", "only_nan": ")" + escaped + "\"");
    write_rule("actions.json", escaped,
               R"("rule_to_invoke": "ExplodingTensor", "action_json": "[{\"name\": \"sms\", \"endpoint\": \")" +
                   std::string{R"(\\u001b\\u202e\\n!)"} + R"(\"}]")");
    folder.write(on_disk + ".json", "{");
    folder.write("damaged/" + on_disk + "/index/000000000/000000000000_w.json", "{");
    folder.write("damaged/" + on_disk + "/END_OF_JOB.ts", "");
    folder.write("damaged/" + on_disk + "/collections/000000000/w_collections.json",
                 R"({"collections": {}, "_meta": {"num_workers": 1}})");
    // The same in an archive, twice, and with members that are damaged; in logs, checkpoints, and where no index is.
    std::map<std::string, std::string> members;
    for (const std::string& key : store.list("", "")) {
        const std::string bytes{as_text(store.read(key).view())};
        members["one" + on_disk + "/" + key] = bytes;
        members["two" + on_disk + "/" + key] = bytes;
    }
    members["one" + on_disk + "/index/000000000/000000000002_" + on_disk + ".json"] = "{";
    const std::string archive = folder.path() + "/" + on_disk + ".tar";
    const std::string tar = tar_of(members);
    folder.write(on_disk + ".tar", tar);
    folder.write(on_disk + "cut.tar", tar.substr(0, tar.size() - 3000));
    folder.write(on_disk + ".zip", zip_of(members));
    std::string wrong = zip_of(members, 0);
    wrong[wrong.find("tensor_payload")] = 'T';
    folder.write(on_disk + "wrong.zip", wrong);
    const std::string logs = folder.path() + "/logs" + on_disk;
    std::string record = log_record(5, {scalar_value(hostile, 2)});
    record.back() = static_cast<char>(record.back() ^ 1);
    folder.write("logs" + on_disk + "/" + on_disk + "/events.out.tfevents.1." + on_disk,
                 log_head() + log_record(4, {scalar_value(hostile, 2), text_value(on_disk, on_disk)}) + record);
    const std::string checkpoints = folder.path() + "/checkpoints" + on_disk;
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_5.safetensors",
                 safetensors_of("{\"w" + escaped + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4));
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_6.safetensors",
                 safetensors_of("{\"w" + escaped + R"(":{"dtype":"F)" + escaped + R"(","shape":[1]}})", 4));
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_7.npy", npy_of("{'descr': '" + on_disk + "'}", 4));
    const std::string bare = folder.path() + "/bare" + on_disk;
    for (const std::string& key : store.list("events/", "")) {
        folder.write("bare" + on_disk + "/" + key, std::string{as_text(store.read(key).view())} + "x");
    }
    folder.write("bare" + on_disk + "/END_OF_JOB.ts", "");
    const std::vector<texts> all{
        {"ls", archive},
        {"ls", archive, "--untrusted"},
        {"ls", archive + "!/nowhere" + on_disk},
        {"ls", folder.path() + "/" + on_disk + "cut.tar"},
        {"ls", folder.path() + "/" + on_disk + "cut.tar", "--skip-damaged"},
        {"ls", folder.path() + "/" + on_disk + ".zip"},
        {"ls", folder.path() + "/" + on_disk + "wrong.zip"},
        {"show", archive, tensor},
        {"show", archive + "!/two" + on_disk, tensor, "--untrusted"},
        {"stats", archive},
        {"stats", archive, "--skip-damaged"},
        {"stats", folder.path() + "/" + on_disk + "wrong.zip"},
        {"scan", archive},
        {"scan", archive, "--untrusted"},
        {"scan", folder.path() + "/" + on_disk + "cut.tar"},
        {"scan", folder.path()},
        {"check", archive, "--rule", "exploding_tensor", "--untrusted"},
        {"diff", archive, run},
        {"ls", logs},
        {"stats", logs, "--untrusted"},
        {"stats", logs, "--runs-from-folders"},
        {"show", logs, on_disk},
        {"show", logs, tensor},
        {"scan", logs},
        {"check", logs, "--rule", "exploding_tensor"},
        {"ls", checkpoints},
        {"stats", checkpoints},
        {"stats", checkpoints, "--step-regex", on_disk + "("},
        {"scan", checkpoints},
        {"ls", bare},
        {"stats", bare},
        {"ls", run, "--verify"},
        {"ls", folder.path() + "/damaged/" + on_disk, "--verify"},
        {"ls", changed, "--verify"},
        {"ls", run},
        {"ls", run, "--follow"},
        {"ls", run, run + "/nowhere"},
        {"ls", folder.path() + "/damaged/" + on_disk},
        {"ls", folder.path() + "/damaged/" + on_disk, "--skip-damaged"},
        {"show", run, tensor},
        {"show", run, tensor, "--step", "7"},
        {"show", run, tensor, "--worker", on_disk},
        {"show", run, tensor, "--worker", on_disk + "x"},
        {"show", run, "a!"},
        {"stats", run},
        {"stats", run, "--tensors", on_disk + "["},
        {"stats", run, "--collection", on_disk},
        {"diff", run, run},
        {"diff", run, golden("torch_mlp")},
        {"diff", run, golden("torch_mlp"), "--all"},
        {"diff", run, changed},
        {"diff", changed, run, "--all"},
        {"diff", run, changed, "--worker", on_disk + "x"},
        {"diff", run, run + "/nowhere"},
        {"check", run, "--rule", "exploding_tensor"},
        {"check", run, "--rule", "exploding_tensor", "--follow"},
        {"check", run, "--rule", "exploding_tensor", "--on-finding", folder.path() + "/none" + on_disk},
        {"check", run, "--rule", "exploding_tensor", "--status-file", "/dev/null/" + on_disk},
        {"check", run, "--rule", on_disk},
        {"check", run, "--rule", "exploding_tensor," + on_disk},
        {"check", run, "--rules-json", folder.path() + "/rules.json"},
        {"check", run, "--rules-json", folder.path() + "/rules.json", "--follow"},
        {"check", run, "--rules-json", folder.path() + "/actions.json"},
        {"check", run, "--rules-json", folder.path() + "/unknown.json"},
        {"check", run, "--rules-json", folder.path() + "/parameter.json"},
        {"check", run, "--rules-json", folder.path() + "/value.json"},
        {"check", run, "--rules-json", folder.path() + "/" + on_disk + ".json"},
        {"check", run, "--rules-json", folder.path() + "/" + on_disk},
        {"scan", run},
        {"scan", run, "--list", folder.path() + "/" + on_disk},
        {"ls", run, "--" + on_disk},
        {on_disk},
        {"ls", run, "--mode", on_disk},
    };
    for (const texts& command : all) {
        for (const std::string format : {"table", "csv", "json"}) {
            texts arguments = command;
            if (arguments.size() > 1) {
                arguments.insert(arguments.end(), {"--format", format});
            }
            const ran got = program(arguments, {.out_is_terminal = true, .err_is_terminal = true});
            CAPTURE(format);
            CAPTURE(printable(joined_arguments(command)));
            check_harmless(got.out);
            check_harmless(got.err);
        }
    }
    // Commands that have no --format.
    const std::string out = folder.path() + "/out" + on_disk;
    for (const texts& command : std::vector<texts>{
             {"report", run, "-o", out + ".html"},
             {"report", run, changed, "-o", out + ".html", "--untrusted"},
             {"report", archive, "-o", out + ".html"},
             {"report", logs, checkpoints, "-o", out + ".html"},
             {"report", run, "-o", out + "/nowhere/x.html"},
             {"export", run, "--to", "npz", "-o", out + "npz"},
             {"export", run, "--to", "npz", "-o", out + "npz"},
             {"export", checkpoints, "--to", "tensorboard", "-o", out + "tb"},
             {"export", archive, "--to", "csv", "-o", out + ".csv"},
             {"pack", run, changed, "-o", out + ".tar.gz"},
             {"pack", run, run, "-o", out + "2.tar.gz"},
             {"pack", folder.path() + "/damaged/" + on_disk, logs, "-o", out + "3.tar.gz"},
             {"index", archive},
             {"index", run},
             {"repair", bare},
             {"repair", run, "--dry-run"},
             {"repair", folder.path() + "/damaged/" + on_disk},
             {"scan", run, archive, "-o", out + "1.db"},
             {"scan", run, "-o", out + "2.db"},
             {"merge", out + "1.db", out + "2.db", "-o", out + ".db"},
             {"merge", out, "-o", out + "4.db"},
         }) {
        const ran got = program(command, {.out_is_terminal = true, .err_is_terminal = true});
        CAPTURE(printable(joined_arguments(command)));
        check_harmless(got.out);
        check_harmless(got.err);
    }
    // What goes to a file as CSV has the names.
    CHECK(program({"stats", run, "--format", "csv"}).out.find(tensor) != std::string::npos);
    CHECK(program({"show", run, tensor, "--format", "csv"}).out.find(tensor) != std::string::npos);
    // Nothing is cut at a byte 0.
    const ran unknown = program({"check", run, "--rules-json", folder.path() + "/unknown.json"});
    CHECK(unknown.status == 2);
    CHECK(contains(unknown.err, "there is no rule \"r\\x00\\x1b\\u009b\\u202e\\n\\r!\". There are: "));
}

TEST_CASE("program: --untrusted reads what is small, and refuses what is not") {
    const temporary_folder folder;
    write_sick_run(folder);
    CHECK(program({"stats", folder.path(), "--untrusted"}).out == program({"stats", folder.path()}).out);
    const std::string index = smdebug::detail::locations::index_key(1, "worker_0");
    folder.write(index, file_content(folder.path() + "/" + index) + std::string(std::size_t{5} << 20U, ' '));
    for (const std::string command : {"ls", "stats", "scan"}) {
        CAPTURE(command);
        CHECK(program({command, folder.path()}).status != 1);
        const ran got = program({command, folder.path(), "--untrusted"});
        CHECK(got.status == 1);
        CHECK(contains(got.out + got.err, "more than the 4194304 allowed"));
    }
}

TEST_CASE("program: a pattern that would take for ever on a name is an error") {
    const temporary_folder folder;
    const std::string name = std::string(2000, 'a') + "!";
    local_storage store{folder.path()};
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>(name, {1})}}).end();
    for (const std::string command : {"ls", "stats"}) {
        const ran got = program({command, folder.path(), "--tensors", "(a+)+$"});
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
    CHECK(program({"ls", golden("torch_mlp"), "--follow"}).status == 0);  // nothing can end it but the job
}

TEST_CASE("program: wrong usage is status 2, words on the error stream, and nothing on the other") {
    for (const texts& wrong : {texts{}, texts{"nope"}, texts{"ls"}, texts{"check", golden("torch_mlp")}, texts{"scan"},
                               texts{"stats", golden("torch_mlp"), "--reductions", "median"},
                               texts{"ls", golden("torch_mlp"), "--give-up-after", "1s"}}) {
        const ran got = program(wrong);
        CHECK(got.status == 2);
        CHECK(got.out.empty());
        CHECK(got.err.starts_with("smdebug: error: "));
    }
}

TEST_CASE("program: places that are no run are errors that say what was looked for") {
    const temporary_folder empty;
    const ran got = program({"ls", empty.path(), SMDEBUG_TEST_DATA "/golden/README.md", "s3:///run", "run.tar.gz"});
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
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody follows a job when the test is gone
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
