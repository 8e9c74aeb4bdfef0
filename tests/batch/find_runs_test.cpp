#include <smdebug/batch/find_runs.hpp>

#include "support/archive_builder.hpp"
#include "support/counting_storage.hpp"
#include "support/few_descriptors.hpp"
#include "support/given_text.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;
using objects = std::map<std::string, std::string>;

namespace {

const std::string index_file = "/index/000000000/000000000000_worker_0.json";

void make_run(const temporary_folder& folder, const std::string& path) { folder.write(path + index_file, "{}"); }

std::vector<run_finder::found> all_of(run_finder finder) {
    std::vector<run_finder::found> all;
    while (std::optional<run_finder::found> one = finder.next()) {
        CHECK(one->run.place == all.size());
        all.push_back(*std::move(one));
    }
    CHECK_FALSE(finder.next());
    return all;
}

// Paths, relative to the folder; "?" before errors, "+" before runs that are already open.
texts paths_of(const std::vector<run_finder::found>& all, const std::string& before = {}) {
    texts paths;
    for (const run_finder::found& one : all) {
        const bool is_below = !before.empty() && one.run.path.starts_with(before + "/");
        paths.push_back((one.run.error.empty() ? "" : "?") + std::string{one.store ? "+" : ""} +
                        (is_below ? one.run.path.substr(before.size() + 1) : one.run.path));
    }
    return paths;
}

texts found_in(const temporary_folder& folder, texts lines, run_finder::settings how = {}) {
    for (std::string& line : lines) {
        line.insert(0, folder.path() + "/");
    }
    return paths_of(all_of(run_finder{std::move(lines), std::move(how)}), folder.path());
}

// The keys of a bucket, for addresses in it.
struct bucket {
    memory_storage objects = {};
    counting_storage<> counted{objects};

    void make_run(const std::string& path, std::size_t files = 1) {
        for (std::size_t i = 0; i < files; ++i) {
            objects.write(path + "/index/000000000/" + std::to_string(1'000'000 + i) + "_worker_0.json", {});
        }
    }
    [[nodiscard]] texts found(texts lines) const {
        return paths_of(all_of(run_finder{std::move(lines), {.open_place = [this](std::string_view place) {
                                              CHECK(place == "s3://bucket");
                                              return any_storage{counted};
                                          }}}));
    }
};

}  // namespace

TEST_CASE("run_finder: a run is itself, in one form of its path, and so is what is not there") {
    const temporary_folder folder;
    make_run(folder, "a");
    make_run(folder, "a/copy");
    folder.write("file", "no archive");
    folder.write("empty/notes", "");
    CHECK(found_in(folder, {"a"}) == texts{"a"});
    CHECK(found_in(folder, {"./a//"}) == texts{"a"});
    CHECK(found_in(folder, {"none", "none.tar", "none.tar!/x", "file", "empty"}) ==
          texts{"none", "none.tar", "none.tar!/x", "file", "empty"});
    CHECK(paths_of(all_of(run_finder{{"file://" + folder.path() + "/a/"}, {}})) == texts{folder.path() + "/a"});
}

TEST_CASE("run_finder: the same run is given once, whatever the lines that lead to it") {
    const temporary_folder folder;
    make_run(folder, "runs/a");
    make_run(folder, "runs/b");
    CHECK(found_in(folder, {"runs/b", "runs/", "runs/./b", "runs//b/", "runs/*", "runs/**", "runs/b"}) ==
          texts{"runs/b", "runs/a"});
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const texts here = paths_of(all_of(run_finder{{"runs/a", folder.path() + "/runs/a", "./runs/a", "."}, {}}));
    std::filesystem::current_path(before);
    CHECK(here == texts{"runs/a", "runs/b"});
}

TEST_CASE("run_finder: patterns, in byte order; what is there as it is written is none") {
    const temporary_folder folder;
    for (const char* run :
         {"x/job-1", "x/job-2", "y/job-1", "y/deep/job-3", "[a]", "a", "a*", "with blank/r", "u\xC3\xA4"}) {
        make_run(folder, run);
    }
    folder.write("y/notes", "");
    folder.write("y/empty/f", "");
    CHECK(found_in(folder, {"*/job-?"}) == texts{"x/job-1", "x/job-2", "y/job-1"});
    CHECK(found_in(folder, {"y/*"}) == texts{"y/deep/job-3", "y/empty", "y/job-1"});
    CHECK(found_in(folder, {"**/job-[13]"}) == texts{"x/job-1", "y/deep/job-3", "y/job-1"});
    CHECK(found_in(folder, {"{y,x}/job-1"}) == texts{"x/job-1", "y/job-1"});
    CHECK(found_in(folder, {"y/**"}) == texts{"y/deep/job-3", "y/job-1"});
    CHECK(found_in(folder, {"[a]"}) == texts{"[a]"});
    CHECK(found_in(folder, {"a*"}) == texts{"a*"});
    CHECK(found_in(folder, {"[a]*"}) == texts{"a", "a*"});
    CHECK(found_in(folder, {"with*/?"}) == texts{"with blank/r"});
    CHECK(found_in(folder, {"u?"}) == texts{"u\xC3\xA4"});
    CHECK(found_in(folder, {"y/empty/**"}) == texts{"?y/empty/**"});
}

