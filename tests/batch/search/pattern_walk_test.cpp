#include <smdebug/batch/search/folder_walk.hpp>

#include "support/few_descriptors.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using detail::found_place;
using texts = std::vector<std::string>;

namespace {

texts matched(const temporary_folder& folder, const std::string& pattern) {
    const std::string root = folder.path();
    detail::pattern_walk walk{root, detail::path_pattern{pattern}};
    texts all;
    while (const std::optional<found_place> found = walk.next()) {
        REQUIRE(found->what != found_place::kind::error);
        const std::string below = found->path == root ? "." : found->path.substr(root.size() + 1);
        CHECK((found->what == found_place::kind::archive) == below.ends_with(".zip"));
        all.push_back(below);
    }
    return all;
}

}  // namespace

TEST_CASE("pattern_walk: folders and archives, in byte order of their paths") {
    const temporary_folder folder;
    for (const char* file : {"x/job-1/f", "x/job-2/f", "x/job-10/f", "x/other/f", "x-1/job-1/f", "y/job-1",
                             ".h/job-1/f", "x/job-3.zip", "x/job-4.txt", "z/out/job-5/f", "z/out/deep/job-6/job-7/f"}) {
        folder.write(file, "");
    }
    CHECK(matched(folder, "*/job-?") == texts{"x-1/job-1", "x/job-1", "x/job-2"});
    CHECK(matched(folder, "*/job-*") == texts{"x-1/job-1", "x/job-1", "x/job-10", "x/job-2", "x/job-3.zip"});
    CHECK(matched(folder, "x*") == texts{"x", "x-1"});
    CHECK(matched(folder, "x/{job-10,other}") == texts{"x/job-10", "x/other"});
    CHECK(matched(folder, "*/out/job-5") == texts{"z/out/job-5"});
    CHECK(matched(folder, "x/job-3.z[i]p") == texts{"x/job-3.zip"});
    CHECK(matched(folder, "[x]/job-3.zip") == texts{"x/job-3.zip"});
    CHECK(matched(folder, "*/job-4.txt") == texts{});
    CHECK(matched(folder, "*/none") == texts{});
    CHECK(matched(folder, ".*/job-1") == texts{".h/job-1"});
    CHECK(matched(folder, "**/job-[567]") == texts{"z/out/deep/job-6", "z/out/job-5"});
    CHECK(matched(folder, "z/**/job-6") == texts{"z/out/deep/job-6"});
    CHECK(matched(folder, "**") == texts{"."});
    CHECK(matched(folder, "x/**") == texts{"x"});
    CHECK(matched(folder, "none/**") == texts{});
}

TEST_CASE("pattern_walk: matches that are logs and checkpoints are counted, resource forks are not") {
    const temporary_folder folder;
    for (const char* file : {"x/events.out.tfevents.1", "x/000000000000_worker_0.tfevents",
                             "x/000000000000_worker_1.tfevents", "x/model.npz", "x/._a.pt", "x/._events.out.tfevents.1",
                             "x/events.out.tfevents.1.profile-empty", "y/z/a.pt"}) {
        folder.write(file, "");
    }
    detail::pattern_walk walk{folder.path(), detail::path_pattern{"*/{*,.*}"}};
    while (walk.next()) {
    }
    CHECK(walk.left_out() == detail::left_out_files{{".npz", 1}, {".tfevents", 3}});
}

TEST_CASE("pattern_walk: links are followed by name, and not by **") {
    const temporary_folder folder;
    folder.write("a/b/f", "");
    std::filesystem::create_directory_symlink(".", folder.path() + "/a/self");
    CHECK(matched(folder, "a/*/b") == texts{"a/self/b"});
    CHECK(matched(folder, "**/b") == texts{"a/b"});
}

TEST_CASE("pattern_walk: names with blanks, line ends, characters of patterns, and bytes that are no UTF-8") {
    const temporary_folder folder;
    for (const char* file : {"a b/f", "a\nb/f", "a*b/f", "a[b/f",
                             "a\xFF"
                             "b/f",
                             "a\xC3\xA4"
                             "b/f"}) {
        folder.write(file, "");
    }
    CHECK(matched(folder, "a?b") == texts{"a\nb", "a b", "a*b", "a[b",
                                          "a\xC3\xA4"
                                          "b",
                                          "a\xFF"
                                          "b"});
    CHECK(matched(folder, "a\\*[b]") == texts{"a*b"});
}

TEST_CASE("pattern_walk: a folder that cannot be read is an error") {
    const temporary_folder folder;
    folder.write("a/x/f", "");
    detail::pattern_walk walk{folder.path(), detail::path_pattern{"*/*"}};
    std::optional<found_place> first;
    without_descriptors([&] {
        if (!first) {
            first = walk.next();
        }
    });
    REQUIRE(first);
    CHECK(first->what == found_place::kind::error);
    CHECK(first->path == folder.path());
    CHECK_FALSE(walk.next());
}
