#include <program/manual.hpp>

#include "program/captured.hpp"
#include "program/shells.hpp"
#include "program/small_table.hpp"

#include "support/test.hpp"

using namespace smdebug::cli::detail;
using namespace smdebug_test;

namespace {

/// A page as groff shows it, and what it says about the page, which should be nothing.
std::string shown(const manual_page& page) {
    const temporary_folder folder;
    folder.write(page.file, page.text);
    const shell_answer warned = answer_of("groff -man -ww -z -Tascii " + folder.path() + "/" + page.file);
    CHECK_MESSAGE(warned.text.empty(), page.file << ": " << warned.text);
    return answer_of("groff -man -Tascii -P-cbou -rLL=78n " + folder.path() + "/" + page.file).text;
}

/// A text as one line, with one blank between words.
std::string flat(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return squeezed(text);
}

}  // namespace

TEST_CASE("manual: each character of a text stands for itself") {
    CHECK(roff("a-b \\n `x` 'y' ^~ \"z\"") == "a\\-b \\en \\(gax\\(ga \\(aqy\\(aq \\(ha\\(ti \\(dqz\\(dq");
    CHECK(roff_line(".SH x") == "\\&.SH x\n");
    CHECK(roff_line("'br") == "\\&\\(aqbr\n");
    CHECK(roff_line("a.b") == "a.b\n");
    CHECK(sentence("npz or csv") == "npz or csv.");
    CHECK(sentence("whole.") == "whole.");
    CHECK(sentence("").empty());
}

TEST_CASE("manual: a command's page has all its sections, and groff accepts it") {
    const command_table table = small_table();
    const manual_page page = page_of(table, "look");
    CHECK(page.file == "prog-x-look.1");
    std::size_t last = 0;
    for (const char* const section :
         {".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH ARGUMENTS\n", ".SH OPTIONS\n",
          ".SH \"EXIT STATUS\"\n", ".SH ENVIRONMENT\n", ".SH EXAMPLES\n", ".SH \"SEE ALSO\"\n"}) {
        CAPTURE(section);
        const std::size_t place = page.text.find(section);
        REQUIRE(place != std::string::npos);
        CHECK(place > last);
        last = place;
    }
    CHECK(contains(page.text, "\nprog\\-x\\-look \\- it\\(aqs a look"));
    if (!is_there("groff")) {
        return;
    }
    const std::string text = shown(page);
    for (const char* const line :
         {"prog-x look [OPTION]... -o FILE NAME [RUN...]", ".dots begin lines 'quotes too \\back \\n slashes",
          "npz one word, and its row, goes on csv another row", "-o, --output FILE", "--kind K", "a \"rule\".",
          "2      wrong usage.", "prog-x look a-b 'c\\d' \\", "    --kind=one `pwd` ^~", "prog-x(1)", "prog-x 1.2.3"}) {
        CHECK_MESSAGE(contains(flat(text), flat(line)), line << " in\n" << text);
    }
}

TEST_CASE("manual: the program's page lists its commands and the environment") {
    const command_table table = small_table();
    const manual_page page = page_of(table, "");
    CHECK(page.file == "prog-x.1");
    CHECK(contains(page.text, ".TH \"PROG\\-X\" 1 \"\" \"prog\\-x 1.2.3\" \"prog\\-x\"\n"));
    CHECK(contains(page.text, "\nprog\\-x \\- looks at things\n"));
    CHECK(contains(page.text, "SMDEBUG_CACHE_DIR"));
    if (!is_there("groff")) {
        return;
    }
    const std::string text = flat(shown(page));
    CHECK(contains(text, " look it's a look: at [some] files. "));
    CHECK(contains(text, " prog-x-look(1), prog-x-ask(1) "));
    for (const manual_page& each : all_manual_pages(table)) {
        CHECK_FALSE(shown(each).empty());
    }
}

TEST_CASE("manual: pages are printed, or written into a folder") {
    const command_table table = small_table();
    captured to;
    CHECK(print_manual({.pages = {page_of(table, "ask")}}, to.to) == 0);
    CHECK(to.out.str() == page_of(table, "ask").text);
    const temporary_folder folder;
    CHECK(print_manual({.pages = all_manual_pages(table), .folder = folder.path() + "/new/man1"}, to.to) == 0);
    CHECK(answer_of("ls " + folder.path() + "/new/man1").text == "prog-x-ask.1\nprog-x-look.1\nprog-x.1\n");
    CHECK_THROWS(static_cast<void>(print_manual({.pages = all_manual_pages(table), .folder = "/proc/none"}, to.to)));
}
