#include <smdebug/trial/create_trial.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace smdebug;

TEST_CASE("create_trial: a directory, with or without its scheme") {
    const std::string path = std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp";
    const trial run = create_trial(path, {.range = {2, 5}});
    CHECK(run.name() == "torch_mlp");
    CHECK(run.path() == path);
    CHECK(run.steps() == std::vector<step_number>{2, 3});
    CHECK(create_trial("file://" + path).steps().size() == 4);
    CHECK(create_trial(path + "/", {.name = "mine"}).name() == "mine");
}

TEST_CASE("create_trial: what cannot be read yet says so, and names the path") {
    CHECK_THROWS_AS(static_cast<void>(create_trial("s3://bucket/run")), unsupported);
    CHECK_THROWS_AS(static_cast<void>(create_trial("runs/a.tar.gz")), unsupported);
    CHECK_THROWS_AS(static_cast<void>(create_trial("/no/such/folder")), not_found);
    try {
        static_cast<void>(create_trial("s3://bucket/run"));
    } catch (const unsupported& thrown) {
        CHECK(thrown.where() == "s3://bucket/run");
    }
}
