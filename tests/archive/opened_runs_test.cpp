#include <smdebug/archive/archive_storage.hpp>

#include "support/archive_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;

namespace {

std::optional<opened_runs> runs_of(const std::string& archive, std::string_view inside = {}) {
    memory_storage store;
    store.write("a", as_bytes(archive));
    return open_runs(any_storage{store}, "a", inside, {});
}

const objects two{{"x/index/000000000/0.json", "{}"}, {"y/events/000000000000/0.tfevents", ""}, {"notes", ""}};

}  // namespace

TEST_CASE("open_runs: all runs of an archive, or the one that was named; where there is none, its root") {
    const auto all = runs_of(tar_of(two));
    REQUIRE(all);
    CHECK(all->name == "memory:run/a");
    REQUIRE(all->runs.size() == 2);
    CHECK(all->runs[0].inside == "x");
    CHECK(all->runs[0].store.size("index/000000000/0.json") == 2);
    CHECK(all->runs[1].store.name() == "memory:run/a!/y");
    CHECK(runs_of(tar_of(two), "y")->runs.size() == 1);
    CHECK(runs_of(tar_of(objects{{"notes", "1"}}))->runs.at(0).store.size("notes") == 1);
    CHECK_FALSE(runs_of("no archive"));
    CHECK_THROWS_WITH_AS(static_cast<void>(runs_of("BZh91AY")), doctest::Contains("packed by bzip2"), unsupported);
    CHECK_THROWS_WITH_AS(static_cast<void>(runs_of("version https://git-lfs.github.com/spec/v1\n")),
                         doctest::Contains("git lfs pull"), unsupported);
    CHECK(runs_of("#!/bin/sh" + zip_of(two, 8, false, "")).has_value());
    CHECK_THROWS_AS(static_cast<void>(runs_of(tar_of(two), "z")), not_found);
}

TEST_CASE("only_run: several runs, and damage, are errors that say what to do") {
    CHECK_THROWS_AS(static_cast<void>(only_run(*runs_of(tar_of(two)), {})), value_error);
    opened_runs damaged = *runs_of(tar_of(two), "x");
    damaged.damage = {"at byte 1: x", "at byte 2: y"};
    CHECK(damage_text(damaged) == "the archive memory:run/a is damaged: at byte 1: x; at byte 2: y");
    CHECK_THROWS_AS(static_cast<void>(only_run(damaged, {})), corrupt_data);
    CHECK(only_run(damaged, {.skip_damaged = true}).name() == "memory:run/a!/x");
}
