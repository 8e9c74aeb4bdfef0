#include <smdebug/exporting/run.hpp>

#include "exporting/odd_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/run_contents.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

namespace {

// The differences of two runs, bit by bit.
template <class First, class Second>
std::vector<std::string> differences(const First& first, const Second& second, const diff_options& options = {}) {
    std::vector<std::string> found;
    diff_runs(first, second, options, [&](const run_difference& each) {
        found.push_back(std::to_string(each.step) + " " + std::string{each.tensor} + ": " + each.what);
    });
    return found;
}

}  // namespace

TEST_CASE("export_run: all of a run is the same run") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const export_result result = export_run(run, folder.path() + "/out");
    CHECK(result.tensors == 14);
    CHECK(result.refused == 0);
    const local_trial made{folder.path() + "/out"};
    CHECK(differences(run, made).empty());
    CHECK(made.loaded_all_steps());
    CHECK(verify_run(made).empty());
    CHECK(made.mode(3) == mode::eval);
    CHECK(made.tensor("words").shape(0) == shape_type{3});
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    for (const auto& each : fs::recursive_directory_iterator{folder.path() + "/out"}) {
        files += each.is_regular_file() ? 1U : 0U;
        bytes += each.is_regular_file() ? each.file_size() : 0U;
    }
    CHECK(result.files == files);
    CHECK(result.bytes == bytes);
}

TEST_CASE(
    "export_run: what several objects have of one step and worker is one file; a name that is not valid UTF-8 is "
    "named") {
    struct two_objects {
        [[nodiscard]] bool update(run_contents& contents) {
            for (const step_number step : {1, 2}) {
                const run_contents::place where{.step = step, .mode = mode::train, .mode_step = step};
                contents.add_number(where, "a", 1, dtype::float32, contents.object("first"));
                contents.add_number(where, "b", 2, dtype::float32, contents.object("second"));
                contents.add_number(where, "\xff", 3, dtype::float32, contents.object("second"));
            }
            contents.set_ended(true);
            return true;
        }
    };
    const temporary_folder folder;
    const trial run{as_run(any_storage{memory_storage{}}, two_objects{})};
    CHECK(run.workers(1).size() == 1);
    std::vector<std::string> left_out;
    const export_result result =
        export_run(run, folder.path() + "/out",
                   {.left_out = [&](const left_out_tensor& each) { left_out.emplace_back(each.why); }});
    CHECK(result.tensors == 4);
    CHECK(result.refused == 2);
    REQUIRE(left_out.size() == 2);
    CHECK(left_out[0].find("not UTF-8") != std::string::npos);
    const local_trial made{folder.path() + "/out"};
    CHECK(made.tensor("a").value<float>(2)() == 1);
    CHECK(made.tensor("b").value<float>(2)() == 2);
    CHECK(differences(run, made, {.which = {.regex = "^[ab]$"}}).empty());
    // Compares both ways, including a file that only one run has.
    CHECK(differences(made, run, {.which = {.regex = "^[ab]$"}}).empty());
    CHECK(differences(run, made).size() == 2);
}

TEST_CASE("export_run: a part: tensors, collections, steps, modes") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    export_run(run, folder.path() + "/weights", {.which = {.collection = "weights"}});
    const local_trial weights{folder.path() + "/weights"};
    CHECK(weights.tensor_names() == std::vector<std::string>{"half", "plain"});
    CHECK(weights.steps() == std::vector<step_number>{0, 3});
    CHECK(weights.collection("weights").tensor_names == std::vector<std::string>{"half", "plain"});
    CHECK(weights.collection("losses").tensor_names.empty());
    const diff_summary both = diff_runs(run, weights, {.which = {.names = std::vector<std::string>{"half", "plain"}}},
                                        [](const run_difference&) {});
    CHECK(both.compared == 3);
    CHECK(both.same());
    export_run(run, folder.path() + "/eval", {.which = {.mode = mode::eval}});
    CHECK(local_trial{folder.path() + "/eval"}.steps() == std::vector<step_number>{3});
    CHECK_THROWS_AS(export_run(run, folder.path() + "/none", {.which = {.range = {50, 60}}}), value_error);
}

