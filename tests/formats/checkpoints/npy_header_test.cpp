#include <smdebug/formats/checkpoints/npz_directory.hpp>

#include <smdebug/core/error.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

stored_tensor header_of(std::string_view file) {
    text_reader reader{file};
    return read_npy_header("a/x.npy", file.size(), reader);
}

template <class E = corrupt_data>
std::string refusal_of(const std::string& header, std::size_t data_bytes = 64) {
    const std::string file = npy_of(header, data_bytes);
    return what_of<E>([&] { return header_of(file); });
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

std::string of_type(const std::string& descr) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }";
}

}  // namespace

TEST_CASE("read_npy_header: finds what numpy finds, of every version and order") {
    for (const std::string name :
         {"square", "columns", "big_endian", "scalar", "empty", "flags", "version_2", "version_3"}) {
        CAPTURE(name);
        const std::string file = recorded("arrays/" + name + ".npy");
        const auto expected = expected_in("arrays/" + name + ".npy").at(0);
        const stored_tensor array = header_of(file);
        CHECK(same(array, expected.is));
        CHECK(hexadecimal(as_bytes(std::string_view{file}.substr(array.where.offset, array.where.length))) ==
              expected.content);
    }
}

TEST_CASE("read_npy_header: every kind of number in every order") {
    const std::pair<std::string, dtype> kinds[] = {
        {"b1", dtype::boolean}, {"?", dtype::boolean},    {"i1", dtype::int8},       {"i2", dtype::int16},
        {"i4", dtype::int32},   {"i8", dtype::int64},     {"u1", dtype::uint8},      {"u2", dtype::uint16},
        {"u4", dtype::uint32},  {"u8", dtype::uint64},    {"f2", dtype::float16},    {"f4", dtype::float32},
        {"f8", dtype::float64}, {"c8", dtype::complex64}, {"c16", dtype::complex128}};
    for (const auto& [kind, type] : kinds) {
        for (const std::string order : {"", "<", ">", "=", "|"}) {
            const stored_tensor array = header_of(npy_of(of_type("'" + order + kind + "'"), 64));
            CHECK(array.type == type);
            CHECK(array.big_endian == (order == ">" && size_of(type) > 1));
            CHECK(array.where.length == 2 * size_of(type));
        }
    }
}

TEST_CASE("read_npy_header: numpy's other names of its types, as numpy.load takes them") {
    const std::pair<std::string, dtype> names[] = {{"float32", dtype::float32},
                                                   {"single", dtype::float32},
                                                   {"f", dtype::float32},
                                                   {"float64", dtype::float64},
                                                   {"d", dtype::float64},
                                                   {"float", dtype::float64},
                                                   {"float16", dtype::float16},
                                                   {"e", dtype::float16},
                                                   {"bool", dtype::boolean},
                                                   {"int8", dtype::int8},
                                                   {"b", dtype::int8},
                                                   {"B", dtype::uint8},
                                                   {"h", dtype::int16},
                                                   {"i", dtype::int32},
                                                   {"I", dtype::uint32},
                                                   {"int64", dtype::int64},
                                                   {"l", dtype::int64},
                                                   {"Q", dtype::uint64},
                                                   {"uint16", dtype::uint16},
                                                   {"complex64", dtype::complex64},
                                                   {"D", dtype::complex128},
                                                   {"bfloat16", dtype::bfloat16},
                                                   {"float8_e5m2", dtype::float8_e5m2}};
    for (const auto& [name, type] : names) {
        CAPTURE(name);
        const stored_tensor array = header_of(npy_of(of_type("'" + name + "'"), 64));
        CHECK(array.type == type);
        CHECK(array.where.length == 2 * size_of(type));
    }
    CHECK(header_of(npy_of(of_type("'>f'"), 64)).big_endian);
    for (const std::string name : {"Float32", "g", "longdouble", "f4 ", " f4", "f4 f8", "real", "str", "object"}) {
        CAPTURE(name);
        CHECK_FALSE(refusal_of<unsupported>(of_type("'" + name + "'")).empty());
    }
}

TEST_CASE("left_behind: names the bytes behind an array") {
    const std::string file = recorded("arrays/square.npy");
    const stored_tensor array = header_of(file);
    CHECK(left_behind("w", array, file.size()).empty());
    REQUIRE(left_behind("w", array, file.size() + 1).size() == 1);
    CHECK(says(left_behind("w", array, file.size() + 1)[0].why, "1 byte behind its array"));
}

