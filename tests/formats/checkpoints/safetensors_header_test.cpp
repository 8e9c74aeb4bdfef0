#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include <smdebug/core/error.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

stored_tensors header_of(std::string_view file) {
    text_reader reader{file};
    return read_safetensors_header("a/x.safetensors", file.size(), reader);
}

/// The error for a file with that header and so many bytes after it.
std::string refusal_of(std::string_view header, std::size_t data_bytes = 0) {
    const std::string file = safetensors_of(header, data_bytes);
    return what_of<corrupt_data>([&] { return header_of(file); });
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// ",1", repeated so many times.
std::string ones(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += ",1";
    }
    return text;
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

}  // namespace

static_assert(dtype_in_safetensors("F8_E4M3") == dtype::float8_e4m3fn &&
              dtype_in_safetensors("F8_E8M0") == dtype::invalid);

TEST_CASE("read_safetensors_header: finds what an independent reader finds, of every dtype") {
    for (const std::string name : {"every_dtype.safetensors", "trainer/checkpoint-500/model.safetensors"}) {
        const std::string file = recorded(name);
        const stored_tensors all = header_of(file);
        const auto expected = expected_in(name);
        REQUIRE(all.tensors.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CAPTURE(expected[i].is.name);
            CHECK(same(all.tensors[i], expected[i].is));
            const byte_range where = all.tensors[i].where;
            CHECK(hexadecimal(as_bytes(std::string_view{file}.substr(where.offset, where.length))) ==
                  expected[i].content);
        }
        CHECK(all.not_read.empty());
        CHECK(all.metadata == std::vector<std::pair<std::string, std::string>>{{"format", "pt"}});
    }
}

TEST_CASE("read_safetensors_header: no tensors, blanks behind the JSON, fields that are not known") {
    CHECK(header_of(safetensors_of("{}")).tensors.empty());
    CHECK(header_of(safetensors_of("{}      ")).tensors.empty());
    const auto odd = safetensors_of(R"({"a":{"more":[1],"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
    CHECK(header_of(odd).tensors.at(0).where.length == 2);
}

TEST_CASE("read_safetensors_header: every truncation is an error") {
    const std::string file = recorded("every_dtype.safetensors");
    for (std::size_t length = 0; length < file.size(); ++length) {
        CAPTURE(length);
        const std::string part = file.substr(0, length);
        CHECK(says(what_of<corrupt_data>([&] { return header_of(part); }), "a/x.safetensors"));
    }
    CHECK(says(what_of<corrupt_data>([&] { return header_of(file + "x"); }), "last 1 bytes belong to no tensor"));
}

TEST_CASE("read_safetensors_header: a length that lies is refused before anything is read for it") {
    for (const std::uint64_t length : {std::uint64_t{1} << 40U, ~std::uint64_t{0}, most_header_bytes + 1}) {
        std::string file = safetensors_of("{}", 100);
        store_le(reinterpret_cast<std::byte*>(file.data()), length);
        text_reader reader{file};
        const auto said = what_of<corrupt_data>([&] {
            return read_safetensors_header("x", std::uint64_t{1} << 50U, reader);  // the storage reports a petabyte
        });
        CHECK(says(said, std::to_string(length) + " bytes; at most 100000000 are read"));
        CHECK(reader.reads == 1);
    }
    std::string file = safetensors_of("{}", 3);
    store_le(reinterpret_cast<std::byte*>(file.data()), std::uint64_t{6});
    CHECK(says(what_of<corrupt_data>([&] { return header_of(file); }), "reaches beyond its end"));
    const std::string large = safetensors_of(std::string(100'000, ' '));
    text_reader shrunk{std::string_view{large}.substr(0, 70'000)};
    CHECK(says(what_of<corrupt_data>([&] { return read_safetensors_header("x", large.size(), shrunk); }),
               "ends within its header"));
}

TEST_CASE("read_safetensors_header: a pointer of Git LFS is called one") {
    constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    CHECK(
        says(what_of<corrupt_data>([&] { return header_of(pointer); }), "a/x.safetensors: it is a pointer of Git LFS"));
}

TEST_CASE("read_safetensors_header: what is not JSON, not UTF-8, or nested deep") {
    for (const std::string header : {"", "[]", "{", "{} x", "nonsense", "{\"a\":}", " {}", "\xEF\xBB\xBF{}"}) {
        CHECK(says(refusal_of(header), "not a JSON object"));
    }
    CHECK(says(refusal_of("{\"\xFF\":1}"), "not UTF-8"));
    const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    CHECK(says(refusal_of(deep), "nested too deep"));
}

TEST_CASE("read_safetensors_header: fields that are missing, of another kind, or there twice") {
    CHECK(refusal_of("{" + tensor("t", "U8", "[1" + ones(253) + "]", "[0,1]") + "}", 1).empty());
    for (const std::string& value : std::vector<std::string>{
             R"(1)", R"([])", R"({})", R"({"dtype":"U8","shape":[1]})", R"({"dtype":"U8","data_offsets":[0,1]})",
             R"({"dtype":8,"shape":[1],"data_offsets":[0,1]})", R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})",
             R"({"dtype":"U8","shape":[-1],"data_offsets":[0,1]})",
             R"({"dtype":"U8","shape":[1.0],"data_offsets":[0,1]})",
             R"({"dtype":"U8","shape":["1"],"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[1],"data_offsets":[0]})",
             R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,2]})",
             R"({"dtype":"U8","shape":[1)" + ones(254) + R"(],"data_offsets":[0,1]})",
             R"({"dtype":"U8","shape":[1e400],"data_offsets":[0,1]})",
             R"({"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1]})"}) {
        CAPTURE(value);
        const std::string said = refusal_of("{\"t\":" + value + "}", 1);
        CHECK((says(said, "tensor t: it needs") || says(said, "not a JSON object")));
    }
    CHECK(says(refusal_of(R"({"t":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1),
               "tensor t: \"dtype\" stands twice"));
    CHECK(says(refusal_of("{" + tensor("t", "U8", "[0]", "[0,0]") + "," + tensor("t", "U8", "[0]", "[0,0]") + "}"),
               "tensor t: it stands twice"));
    CHECK(header_of(safetensors_of("{\"__metadata__\":null," + tensor("t", "U8", "[1]", "[0,1]") + "}", 1))
              .tensors.size() == 1);
    CHECK(says(refusal_of(R"({"__metadata__":[]})"), "__metadata__ is not"));
    CHECK(says(refusal_of(R"({"__metadata__":{"a":1}})"), "__metadata__ is not"));
    CHECK(says(refusal_of(R"({"__metadata__":{},"__metadata__":{}})"), "__metadata__ stands twice"));
}

