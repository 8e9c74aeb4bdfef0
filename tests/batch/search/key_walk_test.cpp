#include <smdebug/batch/search/folder_walk.hpp>

#include "support/counting_storage.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::found_place;
using texts = std::vector<std::string>;

namespace {

constexpr byte_view no_bytes{};

memory_storage with_keys(const texts& keys) {
    memory_storage store;
    for (const std::string& key : keys) {
        store.write(key, no_bytes);
    }
    return store;
}

void make_run(memory_storage& store, const std::string& path, std::size_t files = 1) {
    for (std::size_t i = 0; i < files; ++i) {
        store.write(path + "index/000000000/" + std::to_string(1'000'000 + i) + "_worker_0.json", no_bytes);
    }
    store.write(path + "collections/000000000/worker_0_collections.json", no_bytes);
}

texts walked(detail::key_walk walk) {
    texts all;
    while (const std::optional<found_place> found = walk.next()) {
        REQUIRE(found->what != found_place::kind::error);
        CHECK((found->what == found_place::kind::archive) == found->path.ends_with(".tar"));
        all.push_back(found->path);
    }
    CHECK_FALSE(walk.next());
    return all;
}

texts walked(const any_storage& store, const std::string& prefix = {}, const std::string& pattern = {}) {
    return walked(detail::key_walk{store, {.prefix = prefix}, detail::path_pattern{pattern}});
}

}  // namespace

TEST_CASE("key_walk: runs and archives in the order of the keys, no other objects") {
    memory_storage store =
        with_keys({"notes", "x/deep.tar", "z.tar", "a/index/x", "m/000000000/y", "zz/events/000000001/e"});
    for (const char* run : {"a/", "a-b/", "x/r/", "\xC3\xA4 \n*/"}) {
        make_run(store, run);
    }
    CHECK(walked(any_storage{store}) == texts{"a-b", "a", "x/deep.tar", "x/r", "z.tar", "zz", "\xC3\xA4 \n*"});
    CHECK(walked(any_storage{plain_counting_storage{store}}) == walked(any_storage{store}));
    CHECK(walked(any_storage{store}, "x/") == texts{"x/deep.tar", "x/r"});
    CHECK(walked(any_storage{memory_storage{}}) == texts{});
    CHECK(walked(any_storage{store}, "none") == texts{});
}

TEST_CASE("key_walk: a job that has ended without saving anything is found by its mark, a profiler's marks are not") {
    memory_storage store =
        with_keys({"a/training_job_end.ts", "b/out/claim.smd", "b/out/training_job_end.ts",
                   "b/profiler-output/framework/training_job_end.ts", "b/profiler-output/system/training_job_end.ts",
                   "d/training_job_end.ts", "e/events.out.tfevents.1.x", "e/training_job_end.ts",
                   "f/training_job_end.ts", "f/z/collections/000000000/worker_0_collections.json"});
    make_run(store, "a/");
    make_run(store, "d/inner/");
    CHECK(walked(any_storage{store}) == texts{"a", "b/out", "d/inner", "f", "f/z"});
    CHECK(walked(any_storage{with_keys({"training_job_end.ts"})}) == texts{});  // the root is named itself
}

TEST_CASE("key_walk: a pattern covers what it matches, and all below it") {
    memory_storage store = with_keys({"b/job-3.tar", "b/other.tar"});
    for (const char* run : {"a/job-1/", "a/job-12/", "b/job-2/x/", "b/other/"}) {
        make_run(store, run);
    }
    CHECK(walked(any_storage{store}, {}, "*/job-?") == texts{"a/job-1", "b/job-2/x"});
    CHECK(walked(any_storage{store}, "b/", "b/*") == texts{"b/job-2/x", "b/job-3.tar", "b/other.tar", "b/other"});
    CHECK(walked(any_storage{store}, {}, "**").size() == 6);
    CHECK(walked(any_storage{store}, {}, "c*") == texts{});
}

