#include <program/ls.hpp>

#include "program/captured.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/rows.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

ended ls_of(const texts& runs, cli::detail::output_format format) {
    return ended_by([&](auto& to) { return cli::detail::ls({.runs = runs, .how = {.format = format}}, to); });
}

}  // namespace

TEST_CASE("ls: the table of a recorded run") {
    const ended got = ls_of({golden("torch_mlp")}, cli::detail::output_format::table);
    CHECK(got.status == cli::exit_ok);
    CHECK(got.err.empty());
    CHECK(contains(got.out, "run          torch_mlp\n"));
    CHECK(contains(got.out, "state        ended\n"));
    CHECK(contains(got.out, "steps        4 steps: 0, 2, 3, 5\n"));
    CHECK(contains(got.out, "modes        TRAIN 3 steps: 0-4 by 2\n             EVAL 1 step: 0\n"));
    CHECK(contains(got.out, "\nCrossEntropyLoss_output_0     float32  scalar      4  -\n"));
}

TEST_CASE("ls: --verify has a row for each difference of each run, and an error status where there is any") {
    const temporary_folder place;
    write_sick_run(place);
    const std::string index = smdebug::detail::locations::index_key(1, "worker_0");
    std::string content = file_content(place.path() + "/" + index);
    content.replace(content.find("tensor_payload"), 14, "tensor_qayload");
    place.write(index, content);
    captured run;
    CHECK(cli::detail::ls({.runs = {golden("torch_mlp"), place.path()},
                           .verify = true,
                           .how = {.format = cli::detail::output_format::csv}},
                          run.to) == cli::exit_error);
    const texts lines = lines_of(run.out.str());
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "run,kind,file,step,worker,tensor,what");
    CHECK(lines[1].starts_with(place.path() + ",renamed key," + index + ","));
    CHECK(lines[2].starts_with(place.path() + ",unnamed record," +
                               smdebug::detail::locations::event_key(1, "worker_0") + ",1,worker_0,w,"));
    captured healthy;
    CHECK(cli::detail::ls({.runs = {golden("torch_mlp")}, .verify = true}, healthy.to) == cli::exit_ok);
    CHECK(healthy.out.str() == "no differences\n");
}

TEST_CASE("ls: JSON is one object a run, with exactly the keys of the design") {
    const ended got = ls_of({golden("reductions_raw"), golden("shapes_only")}, cli::detail::output_format::json);
    const texts lines = lines_of(got.out);
    REQUIRE(lines.size() == 2);
    smdebug::detail::json::document parser;
    const auto run = parser.parse(as_bytes(lines[0]));
    REQUIRE(run);
    texts keys;
    run->for_each_field([&](std::string_view key, smdebug::detail::json::value) {
        keys.emplace_back(key);
        return true;
    });
    CHECK(keys == texts{"name", "path", "workers", "num_workers", "modes", "steps", "loaded_all_steps", "state",
                        "last_complete_step", "collections", "tensors"});
    CHECK((*run)["name"]->string() == "reductions_raw");
    CHECK((*run)["path"]->string() == golden("reductions_raw"));
    CHECK((*run)["num_workers"]->integer() == 1);
    CHECK((*run)["loaded_all_steps"]->boolean() == true);
    CHECK((*run)["state"]->string() == "ended");
    bool found = false;
    (*run)["tensors"]->for_each_element([&](smdebug::detail::json::value tensor) {
        if (tensor["name"]->string() == "MSELoss_output_0") {
            found = true;
            CHECK(tensor["dtype"]->string() == "float32");
            CHECK(tensor["shape"]->is_array());
            CHECK(tensor["steps"]->integer().has_value());
            std::size_t saved = 0;
            tensor["reductions"]->for_each_element([&](smdebug::detail::json::value) { return ++saved > 0; });
            CHECK(saved == 18);
        }
        return true;
    });
    CHECK(found);
    // Only a shape was saved: it is known, the dtype is not.
    CHECK(contains(lines[1], R"({"name":"0_input_0","dtype":null,"shape":[4,4],"steps":3,"reductions":[]})"));
}

TEST_CASE("ls: CSV has a row for each tensor of each run") {
    const ended got = ls_of({golden("reductions_tf"), golden("scalars")}, cli::detail::output_format::csv);
    const texts lines = lines_of(got.out);
    REQUIRE(lines.size() > 2);
    CHECK(lines[0] == "run,tensor,dtype,shape,steps,reductions");
    CHECK(lines[1].starts_with(golden("reductions_tf") + ","));
    CHECK(lines.back().starts_with(golden("scalars") + ","));
}

TEST_CASE("ls: options select tensors by collection, name and steps") {
    const auto names = [](cli::detail::ls_arguments given) {
        captured run;
        given.runs = {golden("torch_mlp")};
        given.how.format = cli::detail::output_format::csv;
        const int status = cli::detail::ls(given, run.to);
        CHECK(status == (run.err.str().empty() ? cli::exit_ok : cli::exit_error));
        std::string text = run.err.str();
        for (const std::string& line : lines_of(run.out.str())) {
            const std::size_t first = line.find(',') + 1;
            text += line.starts_with("run,") ? "" : line.substr(first, line.find(',', first) - first) + " ";
        }
        return text;
    };
    CHECK(contains(names({}), "CrossEntropyLoss_output_0 "));
    CHECK(names({.collection = "losses"}) == "CrossEntropyLoss_output_0 ");
    CHECK(names({.tensors = "^CrossEntropyLoss_o"}) == "CrossEntropyLoss_output_0 ");
    CHECK(names({.tensors = "gradient", .collection = "losses"}).empty());
    CHECK(contains(names({.collection = "loses"}), "Collection loses was not saved. Did you mean losses?"));
    captured run;
    CHECK(cli::detail::ls({.runs = {golden("torch_mlp")}, .how = {.range = {2, 4}}}, run.to) == cli::exit_ok);
    CHECK(contains(run.out.str(), "steps        2 steps: 2, 3\n"));
}

