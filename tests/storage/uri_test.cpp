#include <smdebug/storage/uri.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using smdebug::detail::archive_in;
using smdebug::detail::archive_path;
using smdebug::detail::is_in_s3;
using smdebug::detail::local_path;

TEST_CASE("ended_job_of: the folder of the mark, unless it is a profiler's") {
    using smdebug::detail::ended_job_of;
    CHECK(ended_job_of("training_job_end.ts") == "");
    CHECK(ended_job_of("a/b/training_job_end.ts") == "a/b");
    CHECK(ended_job_of("/training_job_end.ts") == "");
    for (const char* const key : {"", "a", "a/training_job_end.ts/b", "a/my_training_job_end.ts", "end.ts",
                                  "a/system/training_job_end.ts", "framework/training_job_end.ts"}) {
        CAPTURE(key);
        CHECK_FALSE(ended_job_of(key));
    }
}

TEST_CASE("is_in_s3: the path says where a run is") {
    CHECK(is_in_s3("s3://bucket/prefix"));
    CHECK(is_in_s3("s3://bucket/run.tar"));
    CHECK(is_in_s3("s3://"));
    for (const char* folder :
         {"runs/resnet", "/runs/s3:/x", "./s3:/x", "/", ".", "~", "file:///x", "file://s3://x", "a:b", "s3", "C:/x"}) {
        CAPTURE(folder);
        CHECK_FALSE(is_in_s3(folder));
    }
}

TEST_CASE("is_in_s3: another address, or a misspelt one, is refused by name, and not used as a folder") {
    for (const std::string text : {"s3:/bucket/run", "s3:bucket", "s3:", "S3://bucket/run", "gs://bucket/run",
                                   "https://host/run", "file:/runs/a", "file:a", "://a"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(
            static_cast<void>(is_in_s3(text)),
            ("SMDebugValueError: \"" + text +
             "\" is not a path of a run: a folder is written as its path or as file:///folder, a run in "
             "S3 as s3://bucket/prefix")
                .c_str(),
            value_error);
        CHECK_THROWS_AS(static_cast<void>(local_path(text)), value_error);
    }
    for (const char* text : {"", "file://"}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(local_path(text)),
                             "SMDebugValueError: the path of a run is empty: is a variable unset?", value_error);
    }
    CHECK_THROWS_AS(static_cast<void>(is_in_s3("")), value_error);
}

TEST_CASE("local_path: folders as users write them") {
    CHECK(local_path("runs/a") == "runs/a");
    CHECK(local_path("runs/a/") == "runs/a/");
    CHECK(local_path("file:///runs/a") == "/runs/a");
    CHECK(local_path("file://relative") == "relative");
    const smdebug_test::environment_variable home{"HOME", "/home/some"};
    CHECK(local_path("~/runs") == "/home/some/runs");
    CHECK(local_path("file://~/runs") == "/home/some/runs");
    CHECK(local_path("~") == "/home/some");
    CHECK(local_path("~other/runs") == "~other/runs");
    CHECK(local_path("runs/~") == "runs/~");
}

TEST_CASE("local_path: without HOME the folder of ~ is unknown") {
    for (const std::optional<std::string>& unset : {std::optional<std::string>{}, std::optional<std::string>{""}}) {
        const smdebug_test::environment_variable home{"HOME", unset};
        CHECK_THROWS_AS(static_cast<void>(local_path("~/runs")), value_error);
        CHECK(local_path("/runs") == "/runs");
    }
}

TEST_CASE("local_path: S3 is no folder, nor is an archive's name, unless a folder has it") {
    const smdebug_test::temporary_folder folder;
    folder.write("file.zip", "x");
    for (const std::string& text : {std::string{"s3://bucket/run"}, std::string{"runs/a.tar"}, std::string{"a.tar.gz"},
                                    std::string{"b.tgz"}, "file://" + folder.path() + "/file.zip"}) {
        CAPTURE(text);
        const unsupported thrown = smdebug_test::caught<unsupported>([&] { return local_path(text); });
        CHECK(thrown.where() == text);
    }
    std::filesystem::create_directory(folder.path() + "/folder.tar");
    CHECK(local_path(folder.path() + "/folder.tar") == folder.path() + "/folder.tar");
}

TEST_CASE("archive_in: by the name, by an existing file, and with the part after \"!/\"") {
    const smdebug_test::temporary_folder folder;
    folder.write("file", "x");
    folder.write("a!b", "x");
    std::filesystem::create_directory(folder.path() + "/folder.tar");
    const auto parts = [](const std::string& path) {
        const std::optional<archive_path> found = archive_in(path);
        return found ? found->folder + "|" + found->key + "|" + found->inside : std::string{};
    };
    CHECK(parts("runs/a.tar") == "runs|a.tar|");
    CHECK(parts("a.tar.zst") == ".|a.tar.zst|");
    CHECK(parts("/a.tgz/") == "/|a.tgz|");
    CHECK(parts("runs/a.tar!/b/c") == "runs|a.tar|b/c");
    CHECK(parts("runs/a.zip!") == "runs|a.zip|");
    CHECK(parts("file:///runs/a.tzst!/b") == "/runs|a.tzst|b");
    CHECK(parts("s3://bucket/a.tar.gz") == "s3://bucket|a.tar.gz|");
    CHECK(parts("s3://bucket/jobs/a.zip!/b") == "s3://bucket/jobs|a.zip|b");
    CHECK(parts(folder.path() + "/file") == folder.path() + "|file|");
    CHECK(parts(folder.path() + "/file!/b") == folder.path() + "|file|b");
    CHECK(parts(folder.path() + "/a!b") == folder.path() + "|a!b|");
    CHECK_FALSE(archive_in(folder.path() + "/file")->is_named_so);
    for (const std::string& none : {std::string{"runs/a"}, folder.path() + "/folder.tar", folder.path(),
                                    std::string{"s3://bucket/run"}, std::string{"a/b!/c"}, std::string{"a.tar!b"}}) {
        CAPTURE(none);
        CHECK(parts(none).empty());
    }
    CHECK_THROWS_AS(static_cast<void>(archive_in("")), value_error);
}
