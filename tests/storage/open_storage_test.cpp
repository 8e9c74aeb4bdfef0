#include <smdebug/storage/open_storage.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <support/archetypes.hpp>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

// A port without a server: opening makes no request before a read or write.
const s3_options near{.region = "eu-central-1", .endpoint = "http://127.0.0.1:1", .anonymous = true};

}  // namespace

// tests/consumer shows what happens in a program without <smdebug/s3.hpp>.

TEST_CASE("open_storage: the path says which storage it is, for reading and for writing") {
    CHECK(open_storage("/some/folder").name() == "/some/folder");
    CHECK(open_storage("file:///some/folder/").name() == "/some/folder");
    CHECK(open_place("/some/folder//").name() == "/some/folder");
    CHECK(open_storage("s3://bucket/some/run/", {.s3 = near}).name() == "s3://bucket/some/run");
    CHECK(open_place("s3://bucket/some/run/", near).name() == "s3://bucket/some/run");
    CHECK(open_place("s3://bucket/run.tar", near).name() == "s3://bucket/run.tar");
    const smdebug_test::environment_variable home{"HOME", "/home/some"};
    CHECK(open_storage("~/runs").name() == "/home/some/runs");
    CHECK(open_place("~/runs").name() == "/home/some/runs");
}

TEST_CASE("open_storage: every function refuses a bad path with the same message") {
    for (const std::string text :
         {"", "s3:/bucket/run", "gs://bucket/run", "s3://", "s3:///run", "s3://a b/run", "gs://bucket/a.zip"}) {
        CAPTURE(text);
        const auto refusal_of = [&](auto&& open) { return smdebug_test::what_of<error>([&] { open(); }); };
        const std::string refusal = refusal_of([&] { static_cast<void>(open_storage(text)); });
        CHECK_FALSE(refusal.empty());
        CHECK(refusal_of([&] { static_cast<void>(open_place(text)); }) == refusal);
        if (!text.starts_with("s3://")) {
            CHECK(refusal_of([&] { static_cast<void>(local_storage{text}); }) == refusal);
        }
    }
    CHECK_THROWS_AS(local_storage{"s3://bucket/run"}, unsupported);
}

TEST_CASE("open_storage: a disk cache does not change the bucket, and ~ is the home folder there, too") {
    const smdebug_test::temporary_folder folder;
    const smdebug_test::environment_variable home{"HOME", folder.path()};
    const storage_options on_disk{.s3 = near, .cache_folder = "~/cache"};
    CHECK(open_storage("s3://bucket/run", on_disk).name() == "s3://bucket/run");
    CHECK(open_storage("s3://bucket/run", {.s3 = near, .cache_folder = folder.path()}).name() == "s3://bucket/run");
    const smdebug_test::environment_variable variable{"SMDEBUG_CACHE_DIR", "gs://x"};
    CHECK_THROWS_AS(static_cast<void>(open_storage("s3://bucket/run", {.s3 = near})), value_error);
    CHECK(open_storage("s3://bucket/run", on_disk).name() == "s3://bucket/run");  // the option goes before it
}

TEST_CASE("open_storage: remote objects have no views, and their ranges are read in batches") {
    const any_storage bucket = open_storage("s3://bucket/run", {.s3 = near});
    CHECK_FALSE(bucket.abilities().views);
    CHECK(bucket.abilities().batches_ranges);
    CHECK(open_storage("/some/folder").abilities().views);
    CHECK_FALSE(open_storage("/some/folder").abilities().batches_ranges);
}

TEST_CASE("open_place: a folder can do all that a disk can, objects in S3 keep no claims") {
    const smdebug_test::temporary_folder folder;
    any_storage place = open_place("file://" + folder.path() + "/a/");
    CHECK(place.place() == place_kind::missing);
    place.write("key", as_bytes("x"));
    CHECK(place.place() == place_kind::folder);
    CHECK(place.abilities().claims);
    CHECK(place.abilities().removes);
    CHECK(smdebug_test::file_content(folder.path() + "/a/key") == "x");
    const any_storage bucket = open_place("s3://bucket/run", near);
    CHECK_FALSE(bucket.abilities().claims);
    CHECK(bucket.abilities().removes);
}

TEST_CASE("opener_of: a place of any kind by its path, another storage is given the text as it is") {
    static_assert(named_storage<local_storage> && named_storage<memory_storage> && named_storage<any_storage>);
    static_assert(!named_storage<smdebug_test::writable_archetype>);
    class reader : public smdebug_test::storage_archetype {
    public:
        explicit reader(const std::string& /*text*/) : storage_archetype(memory_storage{}) {}
    };
    static_assert(std::constructible_from<reader, std::string> && !named_storage<reader>);
    static_assert(opener_of<reader>() == nullptr);
    CHECK(opener_of<any_storage>()("runs/a/").name() == "runs/a");
    CHECK(opener_of<local_storage>()("runs/a/").name() == "runs/a");
    CHECK(opener_of<memory_storage>()("file:///~").name() == "memory:file:///~");
}
