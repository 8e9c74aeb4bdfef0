#include <program/fish_completion.hpp>

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

/// What fish offers at the end of the line, without descriptions, sorted.
texts offered(const std::string& line) {
    const shell_answer answer = ran_by(
        "fish --no-config", smdebug::cli::detail::fish_completion(small_table()) + "\ncomplete -C '" + line + "'\n");
    CHECK_MESSAGE(answer.status == 0, answer.text);
    texts found = lines_of(answer.text);
    for (std::string& each : found) {
        each.resize(std::min(each.find('\t'), each.size()));
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST_CASE("fish_completion: the script is one that fish parses") {
    if (is_there("fish")) {
        CHECK(ran_by("fish --no-config -n", smdebug::cli::detail::fish_completion(small_table())).text.empty());
    }
}

TEST_CASE("fish_completion: commands, options, values and arguments") {
    if (!is_there("fish")) {
        return;
    }
    CHECK(offered("prog-x ") == texts{"ask", "look"});
    CHECK(offered("prog-x --ver") == texts{"--version"});
    CHECK(offered("prog-x look --o") == texts{"--output"});
    CHECK(offered("prog-x ask --o").empty());
    CHECK(offered("prog-x look --kind t") == texts{"three", "two"});
    CHECK(offered("prog-x look --kind=t") == texts{"--kind=three", "--kind=two"});
    CHECK(offered("prog-x look --some max,mi") == texts{"max,min"});
    CHECK(offered("prog-x look --some=max,mi") == texts{"--some=max,min"});
    CHECK(offered("prog-x look -o oth") == texts{"other"});
    CHECK(offered("prog-x look --cache ru") == texts{"runs/"});
    CHECK(offered("prog-x look name oth") == texts{"other"});
    CHECK(offered("prog-x ask ") == texts{"ask", "look"});
    CHECK(offered("prog-x ask look --he") == texts{"--help"});
}

TEST_CASE("fish_completion: options of the program, in front of the command") {
    if (!is_there("fish")) {
        return;
    }
    CHECK(offered("prog-x --config oth") == texts{"other"});
    CHECK(offered("prog-x --config=oth") == texts{"--config=other"});
    CHECK(offered("prog-x --config other l") == texts{"look"});
    CHECK(offered("prog-x --config=other l") == texts{"look"});
    CHECK(offered("prog-x --config other --ver") == texts{"--version"});
    CHECK(offered("prog-x --config other look --kind t") == texts{"three", "two"});
}
