// Scanning a run by for_each_tensor in every state in which the page cache can have its files (cache_states.hpp): all
// 18 reductions and the counts, and with every checksum verified, against the fastest of three plain float sums over
// the bytes of the same files in the same state (mapping, reading 128 KiB and 1 MiB at a time); from a cold disk
// against eight threads that read the files.
//   scan_states_bench [FILES = 100] [TENSORS = 20] [BYTES = 262144] [ROUNDS = 7]
#include "bench.hpp"
#include "cache_states.hpp"
#include "plain_sum.hpp"
#include "written_run.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd = smdebug;

namespace {

constexpr std::size_t limits = 3;  // the first rows of a table

void print(std::vector<bench::subject>& subjects, std::size_t of_limit, std::uint64_t bytes) {
    double limit = bench::median(subjects[0].times);
    double best_limit = bench::fastest(subjects[0].times);
    for (std::size_t i = 1; i < of_limit; ++i) {
        limit = std::min(limit, bench::median(subjects[i].times));
        best_limit = std::min(best_limit, bench::fastest(subjects[i].times));
    }
    for (const bench::subject& row : subjects) {
        const double time = bench::median(row.times);
        std::printf("    %-40s %8.1f ms %7.2f GB/s   %.2f x the limit's speed (the fastest rounds: %.2f)\n",
                    row.name.c_str(), time * 1e3, static_cast<double>(bytes) / time / 1e9, limit / time,
                    best_limit / bench::fastest(row.times));
    }
}

void sums_on(unsigned threads, std::span<const std::string> paths, std::vector<bench::subject>& to) {
    to.push_back({"limit: plain sum, mapping", [=] { bench::on_threads(threads, paths, bench::sum_mapping); }});
    to.push_back(
        {"limit: plain sum, reading 128 KiB", [=] { bench::on_threads(threads, paths, bench::sum_reading<>); }});
    to.push_back(
        {"limit: plain sum, reading 1 MiB", [=] { bench::on_threads(threads, paths, bench::sum_reading_large); }});
}

void measure_cached(bench::cache_state state, const bench::written_run& usual, const bench::written_run& checked,
                    int rounds) {
    const auto all = smd::reduction_set::all();
    bring_to(state, usual.paths);
    bring_to(state, checked.paths);
    const smd::local_trial run{usual.folder.path()};
    const smd::local_trial verified{checked.folder.path()};
    for (const unsigned threads : {1U, 2U}) {
        std::printf("  %s, %u thread%s\n", std::string{name_of(state)}.c_str(), threads, threads == 1 ? "" : "s");
        std::vector<bench::subject> subjects;
        sums_on(threads, usual.paths, subjects);
        subjects.push_back({"all 18 and the counts", [&] { bench::scan_all(run, all, threads); }});
        subjects.push_back({"all 18, every checksum verified", [&] { bench::scan_all(verified, all, threads); }});
        bench::run_rounds(subjects, rounds);
        print(subjects, limits, usual.bytes);
    }
}

void measure_cold(const bench::written_run& usual, int rounds) {
    const smd::local_trial run{usual.folder.path()};
    const auto all = smd::reduction_set::all();
    const auto evict = [&] { bench::evict(usual.paths); };
    std::vector<bench::subject> subjects{
        {"limit: reading on eight threads",
         [&] { bench::on_threads(8, usual.paths, bench::sum_reading_large); },
         {},
         evict},
        {"all 18 and the counts, 1 thread", [&] { bench::scan_all(run, all, 1); }, {}, evict},
        {"all 18 and the counts, 2 threads", [&] { bench::scan_all(run, all, 2); }, {}, evict}};
    bench::run_rounds(subjects, rounds);
    std::printf("  cold\n");
    print(subjects, 1, usual.bytes);
}

}  // namespace

int main(int argc, char** argv) {
    const bench::run_size of{bench::argument(argc, argv, 1, 100), bench::argument(argc, argv, 2, 20),
                             bench::argument(argc, argv, 3, 262'144)};
    const int rounds = static_cast<int>(bench::argument(argc, argv, 4, 7));
    const bench::written_run usual{of, smd::record::footer_kind::package_constant};
    const bench::written_run checked{of, smd::record::footer_kind::checksum};
    std::printf("%ld event files x %ld tensors x %ld bytes = %.2f GB, medians of %d rounds\n", of.files, of.tensors,
                of.bytes, static_cast<double>(usual.bytes) / 1e9, rounds);
    for (const bench::cache_state state : bench::cached_states) {
        measure_cached(state, usual, checked, rounds);
    }
    measure_cold(usual, rounds);
    std::printf("aims: 0.75 on one thread, 0.70 on two, 0.60 verified; 0.90 cold\n");
    return 0;
}
