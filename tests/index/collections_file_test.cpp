#include <smdebug/index/collections_file.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

std::optional<std::string> wrong_with(std::string_view text) {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file out;
    return parse_collections_file(as_bytes(text), parser, out);
}

}  // namespace

TEST_CASE("collections_file: reads everything that a collection holds") {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file out;
    const auto wrong = parse_collections_file(as_bytes(R"({"collections": {
        "norms": {"name": "norms", "include_regex": ["^a", "b$"], "tensor_names": ["z", "a", "z"],
                  "reduction_config": {"save_raw_tensor": false, "reductions": "l1_norm,abs_max", "save_shape": true},
                  "save_config": {"TRAIN": {"save_interval": 2, "save_steps": [1, 5], "start_step": 0, "end_step": null}},
                  "save_histogram": false},
        "bare": {"name": "bare", "include_regex": false, "reduction_config": null}},
        "_meta": {"num_workers": 3}})"),
                                              parser, out);
    REQUIRE_FALSE(wrong.has_value());
    CHECK(out.num_workers == 3);
    REQUIRE(out.collections.size() == 2);
    const collection& norms = out.collections.at("norms");
    CHECK(norms.include_regex == std::vector<std::string>{"^a", "b$"});
    CHECK(norms.tensor_names == std::vector<std::string>{"a", "z"});
    CHECK_FALSE(norms.save_histogram);
    REQUIRE(norms.reduction_config.has_value());
    CHECK(norms.reduction_config->reductions == std::vector<std::string>{"l1_norm", "abs_max"});
    CHECK(norms.reduction_config->save_shape);
    CHECK_FALSE(norms.reduction_config->save_raw_tensor);
    REQUIRE(norms.save_config.has_value());
    const save_config_mode& train = norms.save_config->at(mode::train);
    CHECK(train.save_interval == 2);
    CHECK(train.save_steps == std::vector<step_number>{1, 5});
    CHECK(train.start_step == std::optional<step_number>{0});
    CHECK_FALSE(train.end_step.has_value());
    const collection& bare = out.collections.at("bare");
    CHECK(bare.include_regex.empty());
    CHECK(bare.save_histogram);
    CHECK_FALSE(bare.reduction_config.has_value());
    CHECK_FALSE(bare.save_config.has_value());
}

TEST_CASE("collections_file: a collection is known by its own name, whatever key it stands under") {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file out;
    CHECK_FALSE(parse_collections_file(
                    as_bytes(R"({"collections": {"key": {"name": "own"}, "bare": {}}, "_meta": {}})"), parser, out)
                    .has_value());
    CHECK(out.collections.contains("own"));
    CHECK_FALSE(out.collections.contains("key"));
}

TEST_CASE("collections_file: an empty _meta means one worker") {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file out;
    CHECK_FALSE(parse_collections_file(as_bytes(R"({"collections": {}, "_meta": {}})"), parser, out).has_value());
    CHECK(out.num_workers == 1);
}

TEST_CASE("collections_file: says what is wrong, and where") {
    const auto group = [](std::string_view held) {
        return R"({"collections": {"g": )" + std::string{held} + R"(}, "_meta": {}})";
    };
    CHECK(wrong_with("") == "the file is empty");
    CHECK(wrong_with("{") == "the file is not JSON, or is cut off");
    CHECK(wrong_with("[]") == "the file holds no JSON object");
    CHECK(wrong_with(R"({"collections": {}})") == "the _meta section is missing");
    CHECK(wrong_with(R"({"_meta": {}})") == "the collections section is missing");
    CHECK(wrong_with(R"({"collections": {}, "_meta": {}, "more": 1})") == "unknown key \"more\"");
    CHECK(wrong_with(R"({"collections": {}, "_meta": {"num_workers": "3"}})").has_value());
    CHECK(wrong_with(R"({"collections": {}, "_meta": {"num_workers": 0}})").has_value());
    CHECK(wrong_with(R"({"collections": [], "_meta": {}})").has_value());
    for (const std::string_view held :
         {"3", R"({"name": 3})", R"({"tensor_names": "x"})", R"({"tensor_names": [3]})", R"({"include_regex": {}})",
          R"({"save_histogram": "yes"})", R"({"reduction_config": 3})",
          R"({"reduction_config": {"reductions": "median"}})", R"({"reduction_config": {"save_shape": 1}})",
          R"({"save_config": 3})", R"({"save_config": {"TRIAN": {}}})", R"({"save_config": {"TRAIN": 3}})",
          R"({"save_config": {"TRAIN": {"save_interval": "x"}}})", R"({"save_config": {"TRAIN": {"save_steps": 3}}})",
          R"({"save_config": {"TRAIN": {"start_step": "0"}}})"}) {
        CAPTURE(held);
        const auto wrong = wrong_with(group(held));
        REQUIRE(wrong.has_value());
        CHECK(wrong->starts_with("collection \"g\": "));
    }
}
