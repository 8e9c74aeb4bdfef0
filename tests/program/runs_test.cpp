#include <program/runs.hpp>

#include "program/captured.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("for_each_run: a failing run is an error that names it, and does not affect the others") {
    captured run;
    texts seen;
    cli::detail::for_each_run(
        {golden("torch_mlp") + "//", "/nowhere", golden("damaged/empty_index"), golden("scalars")}, {}, run.to,
        [&](const std::string& path, const auto& opened) {
            CHECK(opened.path() == path);
            seen.push_back(path);
        });
    CHECK(seen == texts{golden("torch_mlp"), golden("scalars")});
    const texts errors = lines_of(run.err.str());
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].starts_with("smdebug: error: NotFound: there is no folder /nowhere"));
    CHECK(errors[1].starts_with("smdebug: error: IndexReaderException: index/"));
    CHECK(contains(errors[1], "--skip-damaged"));
    CHECK(contains(errors[1], "[run " + golden("damaged/empty_index") + "]"));
    CHECK(run.to.trouble());
}

TEST_CASE("for_each_run: if there is no run, the error suggests what may have been meant") {
    captured run;
    const auto none = [](const std::string&, const auto&) { FAIL("opened"); };
    cli::detail::for_each_run({golden("torch_mpl"), golden("damaged"), golden("README.md")}, {}, run.to, none);
    const texts errors = lines_of(run.err.str());
    REQUIRE(errors.size() == 3);
    CHECK(contains(errors[0], " Did you mean " + golden("torch_mlp")));
    CHECK(contains(errors[1], " runs below it; to name them all write " SMDEBUG_TEST_DATA "/golden/damaged/*"));
    CHECK(contains(errors[2], "/golden/README.md is a file, not the folder of a run"));
}

TEST_CASE("for_each_run: what a command throws is an error of that run") {
    captured run;
    cli::detail::for_each_run({golden("torch_mlp")}, {}, run.to,
                              [](const std::string&, const auto&) { throw tensor_unavailable("x"); });
    CHECK(contains(run.err.str(), "smdebug: error: TensorUnavailable: Tensor x was not saved. [run "));
}

TEST_CASE("for_each_run: any other exception of a command, such as bad_alloc, stays with its run") {
    captured run;
    texts seen;
    cli::detail::for_each_run({golden("torch_mlp"), golden("scalars"), golden("dtypes")}, {}, run.to,
                              [&](const std::string& path, const auto&) {
                                  if (path == golden("torch_mlp")) {
                                      throw std::bad_alloc{};
                                  }
                                  if (path == golden("scalars")) {
                                      throw std::length_error("too long");
                                  }
                                  seen.push_back(path);
                              });
    CHECK(seen == texts{golden("dtypes")});
    CHECK(lines_of(run.err.str()) == texts{"smdebug: error: not enough memory [run " + golden("torch_mlp") + "]",
                                           "smdebug: error: too long [run " + golden("scalars") + "]"});
    CHECK_THROWS_AS(
        cli::detail::for_each_run({golden("scalars")}, {}, run.to,
                                  [](const std::string&, const auto&) { throw cli::detail::usage_error("what?"); }),
        cli::detail::usage_error);
}

TEST_CASE("for_each_run: with skip_damaged a damaged index file is a note, and the rest is read") {
    captured run;
    std::size_t steps = 0;
    cli::detail::for_each_run({golden("damaged/truncated_index")}, {.skip_damaged = true}, run.to,
                              [&](const std::string&, const auto& opened) { steps = opened.steps().size(); });
    CHECK(steps == 1);
    CHECK(contains(run.err.str(), "smdebug: note: skipped the damaged index file index/"));
    CHECK(run.to.status() == cli::exit_ok);
}

TEST_CASE("for_each_run: does not wait for an incomplete run, and its error names no C++ option") {
    captured run;
    cli::detail::for_each_run({golden("damaged/too_few_collections_running")}, {}, run.to,
                              [](const std::string&, const auto&) { FAIL("opened"); });
    CHECK(contains(run.err.str(), "2 of 3 collections files"));
    CHECK_FALSE(contains(run.err.str(), "open_timeout"));
}

TEST_CASE("plain_path: without trailing slashes, except for the root") {
    CHECK(cli::detail::plain_path("runs/a//") == "runs/a");
    CHECK(cli::detail::plain_path("/") == "/");
    CHECK(cli::detail::plain_path("file:///") == "file:///");
    CHECK(cli::detail::plain_path("s3://") == "s3://");
    CHECK(cli::detail::plain_path("s3://bucket//") == "s3://bucket");
    CHECK(cli::detail::plain_path("").empty());
}

TEST_CASE("open_run: the error for an empty path, as from an unset variable, says so") {
    CHECK_THROWS_WITH_AS(static_cast<void>(cli::detail::open_run("", {})),
                         "SMDebugValueError: the path of a run is empty: is a variable unset?", value_error);
}

TEST_CASE("failure_text: a failed look-up reads like the corresponding error") {
    const std::string text =
        cli::detail::failure_text({.why = lookup_failure_kind::damaged, .damage = status::truncated, .where = "e"}, "t",
                                  3, mode::global, "runs/a");
    CHECK(text.starts_with("CorruptRecord: e, record at byte 0: the record is cut."));
    CHECK(text.ends_with("[run runs/a]"));
}
