#include <program/zsh_completion.hpp>

#include "program/captured.hpp"
#include "program/shells.hpp"
#include "program/small_table.hpp"

#include <program/shell_words.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace smdebug_test;

namespace {

/// What the line is when it was typed in a zsh with the completion: \t asks for it.
std::string typed(const std::string& line) {
    // The zsh within reads its first lines as they come; the line is typed when it says that it is ready.
    const std::string session = R"(
emulate -L zsh
zmodload zsh/zpty
zpty inner "TERM=dumb zsh -f -i"
zpty -w inner 'PS1=; autoload -Uz compinit; compinit -D -u; bindkey "^I" complete-word; setopt nobeep noautolist noautomenu'
zpty -w inner 'source {folder}/completion; function prog-x() { print -r -- "END:""$*:END"; exit }; print REA""DY'
while zpty -r inner text; do [[ $text == *READY* ]] && break; done
zpty -w inner )" + smdebug::cli::detail::shell_word(line) +
                                R"(
while zpty -r inner text; do print -rn -- $text; done
)";
    const std::string text =
        ran_by("zsh -f", "cat >{folder}/completion <<'END_OF_SCRIPT'\n" +
                             smdebug::cli::detail::zsh_completion(small_table()) + "END_OF_SCRIPT\n" + session)
            .text;
    CAPTURE(text);
    const std::size_t end = text.rfind(":END");
    REQUIRE(end != std::string::npos);
    const std::size_t first = text.rfind("END:", end - 1);
    REQUIRE(first != std::string::npos);
    return text.substr(first + 4, end - first - 4);
}

}  // namespace

TEST_CASE("zsh_completion: the function is one that zsh parses") {
    if (is_there("zsh")) {
        CHECK(ran_by("zsh -f -n", smdebug::cli::detail::zsh_completion(small_table())).text.empty());
    }
}

TEST_CASE("zsh_completion: commands, options, values and arguments, as they are typed") {
    if (!is_there("zsh")) {
        return;
    }
    CHECK(typed("prog-x lo\t") == "look");
    CHECK(typed("prog-x look --qu\t") == "look --quiet");
    CHECK(typed("prog-x look --kin\ttw\t") == "look --kind=two");
    CHECK(typed("prog-x look --some me\t,mi\t") == "look --some mean,min");
    CHECK(typed("prog-x look --rule all\t --rule de\t") == "look --rule all_zero --rule dead_relu");
    CHECK(typed("prog-x look name oth\t") == "look name other");
    CHECK(typed("prog-x ask lo\t") == "ask look");
    CHECK(typed("prog-x --conf\toth\t lo\t --kin\ttw\t") == "--config=other look --kind=two");
}
