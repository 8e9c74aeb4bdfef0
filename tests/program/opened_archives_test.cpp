#include <program/opened_archives.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"

#include <program/runs.hpp>
#include <smdebug/archive.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("opened_archives: an archive is opened once for its runs, and again after others were used") {
    const temporary_folder folder;
    std::map<std::string, std::string> files;
    for (const char* run : {"a", "b"}) {
        files.emplace(std::string{run} + "/collections/000000000/worker_0_collections.json", "{}");
        files.emplace(std::string{run} + "/training_job_end.ts", "");
    }
    folder.write("jobs.tar", tar_of(files));
    folder.write("other.tar", tar_of(files));
    const std::string jobs = folder.path() + "/jobs.tar!/";
    cli::detail::opened_archives archives{1};
    const auto first = archives.place_of(jobs + "a", {});
    REQUIRE(first.store);
    CHECK(first.path == jobs + "a");
    CHECK(first.store->size("training_job_end.ts"));
    std::filesystem::remove(folder.path() + "/jobs.tar");
    CHECK(archives.place_of(jobs + "b", {}).store);  // it is open
    CHECK_FALSE(archives.place_of(jobs + "c", {}).store);
    CHECK(archives.place_of(folder.path() + "/other.tar!/a", {}).store);
    CHECK_THROWS_AS(static_cast<void>(archives.place_of(jobs + "b", {})), error);  // it is not open any more
    CHECK(first.store->size("training_job_end.ts"));
}

TEST_CASE("opened_archives: a path that is not a run in an archive is opened as usual") {
    const temporary_folder folder;
    folder.write("one.tar", tar_of(std::map<std::string, std::string>{{"index/x", ""}}));
    cli::detail::opened_archives archives{2};
    for (const std::string& path : {folder.path(), folder.path() + "/one.tar", std::string{"/nowhere"}}) {
        const auto place = archives.place_of(path, {});
        CHECK(place.path == path);
        CHECK_FALSE(place.store);
    }
}

TEST_CASE("opened_archives: threads that want runs of one archive wait for each other") {
    const temporary_folder folder;
    std::map<std::string, std::string> files;
    for (int i = 0; i < 20; ++i) {
        files.emplace("r" + std::to_string(i) + "/training_job_end.ts", "");
        files.emplace("r" + std::to_string(i) + "/collections/000000000/worker_0_collections.json", "{}");
    }
    folder.write("jobs.tar.gz", gzip_of(tar_of(files)));
    cli::detail::opened_archives archives{3};
    std::vector<int> opened(20);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 20; ++i) {
            threads.emplace_back([&, i] {
                const std::string path = folder.path() + "/jobs.tar.gz!/r" + std::to_string(i);
                opened[static_cast<std::size_t>(i)] = archives.place_of(path, {}).store.has_value() ? 1 : 0;
            });
        }
    }
    CHECK(opened == std::vector<int>(20, 1));
}