TEST_CASE("run_finder: a pattern that matches nothing is an error that says so, and the rest goes on") {
    const temporary_folder folder;
    make_run(folder, "a");
    const auto all =
        all_of(run_finder{{folder.path() + "/x*", "gs://bucket/x", "", "s3://b*/x", folder.path() + "/a"}, {}});
    REQUIRE(all.size() == 5);
    CHECK(contains(all[0].run.error, "no run, folder or archive matches " + folder.path() + "/x*"));
    CHECK(contains(all[1].run.error, "is not a path of a run"));
    CHECK(all[1].run.path == "gs://bucket/x");
    CHECK(contains(all[2].run.error, "is empty"));
    CHECK(contains(all[3].run.error, "name the bucket"));
    CHECK(all[4].run.error.empty());
}

TEST_CASE("run_finder: lines of a list, with a bad one named by its number") {
    const temporary_folder folder;
    make_run(folder, "new\nline/r");
    std::istringstream text{"# runs\n\n" + folder.path() + "/new?line\n" + std::string(1, '\0') + "\nnone\n"};
    run_list list{text, "runs.txt"};
    const auto all = all_of(run_finder{[&] { return list.next(); }});
    REQUIRE(all.size() == 3);
    CHECK(all[0].run.path == folder.path() + "/new\nline/r");
    CHECK(all[1].run.path == "line 4 of runs.txt");
    CHECK(contains(all[1].run.error, "line 4 of runs.txt has a byte 0"));
    CHECK(all[2].run.path == "none");
}

TEST_CASE("run_finder: a huge list is read line by line") {
    std::uint64_t asked = 0;
    run_finder finder{[&] { return std::optional{"/nowhere/run_" + std::to_string(asked++)}; }};
    for (std::uint64_t i = 0; i < 2'000; ++i) {
        REQUIRE(finder.next()->run.path == "/nowhere/run_" + std::to_string(i));
        REQUIRE(asked == i + 1);
    }
}

TEST_CASE("run_finder: each run in an archive, open already; one that was named; by a pattern") {
    const temporary_folder folder;
    const objects two{{"x-1" + index_file, "{}"}, {"x-2" + index_file, "{}"}, {"y" + index_file, "{}"}};
    folder.write("all/two.tgz", gzip_of(tar_of(two)));
    folder.write("all/one.zip", zip_of(objects{{"deep" + index_file, "{}"}}));
    folder.write("all/data.tar", tar_of(objects{{"notes", "x"}}));
    folder.write("all/false.tar", "no archive");
    make_run(folder, "all/run");
    CHECK(found_in(folder, {"all/two.tgz"}) == texts{"+all/two.tgz!/x-1", "+all/two.tgz!/x-2", "+all/two.tgz!/y"});
    CHECK(found_in(folder, {"all/two.tgz!/y"}) == texts{"+all/two.tgz!/y"});
    CHECK(found_in(folder, {"all/two.tgz!/z"}) == texts{"all/two.tgz!/z"});
    CHECK(found_in(folder, {"all/two.tgz!/x-?", "all/two.tgz!"}) ==
          texts{"+all/two.tgz!/x-1", "+all/two.tgz!/x-2", "+all/two.tgz!/y"});
    CHECK(found_in(folder, {"all/*.tgz!/x-[2]"}) == texts{"+all/two.tgz!/x-2"});
    CHECK(found_in(folder, {"all/*.tgz!/none*"}) == texts{"?all/*.tgz!/none*"});
    CHECK(found_in(folder, {"all/one.zip", "all/one.zip!/deep"}) == texts{"+all/one.zip"});
    CHECK(found_in(folder, {"all"}) == texts{"all/false.tar", "+all/one.zip", "all/run", "+all/two.tgz!/x-1",
                                             "+all/two.tgz!/x-2", "+all/two.tgz!/y"});
    CHECK(found_in(folder, {"all/data.tar"}) == texts{"+all/data.tar"});
    CHECK(found_in(folder, {"all/*.tar"}) == texts{"+all/data.tar", "all/false.tar"});
    CHECK(found_in(folder, {"all"}, {.open_archives = false}) ==
          texts{"all/data.tar", "all/false.tar", "all/one.zip", "all/run", "all/two.tgz"});
}

