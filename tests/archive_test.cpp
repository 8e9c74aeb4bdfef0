// Runs in archives, opened by their paths: in folders and in S3.
#include <smdebug/archive.hpp>

#include "support/archive_builder.hpp"
#include "support/fake_s3.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// The files of a small run that has ended.
std::map<std::string, std::string> run_files(const std::string& folder = {}) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"gradients", {"gradient"}}});
    for (int step = 0; step < 5; ++step) {
        build.step({.step = 10 * step, .tensors = {tensor_of<float>("gradient", {static_cast<float>(step), 1})}});
    }
    build.end();
    std::map<std::string, std::string> files;
    for (const std::string& key : store.list("", "")) {
        files.emplace(folder + key, as_text(store.read(key).view()));
    }
    return files;
}

template <class Trial>
void check_run(const Trial& run) {
    CHECK(run.steps().size() == 5);
    CHECK(run.loaded_all_steps());
    CHECK(run.tensor("gradient").template value<float>(30)(0) == 3);
    CHECK(invoke_rule(rules::vanishing_gradient{}, run).evaluated == 5);
    std::size_t visited = 0;
    for_each_tensor(run, {}, reduction_set{reduction::mean}, [&](const reduced_tensor&) { ++visited; }, {.threads = 2});
    CHECK(visited == 5);
}

}  // namespace

TEST_CASE("archive.hpp: a run is opened in an archive of any kind, whatever its name") {
    const temporary_folder folder;
    const std::string tar = tar_of(run_files());
    const std::map<std::string, std::string> archives{
        {"a.tar", tar}, {"a.tar.gz", gzip_of(tar)}, {"a.tar.zst", zstd_of(tar, 1000)}, {"a.zip", zip_of(run_files())},
        {"a.tgz", tar}, {"noname", gzip_of(tar)}};
    for (const auto& [name, bytes] : archives) {
        CAPTURE(name);
        folder.write(name, bytes);
        check_run(create_trial(folder.path() + "/" + name));
    }
    CHECK(create_trial(folder.path() + "/a.tar").path() == folder.path() + "/a.tar");
}

TEST_CASE("archive.hpp: of several runs in an archive one is named") {
    const temporary_folder folder;
    auto files = run_files("jobs/a/");
    files.merge(run_files("jobs/b/"));
    folder.write("two.tar", tar_of(files));
    check_run(create_trial(folder.path() + "/two.tar!/jobs/b"));
    check_run(create_trial(folder.path() + "/two.tar!/jobs/a/"));
    const value_error several = caught<value_error>([&] { return create_trial(folder.path() + "/two.tar"); });
    CHECK(several.message().find("has 2 runs; name one of them: " + folder.path() + "/two.tar!/jobs/a, ") !=
          std::string_view::npos);
    CHECK_THROWS_AS(static_cast<void>(create_trial(folder.path() + "/two.tar!/jobs/c")), not_found);
    folder.write("one.tar", tar_of(run_files("deep/in/it/")));
    check_run(create_trial(folder.path() + "/one.tar"));
}

TEST_CASE("archive.hpp: what is no archive, and a damaged one") {
    const temporary_folder folder;
    folder.write("text.tar", "no archive");
    CHECK_THROWS_AS(static_cast<void>(create_trial(folder.path() + "/text.tar")), unsupported);
    CHECK_THROWS_AS(static_cast<void>(create_trial(folder.path() + "/none.tar")), not_found);
    folder.write("text", "no archive");
    CHECK_THROWS_AS(static_cast<void>(create_trial(folder.path() + "/text!/a")), unsupported);
    std::string tar = tar_of(run_files());
    tar.insert(0, tar_member({.name = "notes", .content = "1"}));
    tar[0] ^= 1;
    folder.write("damaged.tar", tar);
    CHECK_THROWS_AS(static_cast<void>(create_trial(folder.path() + "/damaged.tar")), corrupt_data);
    check_run(create_trial(folder.path() + "/damaged.tar", {}, {.archive = {.skip_damaged = true}}));
}

TEST_CASE("archive.hpp: an archive in S3 is read in place") {
    const std::string tar = tar_of(run_files());
    const std::map<std::string, std::string> archives{
        {"a.tar", tar}, {"a.tar.gz", gzip_of(tar)}, {"a.zip", zip_of(run_files())}};
    const fake_s3 server{{.keys = {}}};
    s3_options options = quick_options();
    options.anonymous = true;
    for (const auto& [name, bytes] : archives) {
        CAPTURE(name);
        server.put("old/" + name, bytes);
        check_run(basic_trial{archive_storage{s3_storage{"s3://bucket/old", options, server}, name}});
    }
}
