// Archives of each kind behave like other storages.
#include <smdebug/archive/archive_storage.hpp>

#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;
using archived = archive_storage;

namespace {

memory_storage holding(const std::string& archive) {
    memory_storage store;
    store.write("run.tar", as_bytes(archive));
    return store;
}

archived opened(const std::string& archive, std::string_view folder = {}, const archive_options& options = {}) {
    return archived{holding(archive), "run.tar", folder, options};
}

}  // namespace

TEST_CASE("archive_storage: a tar is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(tar_of(objects)); });
}
TEST_CASE("archive_storage: a folder of a tar is a storage") {
    check_storage_conformance([](const object_map& objects) {
        return opened(tar_of(object_map{{"other/x", "1"}, {"job.a", "2"}}).substr(0, 2048) + tar_of(objects, "./job/"),
                      "job");
    });
}
TEST_CASE("archive_storage: a tar.gz is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(gzip_of(tar_of(objects))); });
}
TEST_CASE("archive_storage: a tar.gz of many members is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(gzip_of(tar_of(objects), 10'000)); });
}
TEST_CASE("archive_storage: a tar.zst is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(zstd_of(tar_of(objects))); });
}
TEST_CASE("archive_storage: a tar.zst of many frames is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(zstd_of(tar_of(objects), 10'000)); });
}
TEST_CASE("archive_storage: a zip, stored, is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(zip_of(objects, 0)); });
}
TEST_CASE("archive_storage: a zip, deflated, is a storage") {
    check_storage_conformance([](const object_map& objects) { return opened(zip_of(objects, 8)); });
}
TEST_CASE("archive_storage: a zip, by zstd, 64 bits, behind a program, is a storage") {
    check_storage_conformance(
        [](const object_map& objects) { return opened(zip_of(objects, 93, true, "#!/bin/sh\n")); });
}
TEST_CASE("archive_storage: a tar on disk is a storage") {
    const temporary_folder folder;
    check_storage_conformance([&](const object_map& objects) {
        std::ofstream{folder.path() + "/a.tar", std::ios::binary} << tar_of(objects);
        return archive_storage{local_storage{folder.path()}, "a.tar"};
    });
}
TEST_CASE("archive_storage: an archive in an archive is a storage") {
    check_storage_conformance([](const object_map& objects) {
        return archive_storage{opened(tar_of(object_map{{"inner.tgz", gzip_of(tar_of(objects))}})), "inner.tgz"};
    });
}

TEST_CASE("archive_storage: what is not there, and what is no archive") {
    CHECK_THROWS_AS(archived(memory_storage{}, "run.tar"), not_found);
    CHECK_THROWS_AS(opened(""), unsupported);
    CHECK_THROWS_AS(opened("text"), unsupported);
    CHECK_THROWS_AS(opened(std::string(5000, 'x')), unsupported);
    CHECK_THROWS_AS(opened(gzip_of("text")), unsupported);
    CHECK_THROWS_AS(opened(tar_of(object_map{{"a", "1"}}), "b"), not_found);
    CHECK(opened(tar_end()).list("", "").empty());
    const archived store = opened(tar_of(object_map{{"job/a", "1"}}), "/job/");
    CHECK(store.name() == "memory:run/run.tar!/job");
    CHECK_THROWS_AS(static_cast<void>(store.read("b")), not_found);
    CHECK(text_of(store.read("a")) == "1");
}

TEST_CASE("archive_storage: an archive that changes while it is read says so") {
    const std::string first = tar_of(object_map{{"a", "1"}});
    for (const std::string& second : {tar_of(object_map{{"a", "2"}}), first + "x", std::string{}}) {
        memory_storage store = holding(first);
        const archived open{store, "run.tar"};
        CHECK(text_of(open.read("a")) == "1");
        store.write("run.tar", as_bytes(second));
        CHECK_THROWS_AS(static_cast<void>(open.read("a")), unavailable);
        store.remove("run.tar");
        CHECK_THROWS_AS(static_cast<void>(open.read("a")), unavailable);
    }
}

TEST_CASE("archive_storage: runs are found by their folders") {
    const auto runs = [](const std::vector<std::string>& keys) {
        object_map objects;
        for (const std::string& key : keys) {
            objects.emplace(key, "x");
        }
        return opened(tar_of(objects)).runs();
    };
    using texts = std::vector<std::string>;
    CHECK(runs({"index/000000000/000000000000_worker_0.json"}) == texts{""});
    CHECK(runs({"b/collections/000000000/worker_0_collections.json",
                "a/x/events/000000000000/000000000000_worker_0.tfevents", "a/index/notes.txt"}) == texts{"a/x", "b"});
    CHECK(runs({"events.txt", "myindex/000000000/a"}).empty());
}

TEST_CASE("archive_storage: damage is reported with its place, and the files around it are read") {
    std::string archive = tar_of(object_map{{"a", "1"}, {"b", "2"}, {"c", "3"}});
    archive[1024] ^= 1;  // in b's head
    const archived store = opened(archive);
    CHECK(store.list("", "") == std::vector<std::string>{"a", "c"});
    CHECK(store.damage() == std::vector<std::string>{"at byte 1024: a head is damaged"});
    CHECK(opened(tar_of(object_map{{"a", "1"}})).damage().empty());
}