TEST_CASE("read_safetensors_header: places outside, that overlap, or leave holes, and shapes of other sizes") {
    CHECK(says(refusal_of("{" + tensor("t", "U8", "[4]", "[0,4]") + "}", 3), "0 to 4 are not within the 3 bytes"));
    CHECK(says(refusal_of("{" + tensor("t", "U8", "[4]", "[4,0]") + "}", 4), "4 to 0 are not within"));
    CHECK(says(refusal_of("{" + tensor("t", "U8", "[1]", "[18446744073709551614,18446744073709551615]") + "}", 4),
               "are not within the 4 bytes"));
    const std::string a = tensor("a", "U8", "[4]", "[0,4]");
    CHECK(says(refusal_of("{" + a + "," + tensor("b", "U8", "[4]", "[3,7]") + "}", 7),
               "tensor b: its data_offsets 3 to 7 overlap with those of a"));
    CHECK(says(refusal_of("{" + a + "," + tensor("b", "U8", "[4]", "[0,4]") + "}", 4), "overlap"));
    CHECK(says(refusal_of("{" + a + "," + tensor("b", "U8", "[3]", "[5,8]") + "}", 8),
               "tensor b: the 1 bytes before it belong to no tensor"));
    CHECK(says(refusal_of("{" + tensor("a", "U8", "[4]", "[1,5]") + "}", 5), "the 1 bytes before it"));
    for (const std::string shape : {"[5]", "[2,3]", "[]", "[0]", "[4294967296,4294967296]", "[9223372036854775808,2]",
                                    "[18446744073709551615,18446744073709551615,4]"}) {
        CAPTURE(shape);
        CHECK(says(refusal_of("{" + tensor("t", "F16", shape, "[0,4]") + "}", 4), "do not make the 4 bytes"));
    }
    CHECK_FALSE(says(refusal_of("{" + tensor("t", "F16", "[2]", "[0,4]") + "}", 4), "do not make"));
}

TEST_CASE("read_safetensors_header: a tensor of an unknown dtype is left out and named, its place counts") {
    const stored_tensors all = header_of(safetensors_of(
        "{" + tensor("a", "U8", "[2]", "[0,2]") + "," + tensor("b", "F8_E8M0", "[9]", "[2,4]") + "}", 4));
    CHECK(all.tensors.size() == 1);
    CHECK(all.not_read ==
          std::vector<left_out>{{"b", "its dtype F8_E8M0 is not known here", problem_kind::unsupported}});
    CHECK(says(refusal_of("{" + tensor("b", "F4", "[2]", "[0,1]") + "}", 2), "last 1 bytes belong to no tensor"));
}

TEST_CASE("read_safetensors_header: a header longer than the first read takes a second one") {
    std::string header = "{";
    for (int i = 0; i < 3000; ++i) {
        header += (i == 0 ? "" : ",") + tensor("layer." + std::to_string(10'000 + i), "F32", "[0,7]", "[0,0]");
    }
    const std::string file = safetensors_of(header + "}");
    text_reader reader{file};
    const stored_tensors all = read_safetensors_header("x", file.size(), reader);
    CHECK(reader.reads == 2);
    CHECK(all.tensors.size() == 3000);
    CHECK(all.tensors.front().name == "layer.10000");
    const std::string small = safetensors_of("{}");
    text_reader once{small};
    static_cast<void>(read_safetensors_header("x", small.size(), once));
    CHECK(once.reads == 1);
}

TEST_CASE("read_safetensors_header: any byte changed is refused or read, never anything else") {
    const std::string file = recorded("trainer/checkpoint-500/model.safetensors");
    std::size_t refused = 0;
    for (std::size_t at = 0; at < file.size(); ++at) {
        for (const unsigned flip : {0x01U, 0x20U, 0x80U, 0xFFU}) {
            std::string changed = file;
            changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
            try {
                for (const stored_tensor& each : header_of(changed).tensors) {
                    REQUIRE(each.where.offset + each.where.length <= file.size());
                }
            } catch (const corrupt_data&) {
                ++refused;
            }
        }
    }
    CHECK(refused > file.size());
}
