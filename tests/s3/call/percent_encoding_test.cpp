#include <smdebug/s3/call/endpoint.hpp>

#include "support/test.hpp"

#include <cctype>

using namespace smdebug;

namespace {

constexpr std::string_view as_they_are = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

/// "%XX", computed independently of the tested code.
std::string escape(int byte, const char* format = "%%%02X") {
    char text[4] = {};
    std::snprintf(text, sizeof text, format, static_cast<unsigned>(byte));
    return text;
}

}  // namespace

TEST_CASE(
    "percent_encoded: of all bytes the unreserved ones stay, a slash where it is kept, the rest is %XX in capitals") {
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const std::string text(1, static_cast<char>(byte));
        const bool stays = as_they_are.find(text) != std::string_view::npos;
        CHECK(s3::detail::is_unreserved(text[0]) == stays);
        CHECK(s3::detail::percent_encoded(text, false) == (stays ? text : escape(byte)));
        CHECK(s3::detail::percent_encoded(text, true) == (stays || text == "/" ? text : escape(byte)));
    }
    CHECK(s3::detail::percent_encoded("", false).empty());
    CHECK(s3::detail::percent_encoded("a b/c+d\xC3\xA4", true) == "a%20b/c%2Bd%C3%A4");
    CHECK(s3::detail::percent_encoded("a=b", false) == "a%3Db");
}

TEST_CASE("percent_decoded: of all bytes, in capitals or not, what was encoded") {
    std::string everything;
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const std::string text(1, static_cast<char>(byte));
        CHECK(s3::detail::percent_decoded(escape(byte)) == text);
        CHECK(s3::detail::percent_decoded(escape(byte, "%%%02x")) == text);
        CHECK(s3::detail::percent_decoded(text) == (text == "%" ? std::nullopt : std::optional{text}));
        everything += text;
    }
    CHECK(s3::detail::percent_decoded(s3::detail::percent_encoded(everything, false)) == everything);
    CHECK(s3::detail::percent_decoded(s3::detail::percent_encoded(everything, true)) == everything);
    CHECK(s3::detail::percent_decoded("") == "");
    CHECK(s3::detail::percent_decoded("a+b%2Bc%2fd%25 41") == "a+b+c/d% 41");
    CHECK(s3::detail::percent_decoded("%2541") == "%41");  // decoded once only
}

TEST_CASE("percent_decoded: an escape that is cut or is none is refused, wherever it stands") {
    for (const std::string_view bad :
         {"%", "%4", "%G1", "%1G", "%%41", "%-1", "%+1", "% 1", "%0x", "%u0041", "\xC3%"}) {
        CAPTURE(bad);
        CHECK_FALSE(s3::detail::percent_decoded(bad).has_value());
        CHECK_FALSE(s3::detail::percent_decoded("a%20" + std::string{bad}).has_value());
    }
    // Two digits from all byte values.
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const char c = static_cast<char>(byte);
        const bool digit = std::isxdigit(static_cast<unsigned char>(c)) != 0;
        CHECK(s3::detail::percent_decoded(std::string{"%4"} + c).has_value() == digit);
        CHECK(s3::detail::percent_decoded(std::string{"%"} + c + "4").has_value() == digit);
    }
}
