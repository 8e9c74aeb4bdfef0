#include <smdebug/batch/search/name_pattern.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("plain_path_of: one form for one path") {
    CHECK(plain_path_of("runs/a") == "runs/a");
    CHECK(plain_path_of("./runs//a/./b/") == "runs/a/b");
    CHECK(plain_path_of("/") == "/");
    CHECK(plain_path_of("//a/") == "/a");
    CHECK(plain_path_of("./") == ".");
    CHECK(plain_path_of(".") == ".");
    CHECK(plain_path_of("../a/../b") == "../a/../b");
    CHECK(plain_path_of("file:///runs/a/") == "/runs/a");
    CHECK(plain_path_of("./~") == "./~");
    CHECK(plain_path_of("./s3:/x") == "./s3:/x");
    CHECK(plain_path_of("a:b/c") == "./a:b/c");
    CHECK(plain_path_of("runs.tar!/job/") == "runs.tar!/job");
    CHECK(plain_path_of("s3://bucket/a//b//") == "s3://bucket/a//b");
    CHECK(plain_path_of("s3://bucket/") == "s3://bucket");
    const smdebug_test::environment_variable home{"HOME", "/home/user/"};
    CHECK(plain_path_of("~") == "/home/user");
    CHECK(plain_path_of("~/a") == "/home/user/a");
    CHECK_THROWS_AS(static_cast<void>(plain_path_of("")), value_error);
    CHECK_THROWS_AS(static_cast<void>(plain_path_of("gs://x")), value_error);
}

TEST_CASE("split_address: a bucket, and what lies in it") {
    CHECK(split_address("s3://bucket/a/b").bucket == "s3://bucket");
    CHECK(split_address("s3://bucket/a/b").key == "a/b");
    CHECK(split_address("s3://bucket").bucket == "s3://bucket");
    CHECK(split_address("s3://bucket").key.empty());
}

TEST_CASE("whole_path_of: relative paths are those below the folder of the process") {
    const std::string here = std::filesystem::current_path().string();
    CHECK(whole_path_of("a") == here + "/a");
    CHECK(whole_path_of("./~") == here + "/~");
    CHECK(whole_path_of("/a") == "/a");
    CHECK(whole_path_of("s3://b/a") == "s3://b/a");
    CHECK(whole_path_of(".") == here);
}

TEST_CASE("run_key_of: one text for a run, however it is written; a link is resolved before a .. alone") {
    const smdebug_test::temporary_folder folder;
    const std::string at = std::filesystem::canonical(folder.path()).string();
    std::filesystem::create_directories(at + "/a/b");
    std::filesystem::create_directory_symlink(at + "/a/b", at + "/link");
    for (const auto& [written, key] : {std::pair<std::string, std::string>{"/a/../link", "/link"},
                                       {"//a/./b//", "/a/b"},
                                       {"/link/run", "/link/run"},
                                       {"/link/../run", "/a/run"},
                                       {"/a/..x/../..y", "/a/..y"},
                                       {"/missing/../run", "/run"}}) {
        CHECK(run_key_of(at + written) == at + key);
    }
    CHECK(run_key_of("file://" + at + "/a") == at + "/a");
    CHECK(run_key_of("/../a") == "/a");
    CHECK(run_key_of("s3://bucket/../a/") == "s3://bucket/../a");
}

TEST_CASE("split_at_archive: at the first archive's name that has a mark behind it") {
    const auto parts = split_at_archive("runs/*.tar!/job-?");
    REQUIRE(parts);
    CHECK(parts->archive == "runs/*.tar");
    CHECK(parts->inside == "job-?");
    CHECK(split_at_archive("a!/b.zip!")->archive == "a!/b.zip");
    CHECK(split_at_archive("b.zip!")->inside.empty());
    CHECK_FALSE(split_at_archive("a!/b"));
    CHECK_FALSE(split_at_archive("a.tar!b"));
}

TEST_CASE("split_at_wildcard: the folder before the first wildcard, and how names in it begin") {
    const auto check = [](const std::string& path, const std::string& root, const std::string& prefix,
                          const std::string& pattern) {
        CAPTURE(path);
        const rooted_pattern parts = split_at_wildcard(path);
        CHECK(parts.root == root);
        CHECK(parts.prefix == prefix);
        CHECK(parts.pattern == pattern);
    };
    check("runs/job-*/x", "runs", "job-", "job-*/x");
    check("*", ".", "", "*");
    check("/*", "/", "", "*");
    check("/a/b/{c,d}", "/a/b", "", "{c,d}");
    check("a\\*/b\\*[c]", "a*", "b", "b\\*[c]");
    check("s3://bucket/a-*", "s3://bucket", "a-", "a-*");
    check("s3://bucket/a/b/**", "s3://bucket/a/b", "", "**");
    CHECK_THROWS_AS(static_cast<void>(split_at_wildcard("s3://b*/a")), value_error);
}
