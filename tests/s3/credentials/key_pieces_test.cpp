#include <smdebug/s3/credentials.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

std::string without(std::string text, const std::vector<std::string_view>& secrets,
                    s3::detail::letter_case how = s3::detail::letter_case::any) {
    s3::detail::hide_pieces(text, secrets, how);
    return text;
}

}  // namespace

TEST_CASE("key_pieces: five characters in a row are a piece, wherever they are from; four are none") {
    const std::vector<std::string_view> secrets{"kQ3/xy7Zp+0Wm=", "AKIA5T9QX"};
    CHECK(without("kQ3/xy7Zp+0Wm=", secrets) == "...");
    CHECK(without("say kQ3/x and Zp+0Wm=.", secrets) == "say ... and ....");
    CHECK(without("say kQ3/ and 0Wm=.", secrets) == "say kQ3/ and 0Wm=.");
    CHECK(without("y7Zp+", secrets) == "...");
    CHECK(without("The key AKIA5T9QX is unknown; AKIA is how they begin, AKIA5 is one more", secrets) ==
          "The key ... is unknown; AKIA is how they begin, ... is one more");
    CHECK(without("kQ3/xAKIA5T9QXkQ3/x", secrets) == "...");
    CHECK(without("nothing of them", secrets) == "nothing of them");
    CHECK(without("", secrets).empty());
    CHECK(without("text", {}) == "text");
    // Secrets this short are handled elsewhere.
    CHECK(without("abcd efgh", {"", "abcd"}) == "abcd efgh");
}

TEST_CASE("key_pieces: the way in which it is written does not count") {
    const std::vector<std::string_view> secrets{"kQ3/xy7Zp+0Wm="};
    for (const std::string_view text :
         {"kq3/XY7zP+0wM=", "kQ3%2Fxy7Zp%2B0Wm%3D", "kQ3%2fxy7Zp%2b0Wm%3d", "kQ3%252Fxy7Zp%252B0Wm%253D",
          "%6BQ3%2F%78y7Zp%2B0Wm%3D", "kQ3&#47;xy7Zp&#x2B;0Wm&#x0000003D;", "kQ3&sol;xy7Zp&plus;0Wm&equals;",
          "kQ3&amp;#47;xy7Zp&amp;#43;0Wm=", "kQ3\\/xy7Zp+0Wm=", "kQ3\\u002Fxy7Zp\\u002b0Wm\\u003d",
          "kQ3\\x2fxy7Zp+0Wm=", "kQ3/xy\n7Zp+0\r\n Wm=", "kQ 3x y7 Zp 0W m=", "k-Q-3-/-x-y-7-Z-p-+-0-W-m-=",
          "kQ3\x01xy7\x02Zp0Wm="}) {
        CAPTURE(text);
        CHECK(without("<" + std::string{text} + ">", secrets).find_first_of("kKqQ370zZwW") == std::string::npos);
    }
    // Case is ignored only if requested.
    CHECK(without("KQ3/XY7ZP", secrets, s3::detail::letter_case::as_it_is) == "KQ3/XY7ZP");
    CHECK(without("kQ3/xy7Zp", secrets, s3::detail::letter_case::as_it_is) == "...");
}

TEST_CASE("key_pieces: what is no escape is what it says") {
    const std::vector<std::string_view> secrets{"ab%2Fcd&lt;ef\\/gh"};
    CHECK(without("x ab%2Fcd&lt;ef\\/gh y", secrets) == "x ... y");
    for (const char* text : {"100%", "%", "%2", "%zz", "&", "&;", "&#;", "&#x;", "&#999;", "&unknown;", "&amp", "\\",
                             "\\u00", "\\x", "\\n", "&#x00000000000002F;", "a & b; c"}) {
        CAPTURE(text);
        CHECK(without(text, secrets) == text);
    }
}
