#include <program/bash_completion.hpp>

#include "program/captured.hpp"
#include "program/shells.hpp"
#include "program/small_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

const std::string& script() {
    static const std::string text = smdebug::cli::detail::bash_completion(small_table());
    return text;
}

/// What bash offers for the last of these words, sorted.
texts offered(const texts& words) {
    std::string line = script() + "set -u\nCOMP_WORDS=(";
    for (const std::string& word : words) {
        line += "'" + word + "' ";
    }
    line += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
            "\ncomplete -p prog-x >/dev/null || exit 9\n_prog_x\nfor each in \"${COMPREPLY[@]}\"; do echo \"$each\"; "
            "done\n";
    const shell_answer answer = ran_by("bash --norc", line);
    CHECK_MESSAGE(answer.status == 0, answer.text);
    texts found = lines_of(answer.text);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST_CASE("bash_completion: the script is one that bash parses, and it names no function but its own") {
    CHECK(ran_by("bash -n", script()).text.empty());
    CHECK(ran_by("bash --norc", script() + "complete -p prog-x").text == "complete -F _prog_x prog-x\n");
    const shell_answer functions = ran_by("bash --norc", script() + "declare -F | grep -v ' _prog_x'");
    CHECK(functions.text.empty());
}

TEST_CASE("bash_completion: commands and options") {
    CHECK(offered({"prog-x", ""}) == texts{"ask", "look"});
    CHECK(offered({"prog-x", "l"}) == texts{"look"});
    CHECK(offered({"prog-x", "--v"}) == texts{"--version"});
    CHECK(offered({"prog-x", "look", "--o"}) == texts{"--output"});
    CHECK(offered({"prog-x", "look", "-"}) == texts{"--cache", "--help", "--kind", "--number", "--output", "--quiet",
                                                    "--rule", "--run", "--some", "-h", "-o"});
    CHECK(offered({"prog-x", "ask", "--k"}).empty());
    CHECK(offered({"prog-x", "nothing", "--k"}).empty());
}

TEST_CASE("bash_completion: values, written behind a blank or an equals sign") {
    CHECK(offered({"prog-x", "look", "--kind", "t"}) == texts{"three", "two"});
    CHECK(offered({"prog-x", "look", "--kind", "=", "t"}) == texts{"three", "two"});
    CHECK(offered({"prog-x", "look", "--kind", "="}) == texts{"one", "three", "two"});
    CHECK(offered({"prog-x", "look", "--quiet", "--kind", "tw"}) == texts{"two"});
    CHECK(offered({"prog-x", "look", "--some", "m"}) == texts{"max", "mean", "min"});
    CHECK(offered({"prog-x", "look", "--some", "max,mi"}) == texts{"max,min"});
    CHECK(offered({"prog-x", "look", "--some", "=", "max,min,me"}) == texts{"max,min,mean"});
    CHECK(offered({"prog-x", "look", "-o", "run"}) == texts{"run b", "run-a", "runs"});
    CHECK(offered({"prog-x", "look", "--cache", ""}) == texts{"runs"});
    CHECK(offered({"prog-x", "look", "--number", ""}).empty());
    const texts programs = offered({"prog-x", "look", "--run", "tru"});
    CHECK(std::find(programs.begin(), programs.end(), "true") != programs.end());
}

TEST_CASE("bash_completion: arguments are counted without options and their values") {
    CHECK(offered({"prog-x", "look", ""}).empty());  // a name, of which nothing is known
    CHECK(offered({"prog-x", "look", "name", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "look", "name", "x", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "look", "--kind", "one", "oth"}).empty());
    CHECK(offered({"prog-x", "look", "--kind", "=", "one", "name", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "look", "--quiet", "name", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "look", "--", "--kind", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "ask", ""}) == texts{"ask", "look"});
    CHECK(offered({"prog-x", "ask", "look", ""}).empty());
}

TEST_CASE("bash_completion: options of the program, in front of the command") {
    CHECK(offered({"prog-x", "-"}) == texts{"--config", "--help", "--version", "-h"});
    CHECK(offered({"prog-x", "--config", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "--config", "=", "oth"}) == texts{"other"});
    CHECK(offered({"prog-x", "--config", "other", "l"}) == texts{"look"});
    CHECK(offered({"prog-x", "--config", "other", "--v"}) == texts{"--version"});
    CHECK(offered({"prog-x", "--config", "=", "other", "look", "--kind", "t"}) == texts{"three", "two"});
    CHECK(offered({"prog-x", "--config", "other", "look", "name", "oth"}) == texts{"other"});
}