TEST_CASE("run_finder: an archive below a folder that has no run is counted") {
    const temporary_folder folder;
    make_run(folder, "all/run");
    folder.write("all/log.tar", tar_of(objects{{"events.out.tfevents.1", "x"}}));
    run_finder finder{{folder.path() + "/all"}, {.open_archives = true}};
    while (finder.next()) {
    }
    CHECK(finder.left_out() == std::map<std::string, std::size_t, std::less<>>{{".tar", 1}});
}

TEST_CASE("run_finder: logs and checkpoints beside runs in S3 are counted, also where nothing matches a pattern") {
    bucket in;
    in.make_run("jobs/run");
    for (const char* key : {"jobs/log/events.out.tfevents.1", "jobs/run/model.pt", "other/a.npz"}) {
        in.objects.write(key, {});
    }
    const auto counted = [&](const std::string& line) {
        run_finder finder{{line}, {.open_place = [&](std::string_view) { return any_storage{in.counted}; }}};
        while (finder.next()) {
        }
        return finder.left_out();
    };
    using counts = std::map<std::string, std::size_t, std::less<>>;
    CHECK(counted("s3://bucket/jobs") == counts{{".tfevents", 1}});
    CHECK(counted("s3://bucket/*") == counts{{".npz", 1}, {".tfevents", 1}});
    CHECK(counted("s3://bucket/oth*") == counts{{".npz", 1}});
    CHECK(counted("s3://bucket/other").empty());  // it is given itself
}

TEST_CASE("run_finder: of a damaged archive the runs that can be listed, and an error behind them") {
    const temporary_folder folder;
    std::string cut = tar_of(objects{{"a" + index_file, "{}"}, {"b" + index_file, "{}"}});
    cut.resize(cut.size() - 1024);  // without its end
    folder.write("cut.tar", cut);
    folder.write("broken.tar.gz", gzip_of(cut).substr(0, 40));
    std::string one = tar_of(objects{{"a" + index_file, "{}"}});
    one.resize(one.size() - 1024);
    folder.write("one.tar", one);
    make_run(folder, "run");
    const auto all = all_of(run_finder{{folder.path()}, {}});
    CHECK(paths_of(all, folder.path()) ==
          texts{"?broken.tar.gz", "+cut.tar!/a", "+cut.tar!/b", "?cut.tar", "+one.tar!/a", "?one.tar", "run"});
    CHECK(contains(all[3].run.error, "is damaged"));
    CHECK(all[3].is_damage);
    CHECK_FALSE(all[6].is_damage);
}

TEST_CASE("run_finder: a folder that cannot be read is an error for it, and the rest goes on") {
    const temporary_folder folder;
    make_run(folder, "a");
    make_run(folder, "b/x");
    make_run(folder, "c");
    run_finder finder{{folder.path(), folder.path() + "/a"}, {}};
    CHECK(finder.next()->run.path == folder.path() + "/a");
    std::optional<run_finder::found> second;
    without_descriptors([&] {
        if (!second) {
            second = finder.next();
        }
    });
    REQUIRE(second);
    CHECK(second->run.path == folder.path() + "/b");
    CHECK(contains(second->run.error, "Too many open files"));
    CHECK(finder.next()->run.path == folder.path() + "/c");
    CHECK_FALSE(finder.next());
}

TEST_CASE("run_finder: an archive that cannot be opened is an error for it") {
    const temporary_folder folder;
    folder.write("a.tar", tar_of(objects{{"a" + index_file, "{}"}}));
    make_run(folder, "b");
    run_finder walked{{folder.path() + "/{a.tar,b}"},
                      {.open_place = [](std::string_view) -> any_storage { throw access_denied("no"); }}};
    const auto refused = walked.next();
    REQUIRE(refused);
    CHECK(refused->run.path == folder.path() + "/a.tar");
    CHECK(contains(refused->run.error, "AccessDenied"));
    CHECK(walked.next()->run.path == folder.path() + "/b");
}

