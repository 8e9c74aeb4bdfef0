#include <smdebug/core/json_text.hpp>
#include <smdebug/index/collections_file.hpp>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;

namespace {

smdebug::detail::collections_file parsed(std::string_view text) {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file out;
    const auto wrong = parse_collections_file(as_bytes(text), parser, out);
    INFO(wrong.value_or(""));
    REQUIRE_FALSE(wrong.has_value());
    return out;
}

// JSON with the fields of objects in the order of their names: equal texts for equal JSON.
std::string ordered(smdebug::detail::json::value held) {
    std::string text;
    if (held.is_object()) {
        std::map<std::string, std::string> fields;
        held.for_each_field([&](std::string_view name, smdebug::detail::json::value field) {
            fields[std::string{name}] = ordered(field);
            return true;
        });
        for (const auto& [name, field] : fields) {
            text += (text.empty() ? "{" : ",") + name + ":" + field;
        }
        return text.empty() ? "{}" : text + "}";
    }
    if (held.is_array()) {
        held.for_each_element([&](smdebug::detail::json::value item) {
            text += (text.empty() ? "[" : ",") + ordered(item);
            return true;
        });
        return text.empty() ? "[]" : text + "]";
    }
    if (const auto string = held.string()) {
        append_json_ascii(text, *string);
        return text;
    }
    if (const auto truth = held.boolean()) {
        return *truth ? "true" : "false";
    }
    return held.is_null() ? "null" : std::to_string(held.integer().value());
}

std::string ordered(std::string_view text) {
    smdebug::detail::json::document parser;
    const auto root = parser.parse(as_bytes(text));
    REQUIRE(root.has_value());
    return ordered(*root);
}

}  // namespace

TEST_CASE("collections_writer: writes every field as the Python package does") {
    smdebug::detail::collections_file file{.collections = {}, .num_workers = 3};
    file.collections["bare"] = {.name = "bare"};
    file.collections["full"] = {
        .name = "full",
        .include_regex = {"^a\\d", "\xC3\xA4"},
        .tensor_names = {"x", "y"},
        .save_config = {{{mode::eval, {.save_interval = 2, .save_steps = {1, 5}, .start_step = {}, .end_step = 9}},
                         {mode::train, {.start_step = 4}}}},
        .reduction_config = {{.reductions = {"min", "abs_max"}, .save_shape = true}},
        .save_histogram = false};
    CHECK(collections_text(file) ==
          R"({"collections": {"bare": {"name": "bare", "include_regex": [], "tensor_names": [], )"
          R"("reduction_config": null, "save_config": null, "save_histogram": true}, )"
          R"("full": {"name": "full", "include_regex": ["^a\\d", "\u00e4"], "tensor_names": ["x", "y"], )"
          R"("reduction_config": {"save_raw_tensor": false, "reductions": "min,abs_max", "save_shape": true}, )"
          R"("save_config": {"TRAIN": {"save_interval": 500, "save_steps": [], "start_step": 4, "end_step": null}, )"
          R"("EVAL": {"save_interval": 2, "save_steps": [1, 5], "start_step": 0, "end_step": 9}}, )"
          R"("save_histogram": false}}, "_meta": {"num_workers": 3}})");
    CHECK(collections_text({}) == R"({"collections": {}, "_meta": {"num_workers": 1}})");
}

TEST_CASE("collections_writer: four lists of reductions become one, in the package's order") {
    const reduction_config config{
        .reductions = {"max", "abs_min"}, .abs_reductions = {"mean"}, .norms = {"l2"}, .abs_norms = {"l1", "l2"}};
    CHECK(file_names(config) ==
          std::vector<std::string>{"max", "abs_min", "l2_norm", "abs_mean", "abs_l1_norm", "abs_l2_norm"});
}

TEST_CASE("collections_writer: every intact collections file of the golden runs comes out again") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{SMDEBUG_TEST_DATA "/golden"}) {
        const std::string path = entry.path().string();
        if (!path.ends_with("collections.json") || path.find("bad_collections_json") != std::string::npos ||
            path.find("collections_extra_key") != std::string::npos) {
            continue;
        }
        CAPTURE(path);
        const std::string text = smdebug_test::file_content(entry.path());
        const smdebug::detail::collections_file file = parsed(text);
        const std::string written = collections_text(file);
        CHECK(parsed(written) == file);
        if (path.find("collections_minimal") == std::string::npos) {  // there, keys that the package writes are missing
            CHECK(ordered(written) == ordered(text));
        }
        ++files;
    }
    CHECK(files > 50);
}
