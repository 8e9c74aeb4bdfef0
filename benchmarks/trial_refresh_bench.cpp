// Keeping up with a run that grows: a refresh that finds nothing new, one that finds one step, and the queries on what
// it leaves behind; at 1,000, 10,000 and 100,000 steps.
//   trial_refresh_bench [tensors in each step = 100] [calls = 200]
#include "bench.hpp"
#include "many_files.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace smd = smdebug;

namespace {

// The cheapest check for changes in a folder: a stat of the end mark and of every folder of index/.
class stat_probe {
public:
    explicit stat_probe(const std::string& root) : paths_{root + "/training_job_end.ts", root + "/index"} {
        DIR* const stream = ::opendir(paths_.back().c_str());
        while (const ::dirent* held = ::readdir(stream)) {
            if (std::string_view{static_cast<const char*>(held->d_name)}.front() != '.') {
                paths_.push_back(root + "/index/" + static_cast<const char*>(held->d_name));
            }
        }
        ::closedir(stream);
    }
    [[nodiscard]] double look() const {
        double sum = 0;
        for (const std::string& path : paths_) {
            struct ::stat info = {};
            sum += ::stat(path.c_str(), &info) == 0 ? static_cast<double>(info.st_mtim.tv_nsec) : 0;
        }
        return sum;
    }

private:
    std::vector<std::string> paths_;
};

void row(const char* what, double seconds, const char* aim = "") {
    std::printf("  %-46s %9.1f us%s\n", what, seconds * 1e6, aim);
}

void measure(long steps, long tensors, int calls) {
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    const bench::run_shape shape{.steps = steps, .tensors = tensors};
    bench::make_run(store, shape, false);
    const smd::local_trial run{folder.path()};
    std::this_thread::sleep_for(std::chrono::milliseconds{100});  // recently changed folders are listed twice
    run.refresh();

    const stat_probe probe{folder.path()};
    std::vector<bench::subject> idle{{"limit", [&] { bench::keep(probe.look()); }},
                                     {"refresh", [&] { run.refresh(); }}};
    bench::run_rounds(idle, calls);
    std::printf("%ld steps x %ld tensors, medians of %d calls\n", steps, tensors, calls);
    const double limit = bench::median(idle[0].times);
    row("limit: a stat of the end mark and each folder", limit);
    row("refresh, nothing new", bench::median(idle[1].times), steps <= 10'000 ? "    (aim: <= 100)" : "");
    std::printf("  %-46s %9.2f\n", "ratio to the limit", bench::median(idle[1].times) / limit);

    std::vector<double> one;
    for (int i = 0; i < 20; ++i) {
        bench::put_index(store, shape, steps + i, 0);
        one.push_back(bench::seconds([&] { run.refresh(); }));
    }
    row("refresh, one new step", bench::median(one));

    const smd::no_refresh as_it_is{run};
    const auto tensor = run.tensor("layer_0/dense/kernel:0");
    std::vector<bench::subject> queries{
        {"steps", [&] { bench::keep(static_cast<double>(tensor.steps().size())); }},
        {"names", [&] { bench::keep(static_cast<double>(run.tensor_names({.step = steps / 2}).size())); }}};
    bench::run_rounds(queries, calls);
    row("tensor.steps()", bench::median(queries[0].times), steps <= 10'000 ? "    (aim: < 1000)" : "");
    row("tensor_names(step)", bench::median(queries[1].times), "    (aim: < 1000)");
}

}  // namespace

int main(int argc, char** argv) {
    const long tensors = bench::argument(argc, argv, 1, 100);
    const int calls = static_cast<int>(bench::argument(argc, argv, 2, 200));
    for (const long steps : {1'000L, 10'000L, 100'000L}) {
        measure(steps, tensors, calls);
    }
    return 0;
}
