// Packing and reading back gives the same runs, and changes no other file.
#include <smdebug/archive/pack.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;

namespace {

memory_storage written_run(step_number steps) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    std::vector<float> large(1'500'000);
    for (std::size_t i = 0; i < large.size(); ++i) {
        large[i] = static_cast<float>(i % 1009);
    }
    for (step_number step = 0; step < steps; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("large", large)}});
    }
    build.end();
    store.write("a very long name/" + std::string(150, 'n') + "/empty", {});
    return store;
}

template <class Storage>
objects files_of(const Storage& store) {
    objects all;
    for (const std::string& key : store.list("", "")) {
        all.emplace(key, std::string{as_text(store.read(key).view())});
    }
    return all;
}

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator{folder}, std::filesystem::directory_iterator{}));
}

}  // namespace

TEST_CASE("pack_runs: each format, on one thread and more, gives back what went in") {
    const memory_storage one = written_run(3);
    const memory_storage other = written_run(1);
    const std::vector<packed_run> runs{{"one", any_storage{one}}, {"deep/other", any_storage{other}}};
    for (const char* const name : {"x.tar.zst", "x.tzst", "x.tar.gz", "x.tgz", "x.tar"}) {
        CAPTURE(name);
        const temporary_folder place;
        std::uint64_t told = 0;
        const pack_result packed = pack_runs(runs, place.path() + "/" + name,
                                             {.threads = 3, .progress = [&](std::uint64_t done, std::uint64_t all) {
                                                  CHECK(done >= told);
                                                  CHECK(done <= all);
                                                  told = done;
                                              }});
        CHECK(packed.files == files_of(one).size() + files_of(other).size());
        CHECK(told == 2 * packed.bytes);
        CHECK(packed.packed_bytes == std::filesystem::file_size(place.path() + "/" + name));
        CHECK(files_in(place.path()) == 1);
        const archive_storage made{local_storage{place.path()}, name};
        CHECK(made.runs() == std::vector<std::string>{"deep/other", "one"});
        CHECK(made.damage().empty());
        CHECK(files_of(made.within("one")) == files_of(one));
        CHECK(files_of(made.within("deep/other")) == files_of(other));
        const basic_trial<archive_storage> run{made.within("one")};
        CHECK(run.tensor("large").reduction_value(2, reduction::max) == 1008);
    }
}

TEST_CASE("pack_runs: a run that cannot be packed is an error before anything is written") {
    const temporary_folder place;
    const std::string output = place.path() + "/x.tar.zst";
    const any_storage run{written_run(1)};
    const std::vector<packed_run> runs{{"one", run}};
    CHECK_THROWS_AS(pack_runs(runs, place.path() + "/x.rar"), value_error);
    CHECK_THROWS_AS(pack_runs(runs, place.path() + "/.tar"), value_error);
    CHECK_THROWS_AS(pack_runs(runs, output, {.level = 20}), value_error);
    CHECK_THROWS_AS(pack_runs(runs, output, {.level = 0}), value_error);
    CHECK_THROWS_AS(pack_runs(std::vector<packed_run>{{"one", run}, {"one", run}}, output), value_error);
    for (const char* const folder : {"", "../x", "/x", "x/../y"}) {
        CHECK_THROWS_AS(pack_runs(std::vector<packed_run>{{folder, run}}, output), value_error);
    }
    CHECK_THROWS_AS(pack_runs(std::vector<packed_run>{{"one", any_storage{memory_storage{}}}}, output), not_found);
    CHECK(files_in(place.path()) == 0);
}

TEST_CASE("pack_runs: an output that is there stays, unless it is to be replaced") {
    const temporary_folder place;
    const std::string output = place.path() + "/x.tar.gz";
    const std::vector<packed_run> runs{{"one", any_storage{written_run(1)}}};
    std::ofstream{output} << "mine";
    CHECK_THROWS_AS(pack_runs(runs, output), run_exists);
    CHECK(std::filesystem::file_size(output) == 4);
    CHECK(pack_runs(runs, output, {.level = 1, .replace = true}).packed_bytes == std::filesystem::file_size(output));
    CHECK(files_in(place.path()) == 1);
}

TEST_CASE("pack_runs: stopped, or a run that changes meanwhile: nothing is left behind") {
    const temporary_folder place;
    const std::string output = place.path() + "/x.tar.zst";
    memory_storage growing = written_run(2);
    const std::vector<packed_run> runs{{"one", any_storage{growing}}};
    std::stop_source stop;
    stop.request_stop();
    CHECK_THROWS_AS(pack_runs(runs, output, {.stop = stop.get_token()}), stopped_error);
    CHECK(files_in(place.path()) == 0);
    std::stop_source later;
    CHECK_THROWS_AS(pack_runs(runs, output,
                              {.progress =
                                   [&](std::uint64_t done, std::uint64_t all) {
                                       if (done > all / 2) {  // it is being read back
                                           later.request_stop();
                                       }
                                   },
                               .stop = later.get_token()}),
                    stopped_error);
    CHECK(files_in(place.path()) == 0);
    bool changed = false;
    CHECK_THROWS_AS(pack_runs(runs, output,
                              {.progress =
                                   [&](std::uint64_t, std::uint64_t) {
                                       if (!changed) {
                                           changed = true;
                                           for (const std::string& key : growing.list("events/", "")) {
                                               growing.write(key, {});
                                           }
                                       }
                                   }}),
                    unavailable);
    CHECK(changed);
    CHECK(files_in(place.path()) == 0);
}

TEST_CASE("pack_runs: what is read back and differs is an error, and removed") {
    const temporary_folder place;
    const std::string output = place.path() + "/x.tar";
    bool damaged = false;
    const std::vector<packed_run> runs{{"one", any_storage{written_run(1)}}};
    CHECK_THROWS_AS(
        pack_runs(runs, output,
                  {.progress =
                       [&](std::uint64_t done, std::uint64_t all) {
                           if (done == all / 2 && !damaged) {  // all is written, nothing is read back
                               damaged = true;
                               for (const auto& file : std::filesystem::directory_iterator{place.path()}) {
                                   std::fstream bytes{file.path(), std::ios::in | std::ios::out | std::ios::binary};
                                   bytes.seekp(3'000'000);
                                   bytes << "damage";
                               }
                           }
                       }}),
        corrupt_data);
    CHECK(damaged);
    CHECK(files_in(place.path()) == 0);
}