TEST_CASE("export_run: saved reductions and shapes, with the framework's names, and workers") {
    const temporary_folder folder;
    memory_storage store;
    const std::string mean = reduction_tensor_name("w", reduction_key{reduction::mean});
    const std::string sum = reduction_tensor_name("only", reduction_key{reduction::sum, true});
    run_builder{store}
        .collections({"worker_0", "worker_1"}, {{"weights", {"w", "only"}}})
        .step({.step = 0,
               .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<double>(mean, {17}, {}),
                           tensor_of<double>(sum, {-0.5}, {})},
               .shapes = {{"w", "Variable:0", {2}}, {"shape_alone", "x", {3, 4}}}})
        .step({.step = 0, .tensors = {tensor_of<float>("w", {3})}, .worker = "worker_1"})
        .end();
    const memory_trial run{store};
    CHECK(export_run(run, folder.path() + "/out").tensors == 4);
    const local_trial made{folder.path() + "/out"};
    CHECK(differences(run, made).empty());
    CHECK(made.num_workers() == 2);
    CHECK(made.tensor("w").reduction_value(0, reduction::mean, {.worker = "worker_0"}) == 17);
    CHECK(made.tensor("shape_alone").shape(0) == shape_type{3, 4});
    CHECK(contains_text(file_content(folder.path() + "/out/index/000000000/000000000000_worker_0.json"),
                        R"("originalname": "Variable:0")"));
    export_run(run, folder.path() + "/one", {.which = {.worker = "worker_1"}});
    const local_trial one{folder.path() + "/one"};
    CHECK(one.workers() == std::vector<std::string>{"worker_1"});
    CHECK(one.num_workers() == 1);
    CHECK(one.loaded_all_steps());
}

TEST_CASE("export_run: what is damaged is named and left out, the rest is there") {
    const temporary_folder folder;
    local_storage disk{folder.path() + "/run"};
    run_builder{disk}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {2})}})
        .step({.step = 1, .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {2})}})
        .step({.step = 2, .tensors = {tensor_of<float>("a", {3})}})
        .end();
    const std::string event = folder.path() + "/run/events/000000000000/000000000000_worker_0.tfevents";
    fs::resize_file(event, fs::file_size(event) - 8);  // the last record, which is b
    fs::remove(folder.path() + "/run/events/000000000001/000000000001_worker_0.tfevents");
    noted_export noted;
    const local_trial run{folder.path() + "/run", {.missing_event_file_retry_limit = 0}};
    const export_result result = export_run(run, folder.path() + "/out", noted.options);
    CHECK(noted.told == std::vector<std::string>{"b@0!", "@1!"});
    CHECK(result.damaged == 2);
    CHECK(result.tensors == 2);
    const local_trial made{folder.path() + "/out"};
    CHECK(made.steps() == std::vector<step_number>{0, 2});
    CHECK(made.tensor("a").value<float>(2)(0) == 3);
    CHECK_FALSE(made.has_tensor("b"));
}

TEST_CASE("export_run: an older export is replaced, another folder is not") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string out = folder.path() + "/out";
    export_run(run, out);
    CHECK_THROWS_AS(export_run(run, out), run_exists);
    export_run(run, out, {.which = {.range = {3, 4}}, .replace = true});
    CHECK(local_trial{out}.steps() == std::vector<step_number>{3});
    folder.write("out/notes.txt", "");
    CHECK_THROWS_AS(export_run(run, out, {.replace = true}), run_exists);
    folder.write("other/index", "a file");
    CHECK_THROWS_AS(export_run(run, folder.path() + "/other", {.replace = true}), run_exists);
    folder.write("older/index/0/x.json", "");
    CHECK_NOTHROW(export_run(run, folder.path() + "/older", {.replace = true}));
}
