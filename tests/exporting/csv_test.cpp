#include <smdebug/exporting/csv.hpp>

#include "exporting/odd_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

// tests/program/export_test.cpp checks that the rows are those of `smdebug stats`.
TEST_CASE("export_csv: a row for each tensor") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/new/x.csv";
    const export_result result =
        export_csv(memory_trial{odd_run()}, path, {.run_name = "r,1", .reductions = {"mean", "nan", "abs_max"}});
    CHECK(result.tensors == 14);
    CHECK(result.bytes == fs::file_size(path));
    CHECK(file_content(path) ==
          "run,tensor,worker,step,mode,mode_step,dtype,shape,count,mean,nan,abs_max\n"
          "\"r,1\",plain,worker_0,0,TRAIN,0,float32,2x3,6,3.5,0,6\n"
          "\"r,1\",scalar,worker_0,0,TRAIN,0,float64,,1,2.5,0,2.5\n"
          "\"r,1\",empty,worker_0,0,TRAIN,0,float32,0x4,0,NaN,0,NaN\n"
          "\"r,1\",a/b:0,worker_0,0,TRAIN,0,int64,2,2,2.305843009213694e+18,0,4.6116860184273879e+18\n"
          "\"r,1\",../evil,worker_0,0,TRAIN,0,int32,1,1,7,0,7\n"
          "\"r,1\",\"q\"\"uo'te,\n\\x\",worker_0,0,TRAIN,0,uint8,2,2,128,0,255\n"
          "\"r,1\",flags,worker_0,0,TRAIN,0,bool,3,3,0.66666666666666663,0,1\n"
          "\"r,1\",half,worker_0,0,TRAIN,0,float16,2,2,-0.5,0,2\n"
          "\"r,1\",brain,worker_0,0,TRAIN,0,bfloat16,2,2,NaN,1,NaN\n"
          "\"r,1\",f8,worker_0,0,TRAIN,0,float8_e4m3fn,3,3,NaN,1,NaN\n"
          "\"r,1\",z,worker_0,0,TRAIN,0,complex64,1,1,,0,2.2360679774997898\n"
          "\"r,1\",words,worker_0,0,TRAIN,0,string,3,3,,,\n"
          "\"r,1\",plain,worker_0,3,EVAL,0,float32,2x3,6,-3.5,0,6\n"
          "\"r,1\",scalar,worker_0,3,EVAL,0,float64,,1,0.5,0,0.5\n");
}

TEST_CASE("export_csv: a row for each element") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/x.csv";
    constexpr float inf = std::numeric_limits<float>::infinity();
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 7,
               .tensors = {tensor_of<float>(
                               "m", {0.1F, -0.0F, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 3e38F}, {3, 2}),
                           tensor_of<double>("s", {1e-320}, {}), tensor_of<float>("none", {}, {2, 0}),
                           raw_tensor("b", dtype::boolean, {2}, std::string_view{"\1\0", 2}),
                           raw_tensor("h", dtype::float16, {1}, std::string_view{"\x66\x2e", 2}),
                           tensor_of<std::uint64_t>("u", {~std::uint64_t{0}}), tensor_of<std::int8_t>("i", {-128}),
                           tensor_of<std::complex<double>>("z", {{0.5, -2}, {-1, inf}}),
                           text_tensor("t", {"a\nb", "c,\"d\""})},
               .mode_step = 2})
        .end();
    const export_result result = export_csv(memory_trial{store}, path, {.run_name = "r", .values = true});
    CHECK(result.tensors == 9);
    std::string wanted = "run,tensor,worker,step,mode,mode_step,index,value\n";
    const auto row = [&](const std::string& tensor, const std::string& end) {
        wanted.append("r,").append(tensor).append(",worker_0,7,TRAIN,2,").append(end).append("\n");
    };
    row("m", "0 0,0.1");
    row("m", "0 1,-0");
    row("m", "1 0,Infinity");
    row("m", "1 1,-Infinity");
    row("m", "2 0,NaN");
    row("m", "2 1,3e+38");
    row("s", ",1e-320");
    row("b", "0,1");
    row("b", "1,0");
    row("h", "0,0.099975586");
    row("u", "0,18446744073709551615");
    row("i", "0,-128");
    row("z", "0,0.5-2j");
    row("z", "1,-1+infj");
    row("t", "0,\"a\nb\"");
    row("t", "1,\"c,\"\"d\"\"\"");
    CHECK(file_content(path) == wanted);
}

TEST_CASE("export_csv: an unknown reduction, an output that is there, and a selection of nothing") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string path = folder.path() + "/x.csv";
    CHECK_THROWS_WITH_AS(export_csv(run, path, {.reductions = {"median"}}),
                         doctest::Contains("no reduction \"median\""), value_error);
    CHECK_THROWS_AS(export_csv(run, path, {.which = {.range = {50, 60}}}), value_error);
    CHECK_THROWS_AS(export_csv(run, folder.path()), run_exists);
    CHECK(fs::is_empty(folder.path()));
    folder.write("x.csv", "old");
    CHECK_THROWS_AS(export_csv(run, path), run_exists);
    CHECK(file_content(path) == "old");
    CHECK(export_csv(run, path, {.replace = true}).tensors == 14);
}

TEST_CASE("export_csv: a file that came meanwhile is not replaced unless it may be") {
    const temporary_folder folder;
    const memory_trial run{odd_run()};
    const std::string path = folder.path() + "/x.csv";
    const walk_options how{.progress = [&](std::size_t, std::size_t) { folder.write("x.csv", "theirs"); }};
    CHECK_THROWS_AS(export_csv(run, path, {.how = how}), run_exists);
    CHECK(file_content(path) == "theirs");
    CHECK(export_csv(run, path, {.replace = true, .how = how}).tensors == 14);
    CHECK(file_content(path).starts_with("run,"));
}
