#include <smdebug/exporting/npz.hpp>

#include "exporting/odd_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

namespace {

// The members of an .npz: names without ".npy", whole files.
std::map<std::string, std::string> arrays_of(const std::string& path) {
    const fs::path file{path};
    const archive_storage archive{local_storage{file.parent_path().string()}, file.filename().string()};
    std::map<std::string, std::string> arrays;
    for (const std::string& key : archive.list("", "")) {
        REQUIRE(key.ends_with(".npy"));
        arrays[key.substr(0, key.size() - 4)] = as_text(archive.read(key).view());
    }
    return arrays;
}

template <class T>
std::string npy(std::string_view type, const shape_type& shape, const std::vector<T>& values) {
    return detail::npy_head(type, shape).append(as_text(std::as_bytes(std::span{values})));
}

}  // namespace

TEST_CASE("export_npz: a file a step, whatever the names, dtypes and shapes") {
    const temporary_folder folder;
    const std::string out = folder.path() + "/a/out";
    noted_export noted;
    const export_result result = export_npz(memory_trial{odd_run()}, out, noted.options);
    CHECK(noted.told.empty());
    CHECK(result.tensors == 14);
    CHECK(result.files == 2);
    CHECK(result.bytes == fs::file_size(out + "/step_000000000.npz") + fs::file_size(out + "/step_000000003.npz"));
    const auto first = arrays_of(out + "/step_000000000.npz");
    CHECK(first.size() == 12);
    CHECK(first.at("plain") == npy<float>("<f4", {2, 3}, {1, 2, 3, 4, 5, 6}));
    CHECK(first.at("scalar") == npy<double>("<f8", {}, {2.5}));
    CHECK(first.at("empty") == npy<float>("<f4", {0, 4}, {}));
    CHECK(first.at("a/b:0") == npy<std::int64_t>("<i8", {2}, {-1, 1LL << 62}));
    CHECK(first.at("%2E%2E/evil") == npy<std::int32_t>("<i4", {1}, {7}));
    CHECK(first.at("q\"uo'te,%0A%5Cx") == npy<std::uint8_t>("|u1", {2}, {1, 255}));
    CHECK(first.at("flags") == npy<std::uint8_t>("|b1", {3}, {1, 0, 1}));
    CHECK(first.at("half") == npy<std::uint16_t>("<f2", {2}, {0x3c00, 0xc000}));
    CHECK(first.at("brain") == npy<std::uint32_t>("<f4", {2}, {0x3f800000, 0x7fc00000}));
    const std::string& f8 = first.at("f8");
    CHECK(f8.substr(0, f8.size() - 4) == npy<float>("<f4", {3}, {1, -2}));
    CHECK(std::isnan(load_le<float>(as_bytes(std::string_view{f8}).last(4).data())));
    CHECK(first.at("z") == npy<float>("<c8", {1}, {1, -2}));
    CHECK(first.at("words") == npy<char>("|S8", {3}, {'a', 0, 0, 0, 0,   0,   0,   0,   0,   0,   0,   0,
                                                      0,   0, 0, 0, 'l', 'o', 'n', 'g', ',', '"', 'e', 'r'}));
    CHECK(arrays_of(out + "/step_000000003.npz").size() == 2);
}

