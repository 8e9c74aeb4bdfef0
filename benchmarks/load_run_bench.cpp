// Scanning a page-cached run, all 18 reductions and the counts of every tensor, against a plain float sum over the
// bytes of the same files: the faster of mapping them and of reading them in pieces of 128 KiB.
//   load_run_bench [event files = 200] [tensors in each = 20] [KiB a tensor = 256] [rounds = 5]
#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/scan.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <xsimd/xsimd.hpp>

namespace smd = smdebug;

namespace {

smdebug_test::written_step event_step(long step, long tensors, long kib, std::mt19937& random) {
    std::normal_distribution<float> normal{0.01F, 1.0F};
    std::vector<float> values(static_cast<std::size_t>(kib) * 256);
    smdebug_test::written_step written{.step = step};
    for (long i = 0; i < tensors; ++i) {
        if (i == 0) {
            std::generate(values.begin(), values.end(), [&] { return normal(random); });
        }
        std::rotate(values.begin(), values.begin() + 17, values.end());
        written.tensors.push_back(smdebug_test::tensor_of<float>("layer_" + std::to_string(i) + "/weight", values));
    }
    return written;
}

// A plain sum of floats, as fast as memory gives them: several accumulators, no care for accuracy.
float plain_sum(const std::byte* bytes, std::size_t size) {
    using batch = xsimd::batch<float>;
    constexpr std::size_t width = batch::size;
    const std::size_t count = size / sizeof(float);
    const auto* values = reinterpret_cast<const float*>(bytes);
    batch a(0.F);
    batch b(0.F);
    batch c(0.F);
    batch d(0.F);
    std::size_t i = 0;
    for (; i + 4 * width <= count; i += 4 * width) {
        a += batch::load_unaligned(values + i);
        b += batch::load_unaligned(values + i + width);
        c += batch::load_unaligned(values + i + 2 * width);
        d += batch::load_unaligned(values + i + 3 * width);
    }
    return xsimd::hadd(a + b + c + d);
}

float sum_reading(const std::vector<std::string>& paths) {
    alignas(64) static std::byte buffer[std::size_t{128} << 10U];
    float total = 0;
    for (const std::string& path : paths) {
        const int handle = ::open(path.c_str(), O_RDONLY);
        for (ssize_t got = 1; got > 0;) {
            got = ::read(handle, &buffer, sizeof buffer);
            total += got > 0 ? plain_sum(&buffer[0], static_cast<std::size_t>(got)) : 0;
        }
        ::close(handle);
    }
    return total;
}

float sum_mapping(const std::vector<std::string>& paths) {
    float total = 0;
    for (const std::string& path : paths) {
        const int handle = ::open(path.c_str(), O_RDONLY);
        const auto size = static_cast<std::size_t>(::lseek(handle, 0, SEEK_END));
        void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, handle, 0);
        total += plain_sum(static_cast<const std::byte*>(mapped), size);
        ::munmap(mapped, size);
        ::close(handle);
    }
    return total;
}

template <class Trial>
double scan_all(const Trial& run, smd::reduction_set wanted) {
    double total = 0;
    const auto& kernel = run.state()->kernel();
    smd::scan(run, {}, [&](const smd::scanned_tensor& tensor) {
        if (tensor.values != nullptr) {
            const auto values = kernel.reduce(tensor.values->view(), wanted);
            total += (*values)(smd::reduction::max, true);
        }
    });
    return total;
}

}  // namespace

int main(int argc, char** argv) {
    const long files = bench::argument(argc, argv, 1, 200);
    const long tensors = bench::argument(argc, argv, 2, 20);
    const long kib = bench::argument(argc, argv, 3, 256);
    const int rounds = static_cast<int>(bench::argument(argc, argv, 4, 5));
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    std::vector<std::string> paths;
    std::uint64_t bytes = 0;
    {
        std::mt19937 random{1};
        smdebug_test::run_builder build{store};
        build.collections();
        auto step = event_step(0, tensors, kib, random);
        for (long i = 0; i < files; ++i) {
            step.step = i;
            build.step(step);
            const std::string key = smd::locations::event_key(i, "worker_0");
            paths.push_back(folder.path() + "/" + key);
            bytes += *store.size(key);
        }
        build.end();
    }
    const smd::local_trial run{folder.path()};
    using smd::reduction;
    const auto five =
        smd::reduction_set{reduction::min} | reduction::max | reduction::mean | reduction::l1 | reduction::l2;
    std::vector<bench::subject> subjects{
        {"limit: plain sum, reading 128 KiB", [&] { bench::keep(static_cast<double>(sum_reading(paths))); }},
        {"limit: plain sum, mapping", [&] { bench::keep(static_cast<double>(sum_mapping(paths))); }},
        {"scan: all 18 and the counts", [&] { bench::keep(scan_all(run, smd::reduction_set::all())); }},
        {"scan: min max mean l1 l2", [&] { bench::keep(scan_all(run, five)); }}};
    bench::run_rounds(subjects, rounds);
    std::printf(
        "%ld event files x %ld tensors x %ld KiB = %.2f GB in the page cache, 1 thread, %s, medians of %d rounds\n",
        files, tensors, kib, static_cast<double>(bytes) / 1e9, run.state()->kernel().name().c_str(), rounds);
    const double limit = std::min(bench::median(subjects[0].times), bench::median(subjects[1].times));
    for (const bench::subject& one : subjects) {
        const double time = bench::median(one.times);
        std::printf("  %-36s %8.1f ms %7.2f GB/s   %.2f x the limit's speed\n", one.name.c_str(), time * 1e3,
                    static_cast<double>(bytes) / time / 1e9, limit / time);
    }
    std::printf("  aims: 0.75 for all 18, 0.90 for the five\n");
    return 0;
}