TEST_CASE("read_npy_header: literals as other writers have them") {
    const auto shape_of = [](const std::string& shape, bool column_major = false) {
        const std::string order = column_major ? "True" : "False";
        return header_of(npy_of(R"({"shape":)" + shape + R"(,"fortran_order":)" + order + R"(,"descr":"|u1"})", 64));
    };
    CHECK(shape_of("()").shape.empty());
    CHECK(shape_of("(3,)").shape == shape_type{3});
    CHECK(shape_of("( 3L , 4L )").shape == shape_type{3, 4});
    CHECK(shape_of("(3, 4,)").shape == shape_type{3, 4});
    CHECK(shape_of("(3, 4)", true).column_major);
    CHECK_FALSE(shape_of("(3,)", true).column_major);  // the same in either order
    CHECK_FALSE(shape_of("(0, 4)").column_major);
}

TEST_CASE("read_npy_header: a pointer of Git LFS is called one") {
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    text_reader reader{pointer};
    const std::string said = what_of<corrupt_data>([&] { return read_npy_header("x.npy", pointer.size(), reader); });
    CHECK(said.find("git lfs pull") != std::string::npos);
}

TEST_CASE("read_npy_header: elements that are no numbers are refused with what to do") {
    CHECK(says(refusal_of<unsupported>(of_type("'|O'")), "Python objects"));
    CHECK(says(refusal_of<unsupported>(of_type("'|S5'")), "texts"));
    CHECK(says(refusal_of<unsupported>(of_type("'<U5'")), "texts"));
    CHECK(says(refusal_of<unsupported>(of_type("'|V2'")), "bfloat16"));
    CHECK(says(refusal_of<unsupported>(of_type("'<M8[ns]'")), "dates"));
    CHECK(says(refusal_of<unsupported>(of_type("'<f16'")), "float64"));
    CHECK(says(refusal_of<unsupported>(of_type("'<i3'")), "an unsupported type"));
    CHECK(says(refusal_of<unsupported>(of_type("'<'")), "an unsupported type"));
    CHECK(says(refusal_of<unsupported>(of_type("[('x', '<f4'), ('y', '<f4')]")), "records of several fields"));
}

TEST_CASE("read_npy_header: every truncation is an error, bytes after the array are not") {
    for (const std::string name : {"square", "version_2", "version_3", "columns"}) {
        const std::string file = recorded("arrays/" + name + ".npy");
        for (std::size_t length = 0; length < file.size(); ++length) {
            CAPTURE(length);
            const std::string part = file.substr(0, length);
            CHECK(says(what_of<corrupt_data>([&] { return header_of(part); }), "a/x.npy"));
        }
        CHECK(same(header_of(file + file), header_of(file)));
    }
}

TEST_CASE("read_npy_header: a header that lies is refused") {
    for (const std::string shape : {"(33,)", "(4294967296, 4294967296)", "(9223372036854775808, 2)",
                                    "(18446744073709551615,)", "(1099511627776,)"}) {
        CAPTURE(shape);
        CHECK(says(refusal_of("{'descr': '<i2', 'fortran_order': False, 'shape': " + shape + "}"),
                   "needs more than the 64 bytes"));
    }
    for (const std::string header :
         {"", "{", "{}", "nonsense", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "{'descr': '', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"}) {
        CAPTURE(header);
        CHECK(says(refusal_of(header), "is not a dictionary"));
    }
    std::string extents = "1";
    for (int i = 1; i < 255; ++i) {
        extents += ", 1";
    }
    CHECK(says(refusal_of("{'descr': '<f4', 'fortran_order': False, 'shape': (" + extents + ")}"),
               "is not a dictionary"));
    CHECK(says(refusal_of(std::string(60'000, '(')), "is not a dictionary"));
    CHECK(says(refusal_of("{'descr': '<f4', 'shape': (" + std::string(60'000, '(')), "is not a dictionary"));
    std::string version_2("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12);
    CHECK(says(what_of<corrupt_data>([&] { return header_of(version_2 + std::string(100, ' ')); }),
               "4294967295 bytes; at most 65536"));
    CHECK(
        says(what_of<unsupported>([&] { return header_of(std::string("\x93NUMPY\4\0\1\0\0\0 ", 13)); }), "version 4"));
    CHECK(says(what_of<corrupt_data>([&] { return header_of("PK\3\4 something else"); }), "does not begin"));
}

TEST_CASE("read_npy_header: a header longer than the first read takes a second one") {
    const std::string file = npy_of(of_type("'<f4'") + std::string(9000, ' '), 8);
    text_reader reader{file};
    CHECK(read_npy_header("x", file.size(), reader).shape == shape_type{2});
    CHECK(reader.reads == 2);
    text_reader grown{file};  // bytes that were added after its size was determined are not trusted
    CHECK(says(what_of<corrupt_data>([&] { return read_npy_header("x", 5000, grown); }), "ends within its header"));
}
