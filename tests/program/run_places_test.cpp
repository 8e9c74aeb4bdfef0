#include <program/run_places.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"

#include <program/runs.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::map<std::string, std::string> golden_files(const std::string& name, const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{golden(name)}) {
        if (entry.is_regular_file()) {
            std::ifstream file{entry.path(), std::ios::binary};
            files.emplace(folder + entry.path().lexically_relative(golden(name)).generic_string(),
                          std::string{std::istreambuf_iterator<char>{file}, {}});
        }
    }
    return files;
}

texts paths_of(const std::string& path) {
    texts paths;
    for (const cli::detail::run_place& place : cli::detail::places_of(path, {}).runs) {
        paths.push_back(place.path);
    }
    return paths;
}

}  // namespace

TEST_CASE("places_of: a run stands for itself, an archive for all runs in it") {
    const temporary_folder folder;
    auto files = golden_files("torch_mlp", "a/");
    files.merge(golden_files("scalars", "b/"));
    const std::string two = folder.path() + "/two.tgz";
    folder.write("two.tgz", gzip_of(tar_of(files)));
    folder.write("one.zip", zip_of(golden_files("scalars", "deep/")));
    folder.write("text", "x");
    CHECK(paths_of(golden("torch_mlp")) == texts{golden("torch_mlp")});
    CHECK(paths_of("/nowhere") == texts{"/nowhere"});
    CHECK(paths_of(folder.path() + "/text") == texts{folder.path() + "/text"});
    CHECK(paths_of(two) == texts{two + "!/a", two + "!/b"});
    CHECK(paths_of(two + "!") == texts{two + "!/a", two + "!/b"});
    CHECK(paths_of(two + "!/b") == texts{two + "!/b"});
    CHECK(paths_of(folder.path() + "/one.zip") == texts{folder.path() + "/one.zip"});
}

TEST_CASE("for_each_run: every run of an archive; one that is damaged is an error behind what can be read") {
    const temporary_folder folder;
    auto files = golden_files("torch_mlp", "a/");
    files.merge(golden_files("scalars", "b/"));
    std::string archive = tar_of(files);
    archive.resize(archive.size() - 1024);  // without its end
    folder.write("cut.tar", archive);
    for (const bool skip : {false, true}) {
        captured run;
        texts seen;
        cli::detail::for_each_run({folder.path() + "/cut.tar"}, {.skip_damaged = skip}, run.to,
                                  [&](const std::string& path, const auto& opened) {
                                      CHECK_FALSE(opened.steps().empty());
                                      seen.push_back(path);
                                  });
        CHECK(seen == texts{folder.path() + "/cut.tar!/a", folder.path() + "/cut.tar!/b"});
        CHECK(contains(run.err.str(), "it ends without the two empty blocks"));
        CHECK(run.to.trouble() == !skip);
    }
}
