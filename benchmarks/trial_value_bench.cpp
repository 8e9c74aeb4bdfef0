// One value of 256 KiB and one saved reduction, warm, through a tensor's handle; beside reading the same bytes.
//   trial_value_bench [repetitions = 5]
#include "bench.hpp"
#include "micro_bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace smd = smdebug;

int main(int argc, char** argv) {
    const int repetitions = static_cast<int>(bench::argument(argc, argv, 1, 5));
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    std::vector<float> values(65'536);
    std::iota(values.begin(), values.end(), 0.F);
    smdebug_test::run_builder build{store};
    build.collections()
        .step({.step = 0,
               .tensors = {smdebug_test::tensor_of<float>("weight", values),
                           smdebug_test::tensor_of<float>("smdebug/reductions/mean/reduced", {1.5F})}})
        .end();
    const smd::local_trial run{folder.path()};
    const auto weight = run.tensor("weight");
    const auto reduced = run.tensor("reduced");
    const std::string path = folder.path() + "/" + smd::detail::locations::event_key(0, "worker_0");
    std::vector<std::byte> buffer(values.size() * sizeof(float));
    std::vector<bench::subject> subjects{
        {"limit: open, read 256 KiB, close",
         [&] {
             const int handle = ::open(path.c_str(), O_RDONLY);
             bench::keep(static_cast<double>(::pread(handle, buffer.data(), buffer.size(), 40)));
             ::close(handle);
         }},
        {"value<float>() of 256 KiB", [&] { bench::keep(static_cast<double>(weight.value<float>(0)(1))); }},
        {"reduction_value, saved", [&] { bench::keep(reduced.reduction_value(0, smd::reduction::mean)); }},
        {"reduction_value, computed", [&] { bench::keep(weight.reduction_value(0, smd::reduction::mean)); }}};
    bench::run_micro(subjects, repetitions);
    for (const bench::subject& one : subjects) {
        std::printf("  %-36s %8.2f us\n", one.name.c_str(), bench::median(one.times) * 1e6);
    }
    std::printf("  aims: 10 us for the value, 5 us for the saved reduction\n");
    return 0;
}
