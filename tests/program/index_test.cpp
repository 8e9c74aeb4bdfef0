#include <program/index.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/open_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::map<std::string, std::string> files(unsigned seed) {
    std::mt19937_64 random{seed};
    std::string noise;
    while (noise.size() < (std::size_t{3} << 19U)) {
        noise += little(random());
    }
    return {{"events/000000000000/0.tfevents", noise}, {"index/000000000/0.json", "{}"}};
}

}  // namespace

TEST_CASE("index: an index is written beside each archive, and is what opens it") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run.tgz";
    folder.write("run.tgz", gzip_of(tar_of(files(1))));
    captured run;
    CHECK(cli::detail::write_indexes({.archives = {path}}, run.to) == cli::exit_ok);
    CHECK(run.err.str().empty());
    const auto bytes = std::filesystem::file_size(path + ".smdx");
    CHECK(run.out.str() == "wrote " + path + ".smdx: " + std::to_string(bytes) + " bytes for 2 files\n");
    // Other bytes with the same size, time and ends, which are not checked: the index was trusted.
    const auto written = std::filesystem::last_write_time(path);
    const std::string archive = file_content(path);
    std::string other = archive;
    other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 1);
    folder.write("run.tgz", other);
    std::filesystem::last_write_time(path, written);
    CHECK(open_storage(path).list("", "").size() == 2);
    // It is written anew whatever lies there.
    folder.write("run.tgz", archive);
    std::filesystem::last_write_time(path, written + std::chrono::seconds{2});
    const std::string before = file_content(path + ".smdx");
    CHECK(cli::detail::write_indexes({.archives = {path + "!"}}, run.to) == cli::exit_ok);
    CHECK(file_content(path + ".smdx") != before);
}

TEST_CASE(
    "index: what needs none gets none; what is no archive, or damaged, is an error and does not lose the others") {
    const temporary_folder folder;
    const std::string in = folder.path() + "/";
    const std::string tar = tar_of(files(1));
    folder.write("small.tgz", gzip_of(tar_of(std::map<std::string, std::string>{{"a", "1"}})));
    folder.write("run.zip", zip_of(files(1)));
    folder.write("cut.tgz", gzip_of(tar).substr(0, 1'400'000));
    folder.write("text", "text");
    folder.write("run.tar.zst", zstd_of(tar, 100'000));
    captured fine;
    CHECK(cli::detail::write_indexes({.archives = {in + "small.tgz", in + "run.zip"}}, fine.to) == cli::exit_ok);
    CHECK(fine.out.str() ==
          in + "small.tgz: an index would spare nothing\n" + in + "run.zip: an index would spare nothing\n");
    captured bad;
    CHECK(cli::detail::write_indexes({.archives = {in + "cut.tgz", in + "text", in + "none.tar", folder.path(),
                                                   in + "run.tar.zst!/a", in + "run.tar.zst"}},
                                     bad.to) == cli::exit_error);
    const auto errors = lines_of(bad.err.str());
    REQUIRE(errors.size() == 5);
    CHECK(contains(errors[0], "is damaged, so that it gets no index: at byte"));
    CHECK(contains(errors[1], "no archive of a known format"));
    CHECK(contains(errors[2], "there is no archive"));
    CHECK(contains(errors[3], "is no archive: name a .tar"));
    CHECK(contains(errors[4], "is no archive: name a .tar"));
    CHECK(std::filesystem::exists(in + "run.tar.zst.smdx"));
    CHECK_FALSE(std::filesystem::exists(in + "cut.tgz.smdx"));
    CHECK_FALSE(std::filesystem::exists(in + "run.zip.smdx"));
}