TEST_CASE("ls: a running job with steps that are not complete") {
    const ended got = ls_of({golden("incomplete_workers")}, cli::detail::output_format::table);
    CHECK(contains(got.out, "steps        5 steps: 0-2, 4, 5; 3 more not complete\n"));
    CHECK(contains(got.out, "late_tensor  float32  2          0  -\n"));
}

TEST_CASE("ls: a job that has written nothing for long is distinguished from a running one") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1, 2})}});
    CHECK(contains(ls_of({folder.path()}, cli::detail::output_format::table).out, "state        running\n"));
    CHECK(contains(ls_of({folder.path()}, cli::detail::output_format::json).out, R"("state":"running")"));
    for (const auto& held : std::filesystem::recursive_directory_iterator{folder.path()}) {
        std::filesystem::last_write_time(
            held, std::filesystem::file_time_type::clock::now() - std::chrono::hours{3 * 24 + 1});
    }
    CHECK(contains(ls_of({folder.path()}, cli::detail::output_format::table).out,
                   "state        stalled: nothing new for 3 days, no end mark\n"));
    CHECK(contains(ls_of({folder.path()}, cli::detail::output_format::json).out, R"("state":"stalled")"));
}

TEST_CASE("ls: damaged values do not matter, missing event files are named") {
    for (const char* run : {"damaged/flipped_length", "damaged/truncated_event", "damaged/index_swapped",
                            "missing_event", "damaged/no_events_running"}) {
        const ended got = ls_of({golden(run)}, cli::detail::output_format::json);
        const bool all_gone = std::string{run} == "damaged/no_events_running";
        const bool one_gone = std::string{run} == "missing_event";
        CHECK_MESSAGE(got.status == (all_gone || one_gone ? cli::exit_error : cli::exit_ok), run);
        CHECK_MESSAGE(contains(got.err,
                               "no value can be looked at: 2 event files missing, the first "
                               "events/000000000000/000000000000_worker_0.tfevents") == all_gone,
                      run);
        CHECK_MESSAGE(contains(got.err, "error: 2 event files missing, the first events/") == one_gone, run);
        CHECK_MESSAGE(lines_of(got.err).size() == (all_gone || one_gone ? 1 : 0), run);
        CHECK_MESSAGE(lines_of(got.out).size() == 1, run);
    }
    CHECK(contains(ls_of({golden("damaged/flipped_length")}, cli::detail::output_format::json).out,
                   R"({"name":"a","dtype":"float32","shape":[3],"steps":2,"reductions":[]})"));
    CHECK(contains(ls_of({golden("damaged/no_events_running")}, cli::detail::output_format::json).out,
                   R"({"name":"a","dtype":null,"shape":null,"steps":2,"reductions":[]})"));
}

TEST_CASE("ls: a failing run does not affect the others") {
    const ended got = ls_of({"/nowhere", golden("scalars")}, cli::detail::output_format::table);
    CHECK(got.status == cli::exit_error);
    CHECK(contains(got.err, "/nowhere"));
    CHECK(contains(got.out, "run          scalars\n"));
}

TEST_CASE("ls: every golden run that opens is listed, in every format") {
    for (const char* run :
         {"checksummed", "collections", "dtypes", "double__underscore", "mode_gaps", "mode_gaps_ended", "mode_workers",
          "sparse_running", "tf_workers", "torch_ddp", "window", "xgboost_like"}) {
        for (const auto format :
             {cli::detail::output_format::table, cli::detail::output_format::csv, cli::detail::output_format::json}) {
            CHECK_MESSAGE(ls_of({golden(run)}, format).status == cli::exit_ok, run);
        }
    }
}

TEST_CASE("ls: more than a few workers that are numbered without a gap are the first and the last") {
    const auto workers_of = [](const texts& names) {
        const temporary_folder folder;
        local_storage store{folder.path()};
        run_builder build{store};
        build.collections(names);
        for (const std::string& name : names) {
            build.step({.step = 0, .tensors = {tensor_of<float>("x", {1})}, .worker = name});
        }
        build.end();
        const std::string out = ls_of({folder.path()}, cli::detail::output_format::table).out;
        const std::size_t begin = out.find("workers      ") + 13;
        return out.substr(begin, out.find('\n', begin) - begin);
    };
    texts names;
    for (int i = 0; i < 12; ++i) {
        names.push_back("worker_" + std::to_string(i));
    }
    CHECK(workers_of(names) == "worker_0 to worker_11 (12 workers)");
    names.erase(names.begin() + 5);
    CHECK(workers_of(names).starts_with("worker_0, worker_1, "));
    CHECK(workers_of({"worker_0", "worker_1"}) == "worker_0, worker_1");
}