TEST_CASE("export_npz: what has no place in numpy is named and left out") {
    const temporary_folder folder;
    noted_export noted;
    const memory_trial run{
        odd_run({text_tensor("nul", {std::string_view{"a\0", 2}}), tensor_of<float>("deep", {1}, shape_type(33, 1)),
                 tensor_of<float>(std::string(70'000, 'n'), {1})})};
    const export_result result = export_npz(run, folder.path() + "/out", noted.options);
    CHECK(result.refused == 3);
    CHECK(result.damaged == 0);
    REQUIRE(noted.told.size() == 3);
    CHECK(contains_text(noted.told[0], "nul@0: the tensor \"nul\" has a string that ends in a zero byte"));
    CHECK(contains_text(noted.told[1], "has 33 dimensions"));
    CHECK(contains_text(noted.told[2], "too long for a zip"));
}

TEST_CASE("export_npz: one file, of one step") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    CHECK(export_npz(run, folder.path() + "/x.npz", {.which = {.range = {3, 4}}}).files == 1);
    CHECK(arrays_of(folder.path() + "/x.npz").size() == 2);
    CHECK_THROWS_WITH_AS(export_npz(run, folder.path() + "/y.npz"), doctest::Contains("name a folder"), value_error);
    CHECK_FALSE(fs::exists(folder.path() + "/y.npz"));
}

TEST_CASE("export_npz: one file, of one tensor over its steps, stacked") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string path = folder.path() + "/plain.npz";
    const export_result result = export_npz(run, path, {.which = {.names = {{"plain"}}}});
    CHECK(result.tensors == 2);
    CHECK(result.bytes == fs::file_size(path));
    const auto arrays = arrays_of(path);
    CHECK(arrays.size() == 2);
    CHECK(arrays.at("plain") == npy<float>("<f4", {2, 2, 3}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}));
    CHECK(arrays.at("steps") == npy<std::int64_t>("<i8", {2}, {0, 3}));
    export_npz(run, folder.path() + "/scalar.npz", {.which = {.names = {{"scalar"}}}});
    CHECK(arrays_of(folder.path() + "/scalar.npz").at("scalar") == npy<double>("<f8", {2}, {2.5, 0.5}));
    const walk_options how{.progress = [&](std::size_t, std::size_t) { folder.write("late.npz", "theirs"); }};
    const std::string late = folder.path() + "/late.npz";
    CHECK_THROWS_AS(export_npz(run, late, {.which = {.names = {{"plain"}}}, .how = how}), run_exists);
    CHECK(file_content(late) == "theirs");
}

TEST_CASE("export_npz: what does not stack is an error, and leaves nothing behind") {
    const temporary_folder folder;
    memory_storage store = odd_run();
    run_builder{store}.step({.step = 4,
                             .tensors = {tensor_of<float>("plain", {1, 2}), tensor_of<float>("scalar", {1}, {}),
                                         tensor_of<float>("steps", {1})}});
    run_builder{store}.step({.step = 5, .tensors = {tensor_of<float>("steps", {1})}});
    const memory_trial run{store};
    const std::string path = folder.path() + "/x.npz";
    CHECK_THROWS_WITH_AS(export_npz(run, path, {.which = {.names = {{"plain"}}}}),
                         doctest::Contains("at step 4 it is float32 of shape (2), at step 0 float32 of shape (2x3)"),
                         value_error);
    CHECK_THROWS_WITH_AS(export_npz(run, path, {.which = {.names = {{"scalar"}}}}), doctest::Contains("float64"),
                         value_error);
    CHECK_THROWS_WITH_AS(export_npz(run, path, {.which = {.names = {{"steps"}}}}),
                         doctest::Contains("also that of the steps"), value_error);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("export_npz: several workers, a file each") {
    const temporary_folder folder;
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1"})
        .step({.step = 0, .tensors = {tensor_of<float>("w", {1})}})
        .step({.step = 0, .tensors = {tensor_of<float>("w", {2})}, .worker = "worker_1"})
        .end();
    const memory_trial run{store};
    const std::string out = folder.path() + "/out";
    CHECK(export_npz(run, out).files == 2);
    CHECK(arrays_of(out + "/step_000000000_worker_0.npz").at("w") == npy<float>("<f4", {1}, {1}));
    CHECK(arrays_of(out + "/step_000000000_worker_1.npz").at("w") == npy<float>("<f4", {1}, {2}));
    CHECK(export_npz(run, folder.path() + "/one", {.which = {.worker = "worker_1"}}).files == 1);
    CHECK(fs::exists(folder.path() + "/one/step_000000000.npz"));
}

TEST_CASE("export_npz: an output that is there, or that is the run's own place") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string out = folder.path() + "/out";
    CHECK(export_npz(run, out).files == 2);
    CHECK_THROWS_AS(export_npz(run, out), run_exists);
    CHECK(export_npz(run, out, {.which = {.range = {3, 4}}, .replace = true}).files == 1);
    CHECK_FALSE(fs::exists(out + "/step_000000000.npz"));
    folder.write("out/mine.txt", "");
    CHECK_THROWS_AS(export_npz(run, out, {.replace = true}), run_exists);
    CHECK(fs::exists(out + "/mine.txt"));
    folder.write("x.npz", "old");
    CHECK_THROWS_AS(export_npz(run, folder.path() + "/x.npz", {.which = {.range = {3, 4}}}), run_exists);
    CHECK(file_content(folder.path() + "/x.npz") == "old");
    CHECK(export_npz(run, folder.path() + "/x.npz", {.which = {.range = {3, 4}}, .replace = true}).files == 1);

    local_storage disk{folder.path() + "/run"};
    run_builder{disk}.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}}).end();
    for (const std::string place : {"/run", "/run/out", "/run/../run/x", "/."}) {
        CHECK_THROWS_WITH_AS(export_npz(local_trial{folder.path() + "/run"}, folder.path() + place, {.replace = true}),
                             doctest::Contains("is no output"), value_error);
    }
    CHECK_THROWS_AS(export_npz(run, "s3://bucket/x"), unsupported);
}
