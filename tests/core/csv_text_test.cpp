#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

namespace {

std::string field(std::string_view text) {
    std::string out;
    smdebug::detail::append_csv_field(out, text);
    return out;
}

}  // namespace

TEST_CASE("append_csv_field: quotes where a reader would see something else") {
    CHECK(field("").empty());
    CHECK(field("plain text;'") == "plain text;'");
    CHECK(field("a,b") == "\"a,b\"");
    CHECK(field("say \"x\"") == "\"say \"\"x\"\"\"");
    CHECK(field("two\nlines") == "\"two\nlines\"");
    CHECK(field("\r") == "\"\r\"");
}
