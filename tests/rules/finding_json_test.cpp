#include <smdebug/rules/rule_result.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("finding_json: has the fields of a row of check, in its order") {
    CHECK(finding_json("out/run1", {.met = true,
                                    .tensor = "g",
                                    .worker = "worker_0",
                                    .rule = "vanishing_gradient",
                                    .step = 500,
                                    .mode_step = 400,
                                    .mode = mode::train,
                                    .value = 0.125,
                                    .threshold = 0.5,
                                    .message = "too small"}) ==
          R"({"run":"out/run1","rule":"vanishing_gradient","step":500,"mode":"TRAIN","mode_step":400,"tensor":"g",)"
          R"("worker":"worker_0","value":0.125,"threshold":0.5,"message":"too small"})");
}

TEST_CASE(
    "finding_json: what is not finite is a string, no threshold and no number of a rule that only says yes are null, "
    "and no mode step is the step") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    CHECK(finding_json("", {.step = 3}) ==
          R"({"run":"","rule":"","step":3,"mode":"GLOBAL","mode_step":3,"tensor":"","worker":"","value":null,)"
          R"("threshold":null,"message":""})");
    CHECK(finding_json("", {.tensor = "t"}).find(R"("value":"NaN")") != std::string::npos);
    const std::string text = finding_json("", {.value = -inf, .threshold = inf});
    CHECK(text.find(R"("value":"-Infinity","threshold":"Infinity")") != std::string::npos);
}

TEST_CASE("finding_json: is valid JSON whatever the names hold") {
    const std::string odd = "quote \" backslash \\ newline \n umlaut \xC3\xA4 no UTF-8 \xFF";
    const std::string text = finding_json(odd, {.tensor = odd, .worker = odd, .rule = odd, .message = odd});
    smdebug::detail::json::document parser;
    const auto root = parser.parse(as_bytes(text));
    REQUIRE(root);
    CHECK((*root)["message"]->string() == "quote \" backslash \\ newline \n umlaut \xC3\xA4 no UTF-8 \xEF\xBF\xBD");
    CHECK((*root)["tensor"]->string() == (*root)["run"]->string());
}
