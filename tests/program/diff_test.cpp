#include <program/diff.hpp>

#include "program/captured.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/rows.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;
using cli::detail::diff_arguments;
using cli::detail::output_format;

namespace {

struct answer : ended {
    texts lines;  ///< of `out`, with single blanks and none at the end
};

answer diff(const diff_arguments& args) {
    answer got{ended_by([&](auto& to) { return cli::detail::diff(args, to); }), {}};
    for (const std::string& line : lines_of(squeezed(got.out))) {
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        got.lines.push_back(line.substr(begin, line.find_last_not_of(' ') + 1 - begin));
    }
    return got;
}

written_step step_of(step_number step, const std::vector<float>& w, const std::vector<float>& b = {1}) {
    return {.step = step,
            .tensors = {tensor_of<float>("w", w, {2, w.size() / 2}), tensor_of<float>("b", b)},
            .mode_step = step / 2};
}

void write_run(const temporary_folder& folder, const std::vector<written_step>& steps,
               const std::map<std::string, std::vector<std::string>>& groups = {}) {
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections({"worker_0"}, groups);
    for (const written_step& step : steps) {
        build.step(step);
    }
    build.end();
}

}  // namespace

TEST_CASE("diff: a recorded run is the same as itself") {
    const answer same = diff({.first = golden("torch_mlp"), .second = golden("torch_mlp") + "/"});
    CHECK(same.status == cli::exit_ok);
    CHECK(same.err.empty());
    REQUIRE(same.lines.size() == 1);
    CHECK(same.out.starts_with("the runs are the same: "));
    CHECK(contains(same.out, " compared\n"));
    const answer within = diff({.first = golden("dtypes"), .second = golden("dtypes"), .rtol = 1e-5});
    CHECK(within.out.starts_with("the runs are the same within rtol 1e-05 and atol 0: "));
    const answer json =
        diff({.first = golden("dtypes"), .second = golden("dtypes"), .how = {.format = output_format::json}});
    CHECK(json.status == cli::exit_ok);
    CHECK(json.out.empty());
}

