#include <smdebug/cli/program.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

struct ran {
    int status = 0;
    std::string out;
    std::string err;
};

ran program(texts arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::run_program(std::move(arguments), out, err);
    return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("program: every command runs, and its exit status says what happened") {
    CHECK(program({"ls", golden("torch_mlp")}).status == 0);
    CHECK(program({"show", golden("torch_mlp"), "0_input_0"}).status == 0);
    CHECK(program({"stats", golden("torch_mlp")}).status == 0);
    CHECK(program({"check", golden("torch_mlp"), "--rule", "exploding_tensor"}).status == 0);
    CHECK(program({"check", golden("torch_mlp"), "--rule", "vanishing_gradient,threshold=1"}).status == 3);
    CHECK(program({"rules"}).status == 0);
    CHECK(program({"--version"}).out == "smdebug " + cli::version_text() + "\n");
    CHECK(program({"ls", "/nowhere"}).status == 1);
    CHECK(program({"stats", golden("damaged/truncated_event")}).status == 1);
}

TEST_CASE("program: wrong usage is status 2, words on the error stream, and nothing on the other") {
    for (const texts& wrong : {texts{}, texts{"nope"}, texts{"ls"}, texts{"check", golden("torch_mlp")},
                               texts{"stats", golden("torch_mlp"), "--reductions", "median"}}) {
        const ran got = program(wrong);
        CHECK(got.status == 2);
        CHECK(got.out.empty());
        CHECK(got.err.starts_with("smdebug: error: "));
    }
}

TEST_CASE("program: places that are no run are errors that say what was looked for") {
    const temporary_folder empty;
    const ran got =
        program({"ls", empty.path(), SMDEBUG_TEST_DATA "/golden/README.md", "s3://bucket/run", "run.tar.gz"});
    CHECK(got.status == 1);
    const texts errors = lines_of(got.err);
    REQUIRE(errors.size() == 4);
    CHECK(contains(errors[0], "there is no training run in " + empty.path()));
    CHECK(contains(errors[1], "there is no folder " SMDEBUG_TEST_DATA "/golden/README.md"));
    CHECK(contains(errors[2], "Unsupported"));
    CHECK(contains(errors[3], "Unsupported"));
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
