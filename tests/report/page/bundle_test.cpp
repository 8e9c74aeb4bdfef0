#include <smdebug/report/page/bundle.hpp>

#include "support/test.hpp"

using namespace smdebug::report::detail;

namespace {

std::string joined(std::span<const std::string_view> pieces) {
    std::string text;
    for (const std::string_view piece : pieces) {
        text += piece;
    }
    return text;
}

}  // namespace

// tests/check_bundle.sh checks that it is made from report/src.
TEST_CASE("bundle: nothing in it ends the element that it stands in, or asks for anything") {
    const std::string script = joined(page_script());
    const std::string style = joined(page_style());
    CHECK(script.size() > 50'000);
    CHECK(style.size() > 5'000);
    CHECK(script.find("</script") == std::string::npos);
    CHECK(script.find("<!--") == std::string::npos);
    CHECK(style.find("</style") == std::string::npos);
    CHECK(style.find("url(") == std::string::npos);
    CHECK(style.find("@import") == std::string::npos);
    for (const std::string_view call :
         {"fetch(", "XMLHttpRequest", "WebSocket", "importScripts", "eval(", "innerHTML"}) {
        CHECK_MESSAGE(script.find(call) == std::string::npos, call);
    }
    CHECK(script.starts_with("/* uPlot "));
    CHECK(script.find("MIT") != std::string::npos);
    CHECK(page_body().find("id=\"page\"") != std::string_view::npos);
    CHECK(page_script_hash().starts_with("sha256-"));
    CHECK(page_style_hash().starts_with("sha256-"));
    CHECK(page_script_hash() != page_style_hash());
    CHECK(page_source_hash().size() == 64);
}
