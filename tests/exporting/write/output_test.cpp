#include <smdebug/exporting/write/output.hpp>

#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <sys/syscall.h>

#include <cerrno>

using namespace smdebug;
using namespace smdebug_test;
using detail::check_output_folder;
using detail::output_folder;
namespace fs = std::filesystem;

namespace {

constexpr auto is_ours = [](std::string_view key) { return key.ends_with(".ours"); };

std::size_t count_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

void put(const output_folder& to, const std::string& name) {
    fs::create_directories(fs::path{to.place() + "/" + name}.parent_path());
    std::ofstream{to.place() + "/" + name} << "new";
}

}  // namespace

TEST_CASE("output_folder: appears whole, with the folders above it; or not at all") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/a/b";
    {
        output_folder out{path};
        put(out, "sub/x.ours");
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(count_in(folder.path() + "/a") == 0);
    output_folder out{path + "/"};
    put(out, "sub/x.ours");
    out.take_its_place(false);
    CHECK(file_content(path + "/sub/x.ours") == "new");
    CHECK(count_in(folder.path() + "/a") == 1);
}

TEST_CASE("output_folder: an empty folder is replaced, another only if requested") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/out";
    fs::create_directory(path);
    {
        output_folder out{path};
        put(out, "1.ours");
        out.take_its_place(false);
    }
    {
        output_folder out{path};
        put(out, "2.ours");
        CHECK_THROWS_AS(out.take_its_place(false), run_exists);
    }
    CHECK(fs::exists(path + "/1.ours"));
    {
        output_folder out{path};
        put(out, "3.ours");
        fs::create_directory(path + "/deep");
        fs::create_symlink("/", path + "/deep/link");  // removed, not followed
        out.take_its_place(true);
    }
    CHECK_FALSE(fs::exists(path + "/1.ours"));
    CHECK(fs::exists(path + "/3.ours"));
    CHECK(count_in(path) == 1);
    CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("output_folder: replaces another folder even if the file system cannot exchange names") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/out";
    fs::create_directory(path);
    std::ofstream{path + "/1.ours"} << "old";
    const int status = status_of_child([&] {
        if (!refuse_calls({{SYS_renameat2, EINVAL}})) {
            return cannot_refuse;
        }
        output_folder out{path};
        put(out, "2.ours");
        out.take_its_place(true);
        return 0;
    });
    if (status == cannot_refuse) {
        skipped(lacking::set_up, "no seccomp");
        return;
    }
    CHECK(status == 0);
    CHECK_FALSE(fs::exists(path + "/1.ours"));
    CHECK(file_content(path + "/2.ours") == "new");
    CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("output_folder: a link to a folder stays a link") {
    const temporary_folder folder;
    fs::create_directory(folder.path() + "/real");
    fs::create_directory_symlink("real", folder.path() + "/link");
    output_folder out{folder.path() + "/link"};
    put(out, "1.ours");
    out.take_its_place(true);
    CHECK(fs::is_symlink(folder.path() + "/link"));
    CHECK(fs::exists(folder.path() + "/real/1.ours"));
}

TEST_CASE("check_output_folder: foreign files are never replaced") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/out";
    check_output_folder(path, false, is_ours);
    fs::create_directory(path);
    check_output_folder(path, false, is_ours);
    folder.write("out/sub/1.ours", "");
    CHECK_THROWS_AS(check_output_folder(path, false, is_ours), run_exists);
    check_output_folder(path, true, is_ours);
    folder.write("out/sub/thesis.tex", "");
    CHECK_THROWS_WITH_AS(check_output_folder(path, true, is_ours),
                         doctest::Contains("sub/thesis.tex in it is not what an export"), run_exists);
    CHECK_THROWS_WITH_AS(check_output_folder(path + "/sub/1.ours", true, is_ours), doctest::Contains("no folder"),
                         run_exists);
    CHECK_THROWS_WITH_AS(output_folder(path + "/sub/1.ours/x"), doctest::Contains("1.ours"), not_found);
}
