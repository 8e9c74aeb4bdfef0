#include <program/scan_source.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/scan_arguments.hpp>
#include <smdebug/archive.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;
using cli::detail::known_results;
using cli::detail::scan_arguments;
using cli::detail::scan_source;

namespace {

/// The paths that a source gives, "?" before those that could not be searched.
texts paths_of(scan_source source) {
    texts paths;
    while (const auto run = source.next()) {
        paths.push_back((run->error.empty() ? "" : "?") + run->path);
    }
    return paths;
}

std::map<std::string, std::string> files_of_runs(const texts& runs) {
    std::map<std::string, std::string> files;
    for (const std::string& run : runs) {
        files.emplace(run + "/collections/000000000/worker_0_collections.json", "{}");
        files.emplace(run + "/training_job_end.ts", "");
    }
    return files;
}

}  // namespace

TEST_CASE("scan_source: arguments, then a list; folders are searched, unreadable ones are reported") {
    const temporary_folder folder;
    for (const auto& [name, content] : files_of_runs({"jobs/b", "jobs/a", "other"})) {
        std::filesystem::create_directories(std::filesystem::path{folder.path() + "/" + name}.parent_path());
        folder.write(name, content);
    }
    const std::string at = folder.path() + "/";
    const scan_arguments args{.check = {.runs = {at + "other/", at + "none*"}}, .list = "runs.txt"};
    std::istringstream list{"# jobs\n" + at + "jobs\n" + at + "other\n\n" + at + "missing\n"};
    CHECK(paths_of({args, &list}) ==
          texts{at + "other", "?" + at + "none*", at + "jobs/a", at + "jobs/b", at + "missing"});
}

TEST_CASE("scan_source: archives whose runs can be listed are split, one stream is one piece of work") {
    const temporary_folder folder;
    folder.write("two.tar", tar_of(files_of_runs({"x", "y"})));
    folder.write("two.tar.gz", gzip_of(tar_of(files_of_runs({"x", "y"}))));
    const std::string at = folder.path() + "/";
    const scan_arguments args{.check = {.runs = {at + "two.tar", at + "two.tar.gz", at + "two.tar.gz!/y"}}};
    CHECK(paths_of({args, nullptr}) ==
          texts{at + "two.tar!/x", at + "two.tar!/y", at + "two.tar.gz", at + "two.tar.gz!/y"});
}

TEST_CASE("scan_source: each run is in one shard, and stays there") {
    texts runs;
    for (int i = 0; i < 200; ++i) {
        runs.push_back("/nowhere/run" + std::to_string(i));
    }
    std::multiset<std::string> all;
    for (std::uint64_t shard = 1; shard <= 3; ++shard) {
        const scan_arguments args{.check = {.runs = runs}, .shard = run_shard{shard, 3}};
        const texts some = paths_of({args, nullptr});
        scan_source source{args, nullptr};
        while (const auto run = source.next()) {
            CHECK(run->path == runs[run->place]);  // its place in the whole list
        }
        CHECK(some.size() > 30);
        all.insert(some.begin(), some.end());
    }
    CHECK(std::equal(all.begin(), all.end(), std::multiset<std::string>(runs.begin(), runs.end()).begin()));
    CHECK(all.size() == runs.size());
}

TEST_CASE("scan_source: a run comes with the version at which it is done; an archive only if all of it is done") {
    const temporary_folder folder;
    const std::string archive = folder.path() + "/two.tar.gz";
    folder.write("two.tar.gz", gzip_of(tar_of(files_of_runs({"x", "y"}))));
    std::this_thread::sleep_for(std::chrono::milliseconds{60});  // what is newer has no version to be known by
    const scan_arguments args{.check = {.runs = {"/nowhere/a", archive}}};
    std::vector<std::pair<std::string, std::string>> stored;
    for (const char* run : {"x", "y"}) {
        const std::string path = archive + "!/" + run;
        stored.emplace_back(path, cli::detail::version_in_archive(path, 2, {}));
        CHECK(stored.back().second.ends_with("/2"));
    }
    std::size_t unchanged = 0;
    const auto given_with = [&](const auto& in_archive) {
        unchanged = 0;
        scan_source source{args,
                           nullptr,
                           {.version_of = [](const std::string&) { return "v7"; },
                            .in_archive = [&](const std::string&) { return in_archive; },
                            .unchanged = [&](const texts& runs) { unchanged += runs.size(); }}};
        texts paths;
        while (const auto run = source.next()) {
            paths.push_back(run->path + " " + run->version);
        }
        return paths;
    };
    CHECK(given_with(stored) == texts{"/nowhere/a v7"});
    CHECK(unchanged == 2);
    auto some = stored;
    some.pop_back();
    CHECK(given_with(some) == texts{"/nowhere/a v7", archive + " "});
    auto changed = stored;
    changed.back().second = "0/2";
    CHECK(given_with(changed) == texts{"/nowhere/a v7", archive + " "});
    stored.clear();
    CHECK(given_with(stored) == texts{"/nowhere/a v7", archive + " "});
    CHECK(unchanged == 0);
}
