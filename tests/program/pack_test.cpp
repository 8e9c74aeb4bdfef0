#include <program/pack.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/test.hpp"

#include <program/program.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("folder_for: the last part of a path, once") {
    std::set<std::string> taken;
    CHECK(cli::detail::folder_for("runs/a", taken) == "a");
    CHECK(cli::detail::folder_for("other/a", taken) == "a-2");
    CHECK(cli::detail::folder_for("s3://bucket/prefix/b", taken) == "b");
    CHECK(cli::detail::folder_for("old.tar.gz", taken) == "old");
    CHECK(cli::detail::folder_for("old.tar!/job-17", taken) == "job-17");
    CHECK(cli::detail::folder_for("old.tar!/a", taken) == "a-3");
    CHECK(cli::detail::folder_for(".", taken) == "run");
    CHECK(cli::detail::folder_for(".tar", taken) == ".tar");
}

TEST_CASE("pack: recorded runs, packed and packed again, are the same runs") {
    const temporary_folder place;
    const std::string first = place.path() + "/first.tar.zst";
    captured run;
    CHECK(cli::detail::pack({.runs = {golden("torch_mlp"), golden("torch_mlp")}, .output = first}, run.to, {}) ==
          cli::exit_ok);
    CHECK(contains(run.out.str(), "packed 2 runs of "));
    CHECK(contains(run.out.str(), "read back and compared\n"));
    CHECK(run.err.str().empty());
    captured again;
    CHECK(cli::detail::pack({.runs = {first}, .output = place.path() + "/second.tar.gz"}, again.to, {}) ==
          cli::exit_ok);
    const auto listed = [&](const std::string& path) {
        const ended list = run_to_end({"ls", path});
        CHECK(list.status == cli::exit_ok);
        std::string text = list.out;
        return text.substr(text.find("state "));
    };
    const std::string expected = listed(golden("torch_mlp"));
    for (const char* const name : {"first.tar.zst!/torch_mlp", "first.tar.zst!/torch_mlp-2", "second.tar.gz!/torch_mlp",
                                   "second.tar.gz!/torch_mlp-2"}) {
        CHECK(listed(place.path() + "/" + name) == expected);
    }
}

TEST_CASE("pack: files are packed as they are; logs, checkpoints and runs without an index are read in archives, too") {
    const temporary_folder place;
    const auto made = [&](const std::string& name, const texts& arguments) {
        const ended done = run_to_end(arguments);
        REQUIRE(done.status == cli::exit_ok);
        return place.path() + "/" + name;
    };
    const std::string run = golden("torch_mlp");
    const std::string bare = place.path() + "/bare";
    std::filesystem::copy(run, bare, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(bare + "/index");
    made("logs", {"export", run, "--to", "tensorboard", "-o", place.path() + "/logs"});
    made("weights", {"export", run, "--to", "npz", "-o", place.path() + "/weights"});
    const auto rows_of = [&](const std::string& command, const std::string& path) {
        captured listed;
        CHECK(cli::run_program({command, path, "--format", "csv"}, listed.out, listed.err) != cli::exit_error);
        std::string text;
        for (const std::string& line : lines_of(listed.out.str())) {
            text += (line.starts_with(path + ",") ? line.substr(path.size()) : line) + "\n";
        }
        return text;
    };
    const auto check_same = [&](const std::string& one, const std::string& other) {
        CAPTURE(one);
        CHECK(lines_of(rows_of("stats", one)).size() > 20);
        CHECK(rows_of("stats", one) == rows_of("stats", other));
        CHECK(rows_of("scan", one) == rows_of("scan", other));
    };
    made("bare.tar.zst", {"pack", bare, "-o", bare + ".tar.zst"});
    check_same(bare + ".tar.zst", bare);
    for (const char* name : {"logs", "weights"}) {
        const std::string folder = place.path() + "/" + name;
        const ended refused = run_to_end({"pack", folder, "-o", folder + ".tar.zst"});
        CHECK(refused.status == cli::exit_error);
        CHECK(contains(refused.err, "export RUN --to smdebug makes a run of them"));
        std::map<std::string, std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
            if (entry.is_regular_file()) {
                std::ifstream in{entry.path(), std::ios::binary};
                files[entry.path().string().substr(folder.size() + 1)] = {std::istreambuf_iterator<char>{in}, {}};
            }
        }
        std::ofstream{folder + ".tar.gz", std::ios::binary} << gzip_of(tar_of(files));
        check_same(folder + ".tar.gz", folder);
    }
    captured packed;
    CHECK(cli::run_program({"ls", bare + ".tar.zst", "--as", "smdebug"}, packed.out, packed.err) == cli::exit_ok);
    CHECK(contains(squeezed(packed.out.str()), "steps 0 steps"));  // no index was packed
}

TEST_CASE("pack: errors, and being interrupted") {
    const temporary_folder place;
    captured run;
    const cli::detail::pack_arguments nothing{.runs = {place.path() + "/none"}, .output = place.path() + "/x.tar"};
    CHECK_THROWS_AS(static_cast<void>(cli::detail::pack(nothing, run.to, {})), not_found);
    std::stop_source stop;
    stop.request_stop();
    CHECK(cli::status_of(run.to, [&] {
              return cli::detail::pack({.runs = {golden("torch_mlp")}, .output = place.path() + "/x.tar"}, run.to,
                                       stop.get_token());
          }) == cli::exit_interrupted);
    CHECK(contains(run.err.str(), "was stopped; nothing was written"));
    CHECK_FALSE(std::filesystem::exists(place.path() + "/x.tar"));
}
