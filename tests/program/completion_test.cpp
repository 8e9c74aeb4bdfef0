#include <program/completion.hpp>

#include "program/captured.hpp"
#include "program/shells.hpp"
#include "program/small_table.hpp"

#include "support/test.hpp"

using namespace smdebug_test;
using smdebug::cli::detail::complete;
using smdebug::cli::detail::completion_script;
using smdebug::cli::detail::value_kind;
using texts = std::vector<std::string>;

namespace {

/// What may stand in the place of the last word: words, or a kind in angle brackets.
texts offered(const texts& words) {
    const auto table = small_table();
    const auto all = complete(table, words);
    switch (all.kind) {
        case value_kind::path:
            return {"<path>"};
        case value_kind::folder:
            return {"<folder>"};
        case value_kind::program:
            return {"<program>"};
        case value_kind::none:
        case value_kind::text:
            return {};
        case value_kind::choice:
        case value_kind::choices:
            break;
    }
    texts found;
    for (const auto& [word, help] : all.words) {
        if (word.starts_with(words.back()) || !words.back().starts_with('-')) {
            found.push_back(word);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

const texts kinds{"one", "three", "two"};
const texts columns{"max", "mean", "min"};
const texts commands{"ask", "look"};

/// The program, and the script by which a shell completes its command line.
std::string set_up(std::string_view shell) {
    const std::string program = SMDEBUG_PROGRAM;
    return (shell == "fish" ? "set PATH " : "PATH=") + program.substr(0, program.rfind('/')) +
           (shell == "fish" ? " $PATH\n" : ":$PATH\nunset SMDEBUG_CONFIG\n") + completion_script("smdebug", shell);
}

/// What bash offers for the last of these words, sorted.
texts offered_by_bash(const texts& words) {
    std::string line = set_up("bash") + "set -u\nCOMP_WORDS=(smdebug ";
    for (const std::string& word : words) {
        line += "'" + word + "' ";
    }
    line += ")\nCOMP_CWORD=" + std::to_string(words.size()) +
            "\n_smdebug\nfor each in \"${COMPREPLY[@]}\"; do echo \"$each\"; done\n";
    const shell_answer answer = ran_by("bash --norc", line);
    CHECK_MESSAGE(answer.status == 0, answer.text);
    texts found = lines_of(answer.text);
    std::sort(found.begin(), found.end());
    return found;
}

/// What the line is when it was typed in a zsh with the completion: \t asks for it.
std::string typed_in_zsh(const std::string& line) {
    // The zsh within reads its first lines as they come; the line is typed when it says that it is ready.
    const std::string session = R"(
emulate -L zsh
zmodload zsh/zpty
zpty inner "TERM=dumb zsh -f -i"
zpty -w inner 'PS1=; autoload -Uz compinit; compinit -D -u; bindkey "^I" complete-word; setopt nobeep noautolist noautomenu'
zpty -w inner 'source {folder}/completion'
zpty -w inner 'function smdebug() { if [[ $1 == complete ]]; then command smdebug "$@"; else print -r -- "END:""$*:END"; exit; fi }; print REA""DY'
while zpty -r inner text; do [[ $text == *READY* ]] && break; done
zpty -w inner ')" + line + R"('
while zpty -r inner text; do print -rn -- $text; done
)";
    const std::string text =
        ran_by("zsh -f", "cat >{folder}/completion <<'END_OF_SCRIPT'\n" + set_up("zsh") + "END_OF_SCRIPT\n" + session)
            .text;
    CAPTURE(text);
    const std::size_t end = text.rfind(":END");
    REQUIRE(end != std::string::npos);
    const std::size_t first = text.rfind("END:", end - 1);
    REQUIRE(first != std::string::npos);
    return text.substr(first + 4, end - first - 4);
}

/// What fish offers at the end of the line, without descriptions, sorted.
texts offered_by_fish(const std::string& line) {
    const shell_answer answer = ran_by("fish --no-config", set_up("fish") + "\ncomplete -C '" + line + "'\n");
    CHECK_MESSAGE(answer.status == 0, answer.text);
    texts found = lines_of(answer.text);
    for (std::string& each : found) {
        each.resize(std::min(each.find('\t'), each.size()));
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST_CASE("completion: the candidates at each position") {
    struct typed {
        texts words;
        texts offers;
    };
    for (const typed& each : std::vector<typed>{{{""}, commands},
                                                {{"l"}, commands},
                                                {{"--v"}, {"--version"}},
                                                {{"look", "--o"}, {"--output"}},
                                                {{"look", "-"},
                                                 {"--cache", "--help", "--kind", "--number", "--output", "--quiet",
                                                  "--rule", "--run", "--some", "-h", "-o"}},
                                                {{"ask", "--k"}, {}},
                                                {{"nothing", "--k"}, {}},
                                                {{"nothing", ""}, {}},
                                                {{"look", "--kind", "t"}, kinds},
                                                {{"look", "--kind", "=", "t"}, kinds},
                                                {{"look", "--kind", "="}, kinds},
                                                {{"look", "--quiet", "--kind", "tw"}, kinds},
                                                {{"look", "--some", "m"}, columns},
                                                {{"look", "--some", "=", "max,min,me"}, columns},
                                                {{"look", "-o", "run"}, {"<path>"}},
                                                {{"look", "--cache", ""}, {"<folder>"}},
                                                {{"look", "--number", ""}, {}},
                                                {{"look", "--run", "tru"}, {"<program>"}},
                                                {{"look", ""}, {}},  // a name, of which nothing is known
                                                {{"look", "name", "oth"}, {"<path>"}},
                                                {{"look", "name", "x", "oth"}, {"<path>"}},
                                                {{"look", "--kind", "one", "oth"}, {}},
                                                {{"look", "--kind", "=", "one", "name", "oth"}, {"<path>"}},
                                                {{"look", "--quiet", "name", "oth"}, {"<path>"}},
                                                {{"look", "--", "--kind", "oth"}, {"<path>"}},
                                                {{"ask", ""}, commands},
                                                {{"ask", "look", ""}, {}},
                                                {{"-"}, {"--config", "--help", "--version", "-h"}},
                                                {{"--config", "oth"}, {"<path>"}},
                                                {{"--config", "=", "oth"}, {"<path>"}},
                                                {{"--config", "other", "l"}, commands},
                                                {{"--config", "other", "--v"}, {"--version"}},
                                                {{"--config", "=", "other", "look", "--kind", "t"}, kinds},
                                                {{"--config", "other", "look", "name", "oth"}, {"<path>"}},
                                                {{}, commands}}) {
        std::string line;
        for (const std::string& word : each.words) {
            line += word + "|";
        }
        CAPTURE(line);
        CHECK(offered(each.words.empty() ? texts{""} : each.words) == each.offers);
    }
    const auto table = small_table();
    CHECK(complete(table, {"look", "--kind=t"}).words.size() == 3);
    CHECK(complete(table, {"look", "--config=t"}).kind == value_kind::none);
    CHECK(completion_text(complete(table, {"ask", "l"})) == "words\nlook\t\nask\t\n");
    CHECK(completion_text(complete(table, {"l"})) ==
          "words\nlook\tit's a look: at [some] files\nask\tanother command\n");
    CHECK(completion_text(complete(table, {"look", "--some", ""})).starts_with("some\nmin\t\n"));
}

TEST_CASE("completion: each shell parses its script, which says how it was made and names no function but its own") {
    for (const std::string_view shell : smdebug::cli::detail::completed_shells) {
        const std::string script = completion_script("prog-x", shell);
        CHECK(contains(script, "printed by `prog-x completion " + std::string{shell} + "`"));
        CHECK_FALSE(contains(script, "@program"));
        CHECK_FALSE(contains(script, "@function"));
        if (is_there(std::string{shell})) {
            CHECK(ran_by(std::string{shell} + " -n", script).text.empty());
        }
    }
    const std::string script = completion_script("prog-x", "bash");
    CHECK(ran_by("bash --norc", script + "complete -p prog-x").text == "complete -F _prog_x prog-x\n");
    CHECK(ran_by("bash --norc", script + "declare -F | grep -v ' _prog_x'").text.empty());
}

TEST_CASE("completion: in bash") {
    CHECK(offered_by_bash({"pa"}) == texts{"pack"});
    CHECK(offered_by_bash({"ls", "--ver"}) == texts{"--verify"});
    CHECK(offered_by_bash({"ls", "--format", "t"}) == texts{"table"});
    CHECK(offered_by_bash({"ls", "--format", "=", "t"}) == texts{"table"});
    CHECK(offered_by_bash({"ls", "--format", "="}) == texts{"csv", "json", "table"});
    CHECK(offered_by_bash({"stats", "--reductions", "max,abs_mi"}) == texts{"max,abs_min"});
    CHECK(offered_by_bash({"pack", "-o", "run"}) == texts{"run b", "run-a", "runs"});
    CHECK(offered_by_bash({"ls", "--cache", ""}) == texts{"runs"});
    CHECK(offered_by_bash({"ls", "oth"}) == texts{"other"});
    CHECK(offered_by_bash({"check", "--rule", "dead"}) == texts{"dead_relu"});
    const texts programs = offered_by_bash({"check", "--on-finding", "tru"});
    CHECK(std::find(programs.begin(), programs.end(), "true") != programs.end());
    CHECK(offered_by_bash({"ls", "--steps", ""}).empty());
}

TEST_CASE("completion: in zsh, as it is typed") {
    if (!is_there("zsh")) {
        return;
    }
    CHECK(typed_in_zsh("smdebug pac\t") == "pack");
    CHECK(typed_in_zsh("smdebug ls --verif\t") == "ls --verify");
    CHECK(typed_in_zsh("smdebug ls --form\tta\t") == "ls --format table");
    CHECK(typed_in_zsh("smdebug ls --format=ta\t") == "ls --format=table");
    CHECK(typed_in_zsh("smdebug stats --reductions abs_me\t,abs_mi\t") == "stats --reductions abs_mean,abs_min");
    CHECK(typed_in_zsh("smdebug check --rule all\t --rule de\t") == "check --rule all_zero --rule dead_relu");
    CHECK(typed_in_zsh("smdebug ls oth\t") == "ls other");
}

TEST_CASE("completion: in fish") {
    if (!is_there("fish")) {
        return;
    }
    CHECK(offered_by_fish("smdebug pac") == texts{"pack"});
    CHECK(offered_by_fish("smdebug ls --verif") == texts{"--verify"});
    CHECK(offered_by_fish("smdebug ls --format t") == texts{"table"});
    CHECK(offered_by_fish("smdebug ls --format=t") == texts{"--format=table"});
    CHECK(offered_by_fish("smdebug stats --reductions max,abs_mi") == texts{"max,abs_min"});
    CHECK(offered_by_fish("smdebug stats --reductions=max,abs_mi") == texts{"--reductions=max,abs_min"});
    CHECK(offered_by_fish("smdebug pack -o oth") == texts{"other"});
    CHECK(offered_by_fish("smdebug ls --cache ru") == texts{"runs/"});
    CHECK(offered_by_fish("smdebug ls oth") == texts{"other"});
}
