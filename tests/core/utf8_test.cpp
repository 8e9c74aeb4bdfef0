#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("utf8: the first character and its length, none if no valid character begins there") {
    static_assert(first_utf8_character("az").code == 'a' && first_utf8_character("az").length == 1);
    CHECK(first_utf8_character(std::string_view{"\0", 1}).length == 1);
    CHECK(first_utf8_character("\xC2\x9B").code == 0x9B);
    CHECK(first_utf8_character("\xE2\x82\xAC!").code == 0x20AC);
    CHECK(first_utf8_character("\xF4\x8F\xBF\xBF").code == 0x10FFFF);
    CHECK(first_utf8_character("\xF4\x8F\xBF\xBF").length == 4);
    for (const std::string_view bad :
         {"\x80", "\xC3", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
        CAPTURE(bad.size());
        CHECK(first_utf8_character(bad).length == 0);
        CHECK_FALSE(is_utf8("a" + std::string{bad}));
    }
    CHECK(is_utf8(""));
    static_assert(is_utf8("\xC3\xA4"));
}
