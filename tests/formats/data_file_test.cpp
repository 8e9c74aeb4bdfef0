#include <smdebug/formats/open_data.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("data_file_in: a file of data, by its name, where it is there") {
    const smdebug_test::temporary_folder place;
    for (const char* name : {"a.safetensors", "b.npz", "events.out.tfevents.1", "c.txt"}) {
        std::ofstream{place.path() + "/" + name} << "x";
    }
    std::filesystem::create_directory(place.path() + "/folder.npz");
    const auto file = detail::data_file_in(place.path() + "/b.npz");
    REQUIRE(file.has_value());
    CHECK(file->folder == place.path());
    CHECK(file->key == "b.npz");
    CHECK(detail::data_file_in(place.path() + "/events.out.tfevents.1").has_value());
    CHECK_FALSE(detail::data_file_in(place.path() + "/c.txt").has_value());
    CHECK_FALSE(detail::data_file_in(place.path() + "/folder.npz").has_value());
    CHECK_FALSE(detail::data_file_in(place.path() + "/none.npz").has_value());
    CHECK(detail::data_file_in("s3://bucket/a/b.safetensors")->folder == "s3://bucket/a");
    // Neither is an archive of runs, although an .npz is a zip.
    CHECK_FALSE(detail::archive_in(place.path() + "/b.npz").has_value());
    CHECK(detail::archive_in(place.path() + "/c.txt").has_value());
}

TEST_CASE("other_form_of: by the end of a name, a whole name, or a part of the path") {
    const auto is = [](std::string_view path) {
        const auto form = detail::other_form_of(path);
        return form ? std::string{form->what.substr(0, form->what.find_first_of(",:"))} : std::string{};
    };
    CHECK(is("a/model.h5") == "HDF5");
    CHECK(is("a/__0_0.distcp") == "a part of a checkpoint of torch.distributed whose .metadata is missing");
    CHECK(is("checkpoint") == "a checkpoint of TensorFlow");
    CHECK(is("a/m.data-00000-of-00001") == "a checkpoint of TensorFlow");
    CHECK(is("1/ocdbt.process_0/d/x") == "a checkpoint of Orbax");
    CHECK(is("w.zarr/0.0") == "arrays of Zarr");
    CHECK(is("logs/vdlrecords.16.log") == "a log of VisualDL");
    CHECK(is("9.orbax-checkpoint-tmp-3/d/x") == "a file that was not written to its end");
    for (const std::string_view path : {"", "a", "h5", "my_checkpoint", "a/metadata", "a.npz", "a.safetensors",
                                        "._a.h5", "index.json", "a.json", "my.vdlrecords", "events.out.tfevents.1"}) {
        CAPTURE(path);
        CHECK(is(path).empty());
    }
}

TEST_CASE("single_object: one object is seen, and no other") {
    memory_storage files;
    files.write("a", as_bytes("alpha"));
    files.write("b", as_bytes("beta"));
    const detail::single_object only{any_storage{files}, "b"};
    CHECK(only.list("", "") == std::vector<std::string>{"b"});
    CHECK(only.list("", "b").empty());
    CHECK(only.list("c", "").empty());
    CHECK(as_text(only.read("b").view()) == "beta");
    CHECK(as_text(only.read("b", {1, 2}).view()) == "et");
    CHECK(only.size("b") == 4);
    CHECK_FALSE(only.size("a").has_value());
    CHECK_THROWS_AS(static_cast<void>(only.read("a")), not_found);
    CHECK(only.place() == place_kind::file);
    CHECK(detail::single_object{any_storage{files}, "c"}.place() == place_kind::missing);
    CHECK(detail::path_of(any_storage{only}, "b") == files.name() + "/b");
    CHECK(only.modified("b").has_value());
    CHECK_FALSE(only.modified("a").has_value());
    CHECK(only.open("a") == nullptr);
    static_assert(storage<detail::single_object>);

    // Where a look costs money, it does so for one object, too.
    struct costly : memory_storage {
        [[nodiscard]] storage_abilities abilities() const { return {.look_interval = std::chrono::seconds{3}}; }
    };
    const detail::single_object bought{any_storage{costly{}}, "b"};
    CHECK(bought.abilities().one_object);
    CHECK(bought.abilities().look_interval == std::chrono::seconds{3});
}
