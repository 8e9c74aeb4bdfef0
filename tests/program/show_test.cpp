#include <program/show.hpp>

#include "program/captured.hpp"

#include <program/rows.hpp>
#include <program/runs.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

ended show_of(cli::detail::show_arguments given) {
    given.run = golden(given.run);
    return ended_by([&](auto& to) { return cli::detail::show(given, to); });
}

cli::detail::run_options json_format() { return {.format = cli::detail::output_format::json}; }

}  // namespace

TEST_CASE("show: without a step it is the last one that has the tensor") {
    const ended got = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bias", .values = 2});
    CHECK(got.status == cli::exit_ok);
    CHECK(contains(got.out, "step        5 (TRAIN 4)\n"));
    CHECK(contains(got.out, "dtype       float32\nshape       3\ncount       3\n"));
    CHECK(contains(got.out, "\nmin         -0.236413   0.236413\n"));
    CHECK(contains(got.out, "values      0.490437, -0.236413, ... (1 more)\n"));
}

TEST_CASE("show: a step counts in the mode that is given") {
    const ended got = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bias", .step = 0, .mode = mode::eval});
    CHECK(contains(got.out, "step        3 (EVAL 0)\n"));
    const ended last = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bias", .mode = mode::eval});
    CHECK(last.out == got.out);
}

TEST_CASE("show: an unknown tensor is an error with similar names") {
    const ended got = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bia"});
    CHECK(got.status == cli::exit_error);
    CHECK(got.out.empty());
    CHECK(
        contains(got.err, "TensorUnavailable: Tensor Sequential_2.bia was not saved. Did you mean Sequential_2.bias,"));
}

TEST_CASE("show: an unknown step, mode or worker is an error that lists the existing ones") {
    const ended step = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bias", .step = 1});
    CHECK(step.status == cli::exit_error);
    CHECK(contains(step.err, "is not there at step 1; its steps: 0, 2, 3, 5"));
    const ended in = show_of({.run = "torch_mlp", .tensor = "Sequential_2.bias", .mode = mode::predict});
    CHECK(contains(in.err, "has no steps of mode PREDICT"));
    const ended worker = show_of({.run = "torch_ddp", .tensor = "loss", .worker = "worker_9"});
    CHECK(worker.status == cli::exit_error);
}

TEST_CASE("show: reductions that were saved are marked, and win over computed ones") {
    const ended got = show_of({.run = "reductions_raw", .tensor = "MSELoss_output_0"});
    CHECK(contains(got.out, "\nstd         NaN (saved)"));  // torch divides by n - 1
    CHECK(contains(got.out, "\nnan         0\n"));
    const ended only = show_of({.run = "reductions_only", .tensor = "gradient/Sequential_2.weight"});
    CHECK(only.status == cli::exit_ok);
    CHECK(contains(only.out, "dtype       unknown: the values are not there\n"));
    CHECK(contains(only.out, "max         0.0483153 (saved)    0.0483153 (saved)\n"));
    CHECK(contains(only.out, "values      not saved\n"));
}

TEST_CASE("show: a shape without values; strings without reductions") {
    const ended shape = show_of({.run = "shapes_only", .tensor = "0_input_0"});
    CHECK(contains(shape.out, "shape       4x4\ncount       16\nreductions  none\n"));
    const ended strings = show_of({.run = "xgboost_like", .tensor = "hyperparameters/objective"});
    CHECK(contains(strings.out, "dtype       string\n"));
    CHECK(contains(strings.out, "reductions  none\n"));
    CHECK(contains(strings.out, "values      \""));
}

TEST_CASE("show: damaged values are noted, and what is left is shown") {
    const ended got = show_of({.run = "damaged/flipped_length", .tensor = "a", .step = 1});
    CHECK(got.status == cli::exit_error);
    CHECK(contains(got.err, "CorruptRecord: events/"));
    CHECK(lines_of(got.err).size() == 1);
    CHECK(contains(got.out, "values      cannot be read\n"));
}

TEST_CASE("show: JSON is one object that a parser takes, for every kind of tensor") {
    smdebug::detail::json::document parser;
    for (const char* tensor : {"c/complex64", "b/bool", "f/float32_special", "f/float32_empty", "dup"}) {
        const ended got = show_of({.run = "dtypes", .tensor = tensor, .how = json_format()});
        CHECK(lines_of(got.out).size() == 1);
        const auto root = parser.parse(as_bytes(got.out));
        REQUIRE_MESSAGE(root.has_value(), tensor);
        CHECK((*root)["tensor"]->string() == tensor);
        CHECK((*root)["values"]->is_array());
    }
    const ended got = show_of({.run = "reductions_only", .tensor = "0_input_0", .how = json_format()});
    const auto root = parser.parse(as_bytes(got.out));
    REQUIRE(root);
    CHECK((*root)["dtype"]->is_null());
    CHECK((*root)["values"]->is_null());
    CHECK((*root)["nan"]->is_null());
    CHECK((*root)["mean"]->is_number());
    std::size_t saved = 0;
    (*root)["saved"]->for_each_element([&](smdebug::detail::json::value) { return ++saved > 0; });
    CHECK(saved == 18);
}

TEST_CASE("show: CSV has a field a line") {
    const ended got = show_of(
        {.run = "dtypes", .tensor = "c/complex64", .values = 1, .how = {.format = cli::detail::output_format::csv}});
    CHECK(got.out.starts_with("field,value\nrun," + golden("dtypes") + "\ntensor,c/complex64\n"));
    CHECK(contains(got.out, "\nmin,\n"));
    CHECK(contains(got.out, "\nshape,2x3\n"));
    CHECK(contains(got.out, "\nvalues,\"(-0.026108482852578163,0.071890674531459808)\"\n"));
}

TEST_CASE("show: a tensor given before its run is recognised") {
    captured run;
    CHECK_THROWS_WITH_AS(
        static_cast<void>(cli::detail::show({.run = "loss", .tensor = golden("torch_mlp")}, run.to)),
        ("show takes RUN TENSOR, in this order: smdebug show " + golden("torch_mlp") + " loss").c_str(),
        cli::detail::usage_error);
}

TEST_CASE("show: values that are too large to be held together are reduced, as by stats") {
    const temporary_folder folder;
    const std::string head = R"({"w":{"dtype":"F32","shape":[17000001],"data_offsets":[0,68000004]}})";
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(head.size());
    const float most = 2.5F;
    std::string values(sizeof most, '\0');
    std::memcpy(values.data(), &most, sizeof most);
    folder.write("step_1.safetensors", bytes + head + values);
    std::filesystem::resize_file(folder.path() + "/step_1.safetensors", 8 + head.size() + 68'000'004);  // with a hole
    cli::detail::show_arguments args{.run = folder.path(), .tensor = "w", .how = json_format()};
    args.how.untrusted = true;
    captured run;
    CHECK(cli::detail::show(args, run.to) == cli::exit_ok);
    for (const char* const part : {R"("dtype":"float32")", R"("shape":"17000001")", R"("max":2.5,)",
                                   R"("zeros":17000000,)", R"("values":null)"}) {
        CHECK_MESSAGE(contains(run.out.str(), part), run.out.str());
    }
    CHECK(run.err.str().empty());
    args.how.format = cli::detail::output_format::table;
    captured table;
    CHECK(cli::detail::show(args, table.to) == cli::exit_ok);
    CHECK(contains(table.out.str(), "too large to be shown"));
}
