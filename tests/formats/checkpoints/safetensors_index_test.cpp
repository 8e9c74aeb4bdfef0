#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include <smdebug/core/error.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

safetensors_index index_of(std::string_view text) {
    return parse_safetensors_index("a/model.safetensors.index.json", as_bytes(text));
}

std::string refusal_of(std::string_view text) {
    return what_of<corrupt_data>([&] { return index_of(text); });
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("parse_safetensors_index: tensors by name, files each once") {
    const safetensors_index all = index_of(
        R"({"metadata":{"total_size":3},"weight_map":{"c":"2.safetensors","a":"1.safetensors","b":"2.safetensors"}})");
    REQUIRE(all.file_of.size() == 3);
    CHECK(all.file_of[0].first == "a");
    CHECK(all.file_of[2].second == "2.safetensors");
    CHECK(all.files() == std::vector<std::string>{"1.safetensors", "2.safetensors"});
    CHECK(index_of(recorded("sharded/model.safetensors.index.json")).files().size() == 2);
}

TEST_CASE("parse_safetensors_index: files outside of its folder are refused") {
    for (const std::string name : {"../x.safetensors", "/etc/x.safetensors", "a/../../x", "", "a\\u0000b"}) {
        CAPTURE(name);
        CHECK(says(refusal_of("{\"weight_map\":{\"t\":\"" + name + "\"}}"), "does not lie below the index's folder"));
    }
    CHECK(index_of(R"({"weight_map":{"t":"parts/x.safetensors"}})").files().size() == 1);
}

TEST_CASE("parse_safetensors_index: every truncation, and what has another form, is refused") {
    const std::string file = recorded("sharded/model.safetensors.index.json");
    for (std::size_t length = 0; length < file.size(); ++length) {
        CHECK(says(refusal_of(file.substr(0, length)), "a/model.safetensors.index.json"));
    }
    for (const std::string text : {"[]", "{}", "1", R"({"weight_map":[]})", R"({"weight_map":"a"})"}) {
        CHECK(says(refusal_of(text), "weight_map"));
    }
    CHECK(says(refusal_of(R"({"weight_map":{"t":1}})"), "tensor t is not a text"));
    CHECK(says(refusal_of(R"({"weight_map":{"t":"a","t":"b"}})"), "tensor t stands twice"));
    CHECK(says(refusal_of(std::string(100'000, '[')), "weight_map"));
    CHECK(says(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "git lfs pull"));
}

TEST_CASE("parse_safetensors_index: 200 MB of JSON are refused unparsed") {
    const std::string large(200'000'000, ' ');
    CHECK(says(refusal_of(large), "200000000 bytes; at most 100000000 are read"));
}
