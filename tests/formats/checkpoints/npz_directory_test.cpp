#include <smdebug/formats/checkpoints/npz_directory.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <support/archive_builder.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

using members = std::vector<std::pair<std::string, std::string>>;

npz_directory directory_of(const std::string& file, const archive_options& options = {}) {
    memory_storage store;
    store.write("a/x.npz", as_bytes(file));
    return read_npz_directory(any_storage{store}, "a/x.npz", options);
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

std::string array_of(std::size_t bytes) {
    return npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(bytes) + ",), }", bytes);
}

}  // namespace

// tests/consumer shows what a program without <smdebug/archive.hpp> does.

TEST_CASE("read_npz_directory: finds what numpy finds, stored and deflated") {
    const any_storage folder{local_storage{checkpoint_folder}};
    for (const std::string name : {"numbered/step_500.npz", "numbered/step_1000.npz"}) {
        CAPTURE(name);
        const npz_directory all = read_npz_directory(folder, name);
        const auto expected = expected_in(name);
        REQUIRE(all.tensors.size() == expected.size());
        CHECK(all.not_read.empty());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CAPTURE(expected[i].is.name);
            CHECK(same(all.tensors[i], expected[i].is));
            const byte_buffer content = all.files.read(all.tensors[i].name + ".npy", all.tensors[i].where);
            CHECK(hexadecimal(content.view()) == expected[i].content);
        }
    }
}

TEST_CASE("read_npz_directory: every truncation is reported") {
    for (const std::string name : {"numbered/step_500.npz", "numbered/step_1000.npz"}) {
        const std::string file = recorded(name);
        for (std::size_t length = 0; length < file.size(); ++length) {
            CAPTURE(length);
            CHECK(says(what_of<corrupt_data>([&] { return directory_of(file.substr(0, length)); }), "a/x.npz"));
        }
    }
    CHECK(says(what_of<corrupt_data>([] { return directory_of("no zip at all, but a text"); }), "not a zip"));
}

TEST_CASE("read_npz_directory: what is no array of numbers is left out and named, the rest is read") {
    const std::string objects = npy_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 9);
    const npz_directory all = directory_of(zip_of(members{{"good.npy", array_of(3)},
                                                          {"objects.npy", objects},
                                                          {"cut.npy", array_of(3).substr(0, 40)},
                                                          {"note.txt", "x"}}));
    REQUIRE(all.tensors.size() == 1);
    CHECK(all.tensors[0].name == "good");
    REQUIRE(all.not_read.size() == 3);
    CHECK(all.not_read[0].name == "cut.npy");
    CHECK(says(all.not_read[0].why, "a/x.npz!/cut.npy: it ends within its header"));
    CHECK(all.not_read[0].kind == problem_kind::damaged);
    CHECK(all.not_read[1] == left_out{"note.txt", "it is no .npy", problem_kind::left_out});
    CHECK(all.not_read[2].kind == problem_kind::unsupported);
    CHECK(says(all.not_read[2].why, "Python objects"));
}

TEST_CASE("read_npz_directory: names of arrays are texts, not paths") {
    const std::vector<std::string> names{"",       "../../etc/x", "..\\up", "./layers/0", "/x",   "._w",
                                         "a/../y", "a\\b",        "x",      "x/y",        "x//y", "\xC3\xA4"};
    members some;
    for (std::size_t i = 0; i < names.size(); ++i) {
        some.emplace_back(names[i] + ".npy", array_of(i + 1));
    }
    const npz_directory all = directory_of(zip_of(some));
    CHECK(all.not_read.empty());
    REQUIRE(all.tensors.size() == names.size());
    for (const stored_tensor& each : all.tensors) {
        CAPTURE(each.name);
        const auto place = std::find(names.begin(), names.end(), each.name);
        REQUIRE(place != names.end());
        CHECK(each.shape.at(0) == static_cast<std::size_t>(place - names.begin()) + 1);
        CHECK(all.files.read(each.name + ".npy", each.where).size() == each.where.length);
    }
}

TEST_CASE("read_npz_directory: the last of two arrays with the same name is read, and the other is reported") {
    const npz_directory all = directory_of(zip_of(members{{"w.npy", array_of(1)}, {"w.npy", array_of(2)}}));
    REQUIRE(all.tensors.size() == 1);
    CHECK(all.tensors[0].shape == shape_type{2});
    REQUIRE(all.not_read.size() == 1);
    CHECK(all.not_read[0].name == "w.npy");
    CHECK(all.not_read[0].kind == problem_kind::replaced);
}

TEST_CASE("read_npz_directory: a member without a name is reported under the name of the file") {
    const npz_directory all = directory_of(zip_of(members{{"", array_of(1)}, {"w.npy", array_of(2)}}));
    CHECK(all.tensors.size() == 1);
    REQUIRE(all.not_read.size() == 1);
    CHECK(all.not_read[0].name.ends_with(".npz"));
    CHECK(all.not_read[0].why.starts_with("a member without a name"));
}

TEST_CASE("read_npz_directory: resource forks of macOS are passed over; a pointer of Git LFS is called one") {
    const npz_directory all = directory_of(
        zip_of(members{{"w.npy", array_of(1)}, {"__MACOSX/._w.npy", std::string{"\0\5\x16\7 and more", 13}}}));
    CHECK(all.tensors.size() == 1);
    CHECK(all.not_read.empty());
    CHECK(says(what_of<corrupt_data>(
                   [] { return directory_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"); }),
               "git lfs pull"));
}

TEST_CASE(
    "read_npz_directory: arrays of zeros are as dense as deflate allows, and read; more members than allowed are not") {
    constexpr std::size_t many = std::size_t{8} << 20U;
    const std::string zeros = zip_of(members{{"w.npy", array_of(many)}});
    CHECK(zeros.size() < many / 900);
    const npz_directory all = directory_of(zeros);
    REQUIRE(all.tensors.size() == 1);
    CHECK(all.files.read("w.npy", {many, 50}).size() == 50);
    CHECK(
        says(what_of<unsupported>([&] { return directory_of(recorded("numbered/step_500.npz"), {.most_members = 2}); }),
             "members"));
}

TEST_CASE("read_npz_directory: members that share bytes are refused, as a small file could inflate to anything") {
    std::string file = zip_of(members{{"a.npy", array_of(300)}, {"b.npy", array_of(3)}}, 0);
    const std::size_t first = file.find("PK\1\2");
    for (const std::size_t field : {first + 20, first + 24}) {  // the bytes of the first, extended into the second
        store_le(reinterpret_cast<std::byte*>(&file[field]), static_cast<std::uint32_t>(array_of(300).size() + 90));
    }
    CHECK(says(what_of<corrupt_data>([&] { return directory_of(file); }), "a.npy and b.npy share bytes"));
}

TEST_CASE("read_npz_directory: a wrong size in the directory is an error when the member is read") {
    std::string file = zip_of(members{{"w.npy", array_of(3)}});
    const std::size_t entry = file.rfind("PK\1\2");
    store_le(reinterpret_cast<std::byte*>(&file[entry + 24]), std::uint32_t{0x7FFFFFFF});  // bytes, unpacked
    const npz_directory all = directory_of(file);
    for (const stored_tensor& each : all.tensors) {
        CHECK(each.where.length == 3);
    }
}