TEST_CASE("run_finder: links that go round, and one to a run that is there anyway") {
    const temporary_folder folder;
    make_run(folder, "runs/a");
    std::filesystem::create_directory_symlink("a", folder.path() + "/runs/latest");
    std::filesystem::create_directory_symlink("..", folder.path() + "/runs/up");
    CHECK(found_in(folder, {"runs"}) == texts{"runs/a"});
    CHECK(found_in(folder, {"runs/latest"}) == texts{"runs/latest"});
}

TEST_CASE("run_finder: runs in S3, below a prefix and by patterns") {
    bucket in;
    for (const char* run :
         {"all/x/job-1", "all/x/job-12", "all/y/job-2", "all/y/job-2-b", "one", "odd/[a]", "odd/[a]-b", "odd/a"}) {
        in.make_run(run);
    }
    const std::string tar = tar_of(objects{{"p" + index_file, "{}"}, {"q" + index_file, "{}"}});
    in.objects.write("all/y/two.tar", as_bytes(tar));
    const std::string data = tar_of(objects{{"notes", "x"}});
    in.objects.write("all/y/data.tar", as_bytes(data));
    const std::string at = "s3://bucket/";
    CHECK(in.found({at + "one"}) == texts{at + "one"});
    CHECK(in.found({at + "one/"}) == texts{at + "one"});
    CHECK(in.found({at + "none/"}) == texts{at + "none"});
    CHECK(in.found({at + "none*"}) == texts{"?" + at + "none*"});
    const texts below{at + "all/x/job-1", at + "all/x/job-12",           at + "all/y/job-2-b",
                      at + "all/y/job-2", "+" + at + "all/y/two.tar!/p", "+" + at + "all/y/two.tar!/q"};
    CHECK(in.found({at + "all/"}) == below);
    CHECK(in.found({at + "all/**", at + "all"}) == below);
    CHECK(in.found({at + "all/*/job-?"}) == texts{at + "all/x/job-1", at + "all/y/job-2"});
    CHECK(in.found({at + "all/*/*.tar!/q*"}) == texts{"+" + at + "all/y/two.tar!/q"});
    CHECK(in.found({at + "all/y/d*.tar"}) == texts{"+" + at + "all/y/data.tar"});
    CHECK(in.found({at + "all/y/two.tar!/q"}) == texts{"+" + at + "all/y/two.tar!/q"});
    CHECK(in.found({at + "odd/[a]"}) == texts{at + "odd/[a]"});
    CHECK(in.found({at + "odd/[b]"}) == texts{"?" + at + "odd/[b]"});
    CHECK(in.found({at + "*"}).size() == 10);
    CHECK(in.found({"s3://bucket"}).size() == 10);
}

TEST_CASE("run_finder: a line in S3 costs a request where it is a run, whatever it has") {
    bucket in;
    in.make_run("runs/big", 10'000);
    in.make_run("runs/small");
    CHECK(in.found({"s3://bucket/runs/big", "s3://bucket/runs/small"}).size() == 2);
    CHECK(in.counted.calls().size() == 2);
    CHECK(in.found({"s3://bucket/runs/**"}).size() == 2);
    CHECK(in.counted.calls().size() <= 8);
}

TEST_CASE("run_finder: a bucket that cannot be listed is an error of its line") {
    bucket in;
    in.counted.before_each([](const std::string&) { throw access_denied("no"); });
    CHECK(in.found({"s3://bucket/a", "s3://bucket/b*", "s3://bucket/c.tar", "/nowhere"}) ==
          texts{"?s3://bucket/a", "?s3://bucket/b*", "?s3://bucket/c.tar", "/nowhere"});
}

TEST_CASE(
    "run_finder: a folder and a pattern for all that is in it find the same, and count the same files that are left "
    "out") {
    const temporary_folder folder;
    folder.write("run/index/000000000/000000000000_worker_0.json", "{}");
    folder.write("logs/events.out.tfevents.1.host", "");
    folder.write("ckpt/model.npz", "");
    folder.write("old.tar.bz2", "");
    folder.write("model.pt", "");
    folder.write("notes.txt", "");
    for (const std::string& line : {folder.path(), folder.path() + "/*"}) {
        CAPTURE(line);
        run_finder finder{{line}, run_finder::settings{}};
        std::set<std::string> found;
        while (const auto one = finder.next()) {
            CHECK(one->run.error.empty());
            found.insert(one->run.path.substr(folder.path().size()));
        }
        CHECK(found == std::set<std::string>{"/ckpt", "/logs", "/run"});
        CHECK(finder.left_out() == std::map<std::string, std::size_t, std::less<>>{{".pt", 1}, {".tar.bz2", 1}});
    }
}
