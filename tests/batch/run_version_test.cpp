#include <smdebug/batch/run_version.hpp>

#include "support/archive_builder.hpp"
#include "support/counting_storage.hpp"
#include "support/fake_s3.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string index_key = "index/000000000/000000000000_worker_0.json";
const std::string event_key = "events/000000000000/000000000000_worker_0.tfevents";

memory_storage a_run() {
    memory_storage store;
    store.write(index_key, as_bytes("12345"));
    store.write(event_key, as_bytes("1234567"));
    store.write("model.pt", as_bytes("others'"));
    return store;
}

// Waits until the clock has advanced, so that a file's next version differs.
void let_settle() { std::this_thread::sleep_for(std::chrono::milliseconds{60}); }

}  // namespace

TEST_CASE("run_version: the files of a run, with their sizes") {
    const memory_storage store = a_run();
    const auto seen = run_version(store);
    REQUIRE(seen);
    CHECK(seen->files == 2);
    CHECK(seen->bytes == 12);
    CHECK(seen->version.size() == 32);
    CHECK(run_version(store) == seen);
    CHECK(run_version(any_storage{store}) == seen);
    CHECK_FALSE(run_version(memory_storage{}).has_value());
}

TEST_CASE("run_version: another one whenever a file of the run is written, comes or goes, and for no other file") {
    memory_storage store = a_run();
    const auto first = run_version(store);
    store.write("model.pt", as_bytes("other"));
    store.write("old.tar.smdx", as_bytes("x"));
    store.write("checkpoints/000000000/x.json", as_bytes("x"));
    CHECK(run_version(store) == first);
    store.write(event_key, as_bytes("7654321"));
    const auto second = run_version(store);
    CHECK(second->version != first->version);
    CHECK(second->bytes == first->bytes);
    store.write("training_job_end.ts", as_bytes(""));
    const auto third = run_version(store);
    CHECK(third->version != second->version);
    CHECK(third->files == 3);
    store.remove("training_job_end.ts");
    CHECK(run_version(store) == second);
}

TEST_CASE("run_version: by sizes and times where a storage lists no versions") {
    const memory_storage store = a_run();
    const plain_counting_storage plain{store};
    const auto seen = run_version(plain);
    REQUIRE(seen);
    CHECK(seen->bytes == 12);
    CHECK(plain.calls().size() == 3);
    CHECK(run_version(any_storage{plain}) == seen);
    memory_storage other = store;
    other.write(event_key, as_bytes("12345678"));
    CHECK(run_version(plain)->version != seen->version);
}

TEST_CASE("run_version: of a folder, by sizes and times of its files") {
    const temporary_folder folder;
    folder.write("run/" + index_key, "{}");
    folder.write("run/" + event_key, "abc");
    let_settle();
    const std::string path = folder.path() + "/run";
    const auto seen = run_version_at(path);
    REQUIRE(seen);
    CHECK(seen->files == 2);
    CHECK(seen->bytes == 5);
    CHECK(run_version_at(path + "/") == seen);
    CHECK(run_version(local_storage{path}) == seen);
    folder.write("run/notes", "x");
    CHECK(run_version_at(path) == seen);
    folder.write("run/" + event_key, "abd");
    CHECK(run_version_at(path)->version != seen->version);
    CHECK_FALSE(run_version_at(folder.path() + "/none").has_value());
    CHECK_THROWS_AS(static_cast<void>(run_version_at("gs://x")), value_error);
}

TEST_CASE("run_version: of a run in an archive, by the archive's file, which is not opened") {
    const temporary_folder folder;
    folder.write("a.tar", "no archive at all");
    let_settle();
    const std::string path = folder.path() + "/a.tar";
    const auto whole = run_version_at(path);
    REQUIRE(whole);
    CHECK(whole->bytes == 17);
    CHECK(run_version_at(path) == whole);
    const auto inner = run_version_at(path + "!/job-1");
    REQUIRE(inner);
    CHECK(inner->version != whole->version);
    CHECK(inner->bytes == 17);
    CHECK(run_version_at(path + "!/job-2")->version != inner->version);
    folder.write("a.tar", "no archive at all");
    CHECK(run_version_at(path + "!/job-1")->version != inner->version);
    CHECK_FALSE(run_version_at(folder.path() + "/none.tar!/x").has_value());
}

TEST_CASE("run_version: of a run in S3 by ETags, for a request a thousand files") {
    fake_s3_options how;
    how.keys.reset();
    const fake_s3 server{how};
    for (std::size_t i = 0; i < 2'500; ++i) {
        server.put("run/index/000000000/" + std::to_string(10'000 + i) + "_worker_0.json", "{}");
    }
    s3_options options = quick_options();
    options.anonymous = true;
    const any_storage store{s3_storage{"s3://bucket/run", options, server}};
    const auto seen = run_version(store);
    REQUIRE(seen);
    CHECK(seen->files == 2'500);
    CHECK(seen->bytes == 5'000);
    CHECK(server.count() == 3);
    CHECK(run_version(store) == seen);
    server.put("run/index/000000000/12000_worker_0.json", "[]");
    CHECK(run_version(store)->version != seen->version);
}

TEST_CASE("run_version: a storage that fails is an error") {
    const counting_storage<> broken{a_run()};
    broken.before_each([](const std::string&) { throw access_denied("no"); });
    CHECK_THROWS_AS(static_cast<void>(run_version(broken)), access_denied);
}
