#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collections_file.hpp>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;

namespace {

smdebug::detail::collections_file file_of(const std::string& run) {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file file;
    const std::string text = smdebug_test::file_content(std::string{SMDEBUG_TEST_DATA "/golden/"} + run +
                                                        "/collections/000000000/worker_0_collections.json");
    REQUIRE_FALSE(parse_collections_file(as_bytes(text), parser, file).has_value());
    return file;
}

}  // namespace

TEST_CASE("known_collections: the built-in ones and their regexes are those of the Python package") {
    const smdebug::detail::collections_file file = file_of("torch_ddp");
    std::size_t built_in = 0;
    for (const auto& known : detail::known_collections::list) {
        if (known.built_in) {
            CAPTURE(known.name);
            ++built_in;
            const auto there = file.collections.find(known.name);
            REQUIRE(there != file.collections.end());
            CHECK(detail::known_collections::regexes_of(known.name) == there->second.include_regex);
            CHECK(detail::known_collections::holds_scalars(known.name) == !there->second.save_histogram);
        }
    }
    CHECK(built_in == file.collections.size());
}

TEST_CASE("known_collections: XGBoost's are known by name") {
    for (const auto& [name, group] : file_of("xgboost_like").collections) {
        if (name != "all" && name != "default") {
            CAPTURE(name);
            CHECK(detail::known_collections::regexes_of(name) == group.include_regex);
        }
    }
    CHECK(detail::known_collections::regexes_of("my_own").empty());
    CHECK(detail::known_collections::regexes_of("all").empty());
}

TEST_CASE("known_collections: those that the package makes by itself, in any framework, are known") {
    for (const char* const name : {"all", "weights", "trees", "inputs", "layers", "tensorflow_summaries"}) {
        CHECK(detail::known_collections::is_known(name));
    }
    CHECK_FALSE(detail::known_collections::is_known("mine"));
    CHECK_FALSE(detail::known_collections::is_known(""));
}

TEST_CASE("known_collections: some hold single numbers, some are of training alone") {
    CHECK(detail::known_collections::holds_scalars("metrics"));
    CHECK_FALSE(detail::known_collections::holds_scalars("weights"));
    CHECK(detail::known_collections::is_of_training("gradients"));
    CHECK(detail::known_collections::is_of_training("optimizer_variables"));
    CHECK_FALSE(detail::known_collections::is_of_training("weights"));
}
