#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("printable: names as people write them are not changed") {
    for (const std::string_view plain : {"", "dense/kernel:0", "gr\xC3\xBC\xC3\x9F", "\xE6\xB7\xB1\xE5\xBA\xA6",
                                         "\xF0\x9F\x98\x80", "\xE2\x80\x8C\xE2\x80\x8D", "back\\slash \"quoted\""}) {
        CHECK(printable(plain) == plain);
    }
}

TEST_CASE("printable: text cannot control a terminal, break or reverse a line, or hide") {
    using std::string_view_literals::operator""sv;
    CHECK(printable("a\nb\tc\r\x1b[31m\x7f") == "a\\nb\\tc\\r\\x1b[31m\\x7f");
    CHECK(printable("a\0b"sv) == "a\\x00b");
    CHECK(printable("\xC2\x80\xC2\x9B"
                    "31m\xC2\x9F\xC2\xA0") == "\\u0080\\u009b31m\\u009f\xC2\xA0");
    CHECK(printable("\xE2\x80\xAE"
                    "fdp\xE2\x80\xAC \xE2\x81\xA6\xE2\x81\xA9 \xD8\x9C\xE2\x80\x8E\xE2\x80\x8F") ==
          "\\u202efdp\\u202c \\u2066\\u2069 \\u061c\\u200e\\u200f");
    CHECK(printable("\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\xE2\x80\x8B") == "\\u2028\\u2029\\ufeff\\u200b");
    CHECK(printable("\xF3\xA0\x81\x81") == "\\U000e0041");
}

TEST_CASE("cut_text: a text is cut between characters") {
    using smdebug::detail::cut_text;
    static_assert(cut_text("abc", 3) == "abc");
    static_assert(cut_text("abc", 2) == "ab");
    static_assert(cut_text("abc", 0).empty());
    static_assert(cut_text("a\xC3\xA4", 2) == "a");
    static_assert(cut_text("a\xC3\xA4z", 3) == "a\xC3\xA4");
    static_assert(cut_text("\xF0\x9F\x98\x80", 3).empty());
    static_assert(cut_text("\x80\x80\x80\x80\x80\x80", 5).size() == 5);
}

TEST_CASE("trimmed: blanks at the ends are removed, others are not") {
    using smdebug::detail::trimmed;
    static_assert(trimmed(" \t\r\n\v\f a b \n") == "a b" && trimmed("a") == "a");
    static_assert(trimmed("").empty() && trimmed(" \n ").empty());
    static_assert(trimmed("\n-a-\n", "-") == "\n-a-\n" && trimmed("--a ", "-") == "a ");
}

TEST_CASE("in_small_letters: A to Z alone are changed, bytes beyond ASCII stay") {
    CHECK(smdebug::detail::in_small_letters("AbZ_9\xC3\x84@[`{") == "abz_9\xC3\x84@[`{");
}

TEST_CASE("printable: bytes that are not UTF-8 are escaped one by one") {
    CHECK(printable("a\xFFz") == "a\\xffz");
    CHECK(printable("\x9B"
                    "31m") == "\\x9b31m");
    CHECK(printable("\xED\xA0\x80\xC3") == "\\xed\\xa0\\x80\\xc3");
}

TEST_CASE("printable: printable text is unchanged, so that it may be applied twice") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) {
        all += static_cast<char>(byte);
    }
    const std::string once = printable(all);
    CHECK(printable(once) == once);
    CHECK(is_utf8(once));
    static_assert(is_printable(' ') && is_printable('~') && is_printable(0xE4) && !is_printable(0x85));
}
