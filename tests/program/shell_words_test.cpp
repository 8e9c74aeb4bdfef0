#include <program/shell_words.hpp>

#include "program/shells.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace smdebug::cli::detail;
using namespace smdebug_test;

TEST_CASE("shell_words: a word means its text to the shell, whatever is in it") {
    const std::string hostile = R"(it's $(id) `id` "x" \n \' \\ !1 * ; | & # {a,b} ~)";
    for (const char* const shell : {"bash", "zsh"}) {
        if (is_there(shell)) {
            CHECK(ran_by(shell, "printf '%s' " + shell_word(hostile)).text == hostile);
            CHECK(ran_by(shell, "printf '%s' " + shell_word("")).text.empty());
        }
    }
    if (is_there("fish")) {
        CHECK(ran_by("fish --no-config", "printf '%s' " + fish_word(hostile)).text == hostile);
    }
}

TEST_CASE("shell_words: pieces of texts") {
    CHECK(with_escapes("a:b[c]", ":[]", "\\") == "a\\:b\\[c\\]");
    CHECK(short_help("the first; default: 3") == "the first");
    CHECK(short_help("one.  Two; three") == "one");
    CHECK(short_help("only e.g. this") == "only e.g. this");
    CHECK(joined_words({"a", "b"}) == "a b");
    CHECK(joined_words({}).empty());
    CHECK(function_name("prog-x.y") == "prog_x_y");
    CHECK(filled_in("_@function@ @program@ @program@", "a-b") == "_a_b a-b a-b");
}
