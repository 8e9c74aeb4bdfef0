#include <smdebug/core/json_document.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

std::string checked(std::string_view text) {
    constexpr std::array<std::string_view, 2> known{"meta", "tensor_payload"};
    smdebug::detail::json::document parser;
    return renamed_keys(*parser.parse(as_bytes(text)), known).value_or("");
}

}  // namespace

TEST_CASE("renamed_keys: an unknown key counts where a known one is missing, else it is somebody's addition") {
    CHECK(checked(R"({"meta": 1, "tensor_payload": 2})").empty());
    CHECK(checked(R"({"meta": 1, "tensor_payload": 2, "more": 3})").empty());
    CHECK(checked(R"({"meta": 1})").empty());
    CHECK(checked("[]").empty());
    CHECK(checked(R"({"meta": 1, "tensor_qayload": 2})") ==
          R"(unknown key "tensor_qayload" where "tensor_payload" is missing)");
    CHECK(checked(R"({"a": 1, "b": 2})") == R"(unknown key "a", "b" where "meta", "tensor_payload" is missing)");
}

TEST_CASE("repeated_keys: names a key that stands twice") {
    smdebug::detail::json::document parser;
    CHECK_FALSE(repeated_keys(*parser.parse(as_bytes(R"({"a": 1, "b": 2})"))).has_value());
    CHECK_FALSE(repeated_keys(*parser.parse(as_bytes("3"))).has_value());
    CHECK(repeated_keys(*parser.parse(as_bytes(R"({"a": 1, "b": 2, "a": 3})"))) == "the key \"a\" stands twice");
}
