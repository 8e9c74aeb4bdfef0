#include <smdebug/exporting/safetensors.hpp>

#include "exporting/odd_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

namespace {

struct parts {
    std::string header;  // without the blanks at its end
    std::string elements;
};

parts parts_of(const std::string& path) {
    const std::string file = file_content(path);
    REQUIRE(file.size() >= 8);
    const auto length = static_cast<std::size_t>(load_le<std::uint64_t>(as_bytes(std::string_view{file}).data()));
    REQUIRE(length % 8 == 0);
    REQUIRE(file.size() >= 8 + length);
    std::string header = file.substr(8, length);
    header.resize(header.find_last_not_of(' ') + 1);
    return {header, file.substr(8 + length)};
}

}  // namespace

TEST_CASE("export_safetensors: a file a step: header, and the elements one behind the other") {
    const temporary_folder folder;
    const std::string out = folder.path() + "/out";
    noted_export noted;
    noted.options.run_name = "a \"run\"";
    const export_result result = export_safetensors(memory_trial{odd_run()}, out, noted.options);
    CHECK(result.tensors == 12);
    CHECK(result.refused == 2);
    CHECK(noted.told ==
          std::vector<std::string>{
              "z@0: the tensor \"z\" is of dtype complex64, which safetensors does not have: left out at step 0",
              "words@0: the tensor \"words\" is of dtype string, which safetensors does not have: left out at step 0"});
    const parts last = parts_of(out + "/step_000000003.safetensors");
    CHECK(
        last.header ==
        R"({"__metadata__":{"format":"pt","run":"a \"run\"","step":"3","mode":"EVAL","mode_step":"0","worker":"worker_0"},)"
        R"("plain":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"scalar":{"dtype":"F64","shape":[],"data_offsets":[24,32]}})");
    CHECK(last.elements.size() == 32);
    CHECK(load_le<float>(as_bytes(std::string_view{last.elements}).data() + 20) == -6);
    const parts first = parts_of(out + "/step_000000000.safetensors");
    CHECK(contains_text(first.header, R"("empty":{"dtype":"F32","shape":[0,4],"data_offsets":[32,32]})"));
    CHECK(contains_text(first.header, R"("q\"uo'te,\n\\x":{"dtype":"U8","shape":[2])"));
    CHECK(contains_text(first.header, R"("../evil":{"dtype":"I32")"));
    CHECK(contains_text(first.header, R"("brain":{"dtype":"BF16","shape":[2])"));
    CHECK(contains_text(first.header, R"("f8":{"dtype":"F8_E4M3","shape":[3])"));
    CHECK(contains_text(first.header, R"("flags":{"dtype":"BOOL","shape":[3])"));
    CHECK(first.elements.size() == 32 + 16 + 4 + 2 + 3 + 4 + 4 + 3);
}

TEST_CASE("export_safetensors: a header that is longer than was likely") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/x.safetensors";
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("deep", {3}, shape_type(200, 1)), tensor_of<float>("w", {4})}})
        .end();
    const export_result result = export_safetensors(memory_trial{store}, path);
    CHECK(result.tensors == 2);
    CHECK(result.bytes == fs::file_size(path));
    const parts all = parts_of(path);
    CHECK(all.header.ends_with(R"("data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"));
    CHECK(load_le<float>(as_bytes(std::string_view{all.elements}).data()) == 3);
    CHECK(load_le<float>(as_bytes(std::string_view{all.elements}).data() + 4) == 4);
}

TEST_CASE("export_safetensors: the format's own name, one file for several steps, and nothing at all") {
    const temporary_folder folder;
    noted_export noted;
    const memory_trial run{odd_run({tensor_of<float>("__metadata__", {1})})};
    CHECK(export_safetensors(run, folder.path() + "/out", noted.options).refused == 3);
    CHECK(contains_text(noted.told.back(), "has a name that safetensors keeps for itself"));
    CHECK_THROWS_AS(export_safetensors(run, folder.path() + "/x.safetensors"), value_error);
    CHECK_THROWS_WITH_AS(export_safetensors(run, folder.path() + "/y", {.which = {.names = {{"z", "words"}}}}),
                         doctest::Contains("no tensor that is selected could be exported"), value_error);
    CHECK_THROWS_WITH_AS(export_safetensors(run, folder.path() + "/y", {.which = {.names = {{"none"}}}}),
                         doctest::Contains("no tensor is selected"), value_error);
    CHECK_FALSE(fs::exists(folder.path() + "/y"));
}