TEST_CASE("key_walk: logs and checkpoints beside what is found are counted, those in a run are not") {
    memory_storage store = with_keys({"a/events.out.tfevents.1", "b/TRAIN/000000000000_worker_0.tfevents", "c/m.npz",
                                      "c/._m.npz", "run/a.pt", "run/deep/a.npy", "run/z.pt", "run-2/a.pt", "z.pt"});
    make_run(store, "run/");
    const auto counted = [&](const std::string& pattern) {
        detail::key_walk walk{any_storage{store}, {}, detail::path_pattern{pattern}};
        while (walk.next()) {
        }
        return walk.left_out();
    };
    CHECK(counted("") == detail::left_out_files{{".npz", 1}, {".pt", 2}, {".tfevents", 2}});
    CHECK(counted("[ab]") == detail::left_out_files{{".tfevents", 2}});
    make_run(store, "");
    CHECK(counted("").empty());
}

TEST_CASE("key_walk: the root may be a run, also where other keys come first") {
    memory_storage store;
    make_run(store, "");
    CHECK(walked(any_storage{store}) == texts{""});
    store.write("b/old.tar", no_bytes);
    make_run(store, "backup/");
    CHECK(walked(any_storage{store}) == texts{""});
    CHECK(walked(any_storage{store}, {}, "*") == texts{});
    CHECK(walked(any_storage{store}, {}, "**") == texts{""});
}

TEST_CASE("key_walk: paths are those in the folder in which it walks") {
    memory_storage store = with_keys({"a/b/0", "a/b.tar", "a0"});
    make_run(store, "a/b/");
    make_run(store, "a/b-1/x/");
    make_run(store, "a/c/");
    const any_storage erased{store};
    CHECK(walked(detail::key_walk{erased, {.root = "a/"}}) == texts{"b-1/x", "b.tar", "b", "c"});
    CHECK(walked(detail::key_walk{erased, {.root = "a/b/"}}) == texts{""});
    CHECK(walked(detail::key_walk{erased, {.root = "a/", .prefix = "b"}, detail::path_pattern{"b*"}}) ==
          texts{"b-1/x", "b.tar", "b"});
    CHECK(walked(detail::key_walk{any_storage{plain_counting_storage{store}}, {.root = "a/b/"}}) == texts{""});
}

TEST_CASE("key_walk: of a run in a run the inner one is not given where its keys come last") {
    memory_storage store;
    make_run(store, "a/");
    make_run(store, "a/z/");
    make_run(store, "a0/");
    CHECK(walked(any_storage{store}) == texts{"a", "a0"});
}

TEST_CASE("key_walk: a run of many keys costs one listing, many small runs share one") {
    memory_storage large;
    texts names;
    for (int i = 0; i < 40; ++i) {
        names.push_back("run_" + std::to_string(100 + i));
        make_run(large, names.back() + "/", i % 20 == 0 ? 5'000 : 1'200);
    }
    const counting_storage<> counted{large};
    CHECK(walked(any_storage{counted}) == names);
    CHECK(counted.calls().size() <= 40 + 8);

    memory_storage small;
    names.clear();
    for (int i = 0; i < 400; ++i) {
        names.push_back("run_" + std::to_string(1000 + i));
        make_run(small, names.back() + "/", 19);
    }
    const counting_storage<> counted_small{small};
    CHECK(walked(any_storage{counted_small}) == names);
    CHECK(counted_small.calls().size() <= 8 + 8);
}

TEST_CASE("key_walk: a run of 10,000 files in S3 costs a few requests") {
    fake_s3_options how;
    how.keys.reset();
    const fake_s3 server{how};
    for (std::size_t i = 0; i < 10'000; ++i) {
        server.put("all/big/index/000000000/" + std::to_string(1'000'000 + i) + "_worker_0.json", "");
    }
    server.put("all/big.tar", "");
    server.put("all/small/events/000000000/0_worker_0.tfevents", "");
    s3_options options = quick_options();
    options.anonymous = true;
    const any_storage store{s3_storage{"s3://bucket/all", options, server}};
    CHECK(walked(store) == texts{"big.tar", "big", "small"});
    CHECK(server.count() <= 8);
    server.forget_requests();
    CHECK(walked(any_storage{s3_storage{"s3://bucket/all/big", options, server}}) == texts{""});
    CHECK(server.count() == 1);
}

TEST_CASE("key_walk: a listing that fails is an error, and the end") {
    const counting_storage<> broken;
    broken.before_each([](const std::string&) { throw access_denied("no"); });
    detail::key_walk walk{any_storage{broken}, {}};
    CHECK_THROWS_AS(static_cast<void>(walk.next()), access_denied);
    CHECK_FALSE(walk.next());
}
