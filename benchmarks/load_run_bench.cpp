// Scanning a page-cached run by for_each_tensor, against a plain float sum over the bytes of the same files: the faster
// of mapping them and of reading them in pieces of 128 KiB.  One thread, and all; footers as the Python package writes
// them, and true checksums that are verified.
//   load_run_bench                     the run shapes of the README's table
//   load_run_bench FILES TENSORS BYTES [ROUNDS = 7]     FILES event files of TENSORS float32 tensors of BYTES bytes
#include "bench.hpp"
#include "eigen_peer.hpp"
#include "plain_sum.hpp"
#include "written_run.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace smd = smdebug;

namespace {

/// Eigen over the bytes of mapped files, a tensor's size at a time, a pass for each reduction.
void eigen_five(const std::vector<std::string>& paths, const bench::run_size& of) {
    float total = 0;
    for (const std::string& path : paths) {
        bench::mapped(path, [&](const std::byte* bytes, std::size_t size) {
            const std::span<const float> numbers{reinterpret_cast<const float*>(bytes), size / sizeof(float)};
            const std::size_t piece = static_cast<std::size_t>(of.bytes) / sizeof(float);
            for (std::size_t at = 0; at + piece <= numbers.size(); at += piece) {
                total += eigen_peer::min_max_mean_l1_l2(numbers.subspan(at, piece));
            }
        });
    }
    bench::keep(static_cast<double>(total));
}

/// Seconds that numpy takes for all reductions of the files; nothing where it is not installed.
std::optional<double> numpy_all(const std::string& folder, const bench::run_size& of) {
    const std::string command = std::string{"\"" SMDEBUG_BENCH_PYTHON "\" \"" SMDEBUG_BENCH_NUMPY_PEER "\" --scan "} +
                                std::to_string(of.bytes) + " \"" + folder + "/events\" 2>/dev/null";
    std::FILE* lines = ::popen(command.c_str(), "r");
    double seconds = 0;
    const bool told = lines != nullptr && std::fscanf(lines, "scan %lf", &seconds) == 1;
    const bool ended = lines != nullptr && ::pclose(lines) == 0;
    return told && ended ? std::optional{seconds} : std::nullopt;
}

void measure(const bench::run_size& of, int rounds) {
    using smd::reduction;
    const auto all = smd::reduction_set::all();
    const auto five =
        smd::reduction_set{reduction::min} | reduction::max | reduction::mean | reduction::l1 | reduction::l2;
    const unsigned cores = std::max(2U, std::thread::hardware_concurrency());
    const bench::written_run usual{of, smd::record::footer_kind::package_constant};
    const bench::written_run checked{of, smd::record::footer_kind::checksum};
    const smd::local_trial run{usual.folder.path()};
    const smd::local_trial verified{checked.folder.path()};
    std::vector<bench::subject> one{
        {"limit: plain sum, reading 128 KiB", [&] { bench::keep(bench::sum_reading(usual.paths)); }},
        {"limit: plain sum, mapping", [&] { bench::keep(bench::sum_mapping(usual.paths)); }},
        {"all 18 and the counts", [&] { bench::scan_all(run, all, 1); }},
        {"min max mean l1 l2", [&] { bench::scan_all(run, five, 1); }},
        {"mean", [&] { bench::scan_all(run, reduction::mean, 1); }},
        {"all 18, every checksum verified", [&] { bench::scan_all(verified, all, 1); }}};
    if (eigen_peer::version != nullptr && of.bytes >= 4096) {
        one.push_back({"peer: Eigen, min max mean l1 l2", [&] { eigen_five(usual.paths, of); }});
    }
    std::vector<bench::subject> many{
        {"limit: plain sum, reading 128 KiB", [&] { bench::on_threads(cores, usual.paths, bench::sum_reading<>); }},
        {"limit: plain sum, mapping", [&] { bench::on_threads(cores, usual.paths, bench::sum_mapping); }},
        {"all 18 and the counts", [&] { bench::scan_all(run, all, cores); }},
        {"min max mean l1 l2", [&] { bench::scan_all(run, five, cores); }},
        {"mean", [&] { bench::scan_all(run, reduction::mean, cores); }},
        {"all 18, every checksum verified", [&] { bench::scan_all(verified, all, cores); }}};
    std::printf("%ld event files x %ld tensors x %ld bytes = %.2f GB in the page cache, %s, medians of %d rounds\n",
                of.files, of.tensors, of.bytes, static_cast<double>(usual.bytes) / 1e9,
                smdebug::detail::state_of(run)->kernel().name().c_str(), rounds);
    const auto table = [&](std::vector<bench::subject>& subjects, unsigned threads) {
        bench::run_rounds(subjects, rounds);
        std::printf("  %u thread%s\n", threads, threads == 1 ? "" : "s");
        const double limit = std::min(bench::median(subjects[0].times), bench::median(subjects[1].times));
        const auto tensors = static_cast<double>(of.files * of.tensors);
        for (const bench::subject& row : subjects) {
            const double time = bench::median(row.times);
            std::printf("    %-36s %8.1f ms %7.2f GB/s   %.2f x the limit's speed", row.name.c_str(), time * 1e3,
                        static_cast<double>(usual.bytes) / time / 1e9, limit / time);
            of.bytes < 16384 ? std::printf("   %4.0f ns a tensor beyond it\n", (time - limit) / tensors * 1e9)
                             : std::printf("\n");
        }
    };
    table(one, 1);
    if (const auto seconds = of.bytes >= 4096 ? numpy_all(usual.folder.path(), of) : std::nullopt) {
        std::printf("    %-36s %8.1f ms %7.2f GB/s   once\n", "peer: numpy, all 18 and the counts", *seconds * 1e3,
                    static_cast<double>(usual.bytes) / *seconds / 1e9);
    }
    table(many, cores);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 4, 7));
    if (argc > 3) {
        measure(
            {bench::argument(argc, argv, 1, 0), bench::argument(argc, argv, 2, 0), bench::argument(argc, argv, 3, 4)},
            rounds);
        return 0;
    }
    for (const auto& of : {bench::run_size{200, 20, 262'144}, bench::run_size{100, 2000, 1024},
                           bench::run_size{8, 5, 33'554'432}, bench::run_size{1000, 1000, 4}}) {
        measure(of, rounds);
    }
    std::printf(
        "aims: 0.75 for all 18, 0.90 for the five, 0.95 for the mean, 0.60 verified; 0.70 for all 18 on all threads\n");
    return 0;
}