TEST_CASE("diff: a changed copy of a recorded run differs where it was changed") {
    const temporary_folder copy;
    const std::string run = golden("torch_mlp");
    std::filesystem::copy(run, copy.path(), std::filesystem::copy_options::recursive);
    const trial recorded = create_trial(run);
    const std::string name = recorded.tensor_names().front();
    const std::vector<step_number> steps = recorded.tensor(name).steps();
    const step_number step = steps.at(steps.size() / 2);
    const tensor_value value = recorded.tensor(name).value(step);
    REQUIRE(value.type() == dtype::float32);
    const std::string file = copy.path() + "/" + smdebug::detail::locations::event_key(step, "worker_0");
    std::string content;
    {
        std::ifstream in{file, std::ios::binary};
        content.assign(std::istreambuf_iterator<char>{in}, {});
    }
    const byte_view bytes = value.view().bytes;
    const std::size_t place = content.find(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    REQUIRE(place != std::string::npos);
    content[place] = static_cast<char>(content[place] ^ 1);
    std::ofstream{file, std::ios::binary} << content;
    const answer got = diff({.first = run, .second = copy.path()});
    CHECK(got.status == cli::exit_finding);
    CHECK(got.out.starts_with("the runs part at step " + std::to_string(step) + " ("));
    CHECK(contains(got.out, "): tensor " + name + ": 1 of "));
    CHECK(diff({.first = run, .second = copy.path(), .rtol = 1e-6}).status == cli::exit_ok);
    const answer other = diff({.first = golden("torch_mlp"), .second = golden("torch_ddp")});
    CHECK(other.status == cli::exit_finding);
    CHECK_FALSE(other.out.starts_with("the runs are the same"));
}

TEST_CASE("diff: the first line names step, tensor, place and values; a table shows later steps") {
    const temporary_folder first;
    const temporary_folder second;
    write_run(first, {step_of(0, {1, 2, 3, 4}), step_of(10, {1, 2, 3, 4}), step_of(20, {1, 2, 3, 4}),
                      step_of(30, {1, 2, 3, 4})});
    write_run(second, {step_of(0, {1, 2, 3, 4}), step_of(10, {1, 2, 3.5F, 4.25F}), step_of(20, {1, 2, 3, 4}),
                       step_of(30, {1, 2, 3, 8}, {2})});
    const answer got = diff({.first = first.path(), .second = second.path()});
    CHECK(got.status == cli::exit_finding);
    CHECK(got.err.empty());
    CHECK(got.lines == texts{"the runs part at step 10 (TRAIN 5): tensor w: 2 of 4 elements differ, the largest "
                             "difference is 0.5 at [1, 0] (3 and 3.5)",
                             "", "step mode mode_step tensors differ largest relative tensor",
                             "---- ----- --------- ------- ------ ------- -------- ------",
                             "10 TRAIN 5 2 1 0.5 0.142857 w", "20 TRAIN 10 2 0 0 0 -", "30 TRAIN 15 2 2 4 0.5 w"});
    const answer all = diff({.first = first.path(), .second = second.path(), .all = true});
    CHECK(all.status == cli::exit_finding);
    REQUIRE(all.lines.size() == 7);
    CHECK(all.lines[0] == got.lines[0]);
    CHECK(all.lines[2].starts_with("kind step mode mode_step worker tensor run elements differ largest"));
    CHECK(all.lines[4] == "values 10 TRAIN 5 worker_0 w - 4 2 0.5 0.142857 2 3 3.5 2 of 4 elements differ");
    CHECK(all.lines[6].starts_with("values 30 TRAIN 15 worker_0 b - 1 1 1 0.5 0 1 2 "));
    CHECK(diff({.first = first.path(), .second = second.path(), .atol = 4}).status == cli::exit_ok);
    CHECK(diff({.first = first.path(), .second = second.path(), .tensors = "b"})
              .out.starts_with("the runs part at step 30 (TRAIN 15): tensor b: 1 of 1 element differs, the largest "
                               "difference is 1 at [0] "));
    CHECK(diff({.first = first.path(), .second = second.path(), .how = {.range = {0, 10}}}).status == cli::exit_ok);
}

TEST_CASE("diff: rows for programs, one for each difference") {
    const temporary_folder first;
    const temporary_folder second;
    write_run(first, {step_of(0, {1, 2, 3, 4}), step_of(1, {1, 2})}, {{"g", {"w"}}});
    write_run(second, {step_of(0, {1, 2, 3, 5}), step_of(2, {1, 2})});
    const std::string head =
        "kind,step,mode,mode_step,worker,tensor,run,elements,differ,largest,largest_relative,first_index,first_value,"
        "second_value,what";
    const answer csv = diff({.first = first.path(), .second = second.path(), .how = {.format = output_format::csv}});
    CHECK(csv.status == cli::exit_finding);
    CHECK(csv.lines == texts{head, "collection,,,,,g,first,,,,,,,,only the first run has it",
                             "values,0,TRAIN,0,worker_0,w,,4,1,1,0.20000000000000001,3,4,5,1 of 4 elements differ",
                             "step,1,TRAIN,0,,,first,,,,,,,,only the first run has the step",
                             "step,2,TRAIN,1,,,second,,,,,,,,only the second run has the step"});
    const answer json = diff({.first = first.path(), .second = second.path(), .how = {.format = output_format::json}});
    REQUIRE(json.lines.size() == 4);
    CHECK(json.lines[1] ==
          R"({"kind":"values","step":0,"mode":"TRAIN","mode_step":0,"worker":"worker_0","tensor":"w","run":null,)"
          R"("elements":4,"differ":1,"largest":1,"largest_relative":0.20000000000000001,"first_index":3,)"
          R"("first_value":"4","second_value":"5","what":"1 of 4 elements differ"})");
}

TEST_CASE("diff: what differs beside values is grouped, and is a first line of its own kind") {
    const temporary_folder first;
    const temporary_folder second;
    const auto alone = tensor_of<float>("alone", {1});
    std::vector<written_step> mine{step_of(0, {1, 2}), step_of(1, {1, 2}), step_of(2, {1, 2})};
    write_run(second, mine);
    mine.push_back(step_of(4, {1, 2}));
    mine.push_back(step_of(6, {1, 2}));
    mine.push_back(step_of(8, {1, 2}));
    write_run(first, mine, {{"g", {"w"}}});
    const answer steps = diff({.first = first.path(), .second = second.path()});
    CHECK(steps.status == cli::exit_finding);
    CHECK(steps.lines == texts{"where both runs have a step they are the same, but for what is below: 3 steps, 2 "
                               "tensors, 36 bytes compared",
                               "only the first run has 3 steps: 4-8 by 2", "", "kind name from step times what",
                               "---------- ---- --------- ----- -------------------------",
                               "collection g - 1 only the first run has it"});
    const temporary_folder third;
    mine.resize(3);
    mine[1].tensors.push_back(alone);
    mine[2].tensors.push_back(alone);
    write_run(third, mine);
    const answer tensors = diff({.first = second.path(), .second = third.path()});
    CHECK(tensors.lines == texts{"the runs part at step 1 (TRAIN 0): tensor alone: only the second run has it", "",
                                 "kind name from step times what",
                                 "------ ----- --------- ----- --------------------------",
                                 "tensor alone 1 2 only the second run has it"});
}

TEST_CASE("diff: with very many steps the table shows some, and the last") {
    const temporary_folder first;
    const temporary_folder second;
    std::vector<written_step> mine;
    std::vector<written_step> yours;
    for (step_number step = 0; step < 100; ++step) {
        mine.push_back(step_of(step, {1, 2}));
        yours.push_back(step_of(step, {1, 3}));
    }
    write_run(first, mine);
    write_run(second, yours);
    const answer got = diff({.first = first.path(), .second = second.path()});
    REQUIRE(got.lines.size() == 1 + 1 + 2 + 30 + 2);
    CHECK(got.lines[4].starts_with("0 TRAIN"));
    CHECK(got.lines[13].starts_with("9 TRAIN"));
    CHECK(got.lines[33].starts_with("99 TRAIN"));
    CHECK(got.lines.back() == "70 of 100 steps left out; --all shows every difference");
}

TEST_CASE("diff: what cannot be read is an error, beside a difference or alone") {
    const temporary_folder first;
    const temporary_folder second;
    for (const temporary_folder* each : {&first, &second}) {
        write_run(*each, {step_of(0, {1, 2}), step_of(1, {1, 2})});
    }
    std::filesystem::remove(second.path() + "/" + smdebug::detail::locations::event_key(1, "worker_0"));
    const answer alone = diff({.first = first.path(), .second = second.path()});
    CHECK(alone.status == cli::exit_error);
    CHECK(alone.out.starts_with("what can be read of both runs is the same: "));
    CHECK(contains(alone.err, "of the second run is missing [run " + second.path() + "]"));
    write_run(first, {step_of(0, {1, 3}), step_of(1, {1, 2})});
    const answer both = diff({.first = first.path(), .second = second.path()});
    CHECK(both.status == cli::exit_finding_and_error);
    CHECK(both.out.starts_with("the runs part at step 0"));
    const std::string damaged = golden("damaged/truncated_event");
    CHECK(diff({.first = damaged, .second = damaged}).status == cli::exit_error);
}

TEST_CASE("diff: a log with a damaged record is not reported as equal, in text, rows and status") {
    const temporary_folder whole;
    const temporary_folder damaged;
    std::string bad = log_record(2, {scalar_value("loss", 2)});
    const std::string first = log_record(1, {scalar_value("loss", 1)});
    whole.write("events.out.tfevents.1", first);
    bad.back() = static_cast<char>(bad.back() ^ 1);
    damaged.write("events.out.tfevents.1", first + bad);
    const answer one = diff({.first = whole.path(), .second = damaged.path()});
    CHECK(one.status == cli::exit_error);
    CHECK(one.out.starts_with("what can be read of both runs is the same: 1 step, "));
    CHECK(one.out.ends_with("; not all of the second run could be read\n"));
    const answer both = diff({.first = damaged.path(), .second = damaged.path()});
    CHECK(both.status == cli::exit_error);
    CHECK(both.out.ends_with("; not all of either run could be read\n"));
    const answer rows = diff({.first = damaged.path(), .second = whole.path(), .how = {.format = output_format::json}});
    CHECK(rows.status == cli::exit_error);
    CHECK(contains(rows.out, R"("kind":"unreadable")"));
    CHECK(contains(rows.out, "events.out.tfevents.1, byte "));
    whole.write("events.out.tfevents.1", log_record(1, {scalar_value("loss", 7)}));
    const answer differs = diff({.first = damaged.path(), .second = whole.path()});
    CHECK(differs.status == cli::exit_finding_and_error);
    CHECK(contains(differs.lines.front(), "; not all of the first run could be read"));
}

TEST_CASE("diff: runs without a common step are not comparable") {
    const temporary_folder first;
    const temporary_folder second;
    write_run(first, {step_of(0, {1, 2})});
    write_run(second, {step_of(1, {1, 2})});
    const answer got = diff({.first = first.path(), .second = second.path()});
    CHECK(got.status == cli::exit_finding);
    CHECK(got.lines == texts{"the runs are not comparable: no step is in both of them",
                             "only the first run has 1 step: 0", "only the second run has 1 step: 1"});
}

TEST_CASE("diff: a tensor only in the second run is reported at its step") {
    const temporary_folder first;
    const temporary_folder second;
    written_step other = step_of(4, {1, 2});
    write_run(first, {other});
    other.mode = mode::eval;
    other.mode_step = 7;
    other.tensors.push_back(tensor_of<float>("alone", {1}));
    write_run(second, {other});
    const answer got = diff({.first = first.path(), .second = second.path(), .how = {.format = output_format::csv}});
    CHECK(contains(got.out, "\ntensor,4,EVAL,7,worker_0,alone,second,"));
    const answer turned = diff({.first = second.path(), .second = first.path(), .how = {.format = output_format::csv}});
    CHECK(contains(turned.out, "\ntensor,4,EVAL,7,worker_0,alone,first,"));
}

TEST_CASE("diff: if very much cannot be read, the first few are named") {
    const temporary_folder first;
    const temporary_folder second;
    std::vector<written_step> steps;
    for (step_number step = 0; step < 15; ++step) {
        steps.push_back(step_of(step, {1, 2}));
    }
    write_run(first, steps);
    write_run(second, steps);
    std::filesystem::remove_all(second.path() + "/events");
    const answer got = diff({.first = first.path(), .second = second.path()});
    CHECK(got.status == cli::exit_error);
    CHECK(lines_of(got.err).size() == 11);
    CHECK(contains(got.err, "and so on: 15 tensors or event files cannot be read"));
}

TEST_CASE("diff: missing runs, unknown workers, and empty selections") {
    const temporary_folder empty;
    const answer missing = diff({.first = empty.path() + "/a", .second = empty.path() + "/b"});
    CHECK(missing.status == cli::exit_error);
    CHECK(lines_of(missing.err).size() == 2);  // each is named
    CHECK(contains(missing.err, "/a"));
    CHECK(contains(missing.err, "/b"));
    CHECK(missing.out.empty());
    const std::string run = golden("torch_mlp");
    const answer worker = diff({.first = run, .second = run, .worker = "worker_7"});
    CHECK(worker.status == cli::exit_error);
    CHECK(contains(worker.err, "worker_7"));
    const answer nothing = diff({.first = run, .second = run, .tensors = "no such name"});
    CHECK(nothing.status == cli::exit_error);
    CHECK(contains(nothing.err, "nothing was compared"));
    const answer collection = diff({.first = run, .second = run, .collection = "no such"});
    CHECK(collection.status == cli::exit_error);
    CHECK(contains(collection.err, "no such"));
}

TEST_CASE("diff: a job that has not ended is noted") {
    const std::string run = golden("incomplete_workers");
    const answer got = diff({.first = run, .second = run});
    CHECK(got.status == cli::exit_ok);
    CHECK(contains(got.err, "has not ended: these are its steps so far"));
}

TEST_CASE("diff: names are made printable") {
    const temporary_folder first;
    const temporary_folder second;
    const std::string name = "a\x1b[2Jb";
    write_run(first, {{.tensors = {tensor_of<float>(name, {1})}}});
    write_run(second, {{.tensors = {tensor_of<float>(name, {2})}}});
    for (const bool all : {false, true}) {
        const answer got = diff({.first = first.path(), .second = second.path(), .all = all});
        CHECK(got.out.find('\x1b') == std::string::npos);
        CHECK(contains(got.out, "a\\x1b[2Jb"));
    }
}
