// How soon a step is seen: from its last file appearing to the return of wait_for_steps, beside a thread that only
// reads the kernel's notification of the file.
//   trial_wait_bench [steps = 300] [steps that are there already = 1000] [workers = 4]
#include "bench.hpp"
#include "many_files.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace smd = smdebug;
using steady = std::chrono::steady_clock;

namespace {

double cpu_seconds() {
    std::timespec spent = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

void print(const char* what, std::vector<double> times) {
    const double middle = bench::median(times);
    std::sort(times.begin(), times.end());
    std::printf("  %-46s %8.3f ms median %8.3f ms 99 %% %8.3f ms worst\n", what, middle * 1e3,
                times[times.size() * 99 / 100] * 1e3, times.back() * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
    const long steps = bench::argument(argc, argv, 1, 300);
    const long before = bench::argument(argc, argv, 2, 1'000);
    const long workers = bench::argument(argc, argv, 3, 4);
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    const bench::run_shape shape{.steps = before, .tensors = 100, .workers = workers};
    bench::make_run(store, shape, false);
    // The folder of the steps to come.
    const std::string first = smd::detail::locations::index_key(before, "x");
    const std::string grows = folder.path() + "/" + first.substr(0, first.rfind('/'));
    std::filesystem::create_directories(grows);

    std::vector<std::atomic<steady::rep>> written(static_cast<std::size_t>(steps));
    std::vector<double> seen;
    std::vector<double> heard;
    const smd::local_trial run{folder.path()};
    double busy = 0;
    const auto begun = steady::now();
    {
        const std::jthread waiting{[&] {
            for (long i = 0; i < steps; ++i) {
                run.wait_for_steps({before + i});
                const auto now = steady::now().time_since_epoch().count();
                seen.push_back(static_cast<double>(now - written[static_cast<std::size_t>(i)].load()) * 1e-9);
            }
            busy = cpu_seconds();
        }};
        const int handle = ::inotify_init1(IN_CLOEXEC);
        ::inotify_add_watch(handle, grows.c_str(), IN_MOVED_TO);
        const std::jthread listening{[&] {
            alignas(::inotify_event) std::array<char, 4096> events;
            long got = 0;
            for (long i = 0; i < steps; ++i) {
                while (got < (i + 1) * workers) {
                    const ssize_t size = ::read(handle, events.data(), events.size());
                    for (ssize_t at = 0; at < size; ++got) {
                        at += static_cast<ssize_t>(sizeof(::inotify_event) +
                                                   reinterpret_cast<const ::inotify_event*>(events.data() + at)->len);
                    }
                }
                const auto now = steady::now().time_since_epoch().count();
                heard.push_back(static_cast<double>(now - written[static_cast<std::size_t>(i)].load()) * 1e-9);
            }
        }};
        for (long i = 0; i < steps; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            for (long worker = 0; worker < workers; ++worker) {
                if (worker + 1 == workers) {
                    written[static_cast<std::size_t>(i)] = steady::now().time_since_epoch().count();
                }
                bench::put_index(store, shape, before + i, worker);
            }
        }
    }
    const double taken = std::chrono::duration<double>(steady::now() - begun).count();
    std::printf("%ld steps of %ld workers, 20 ms apart, behind %ld steps; the writing of the last file counts\n", steps,
                workers, before);
    print("limit: a thread that reads inotify", heard);
    print("wait_for_steps (aim: median < 5 ms)", seen);
    std::printf("  the waiting thread was busy for %.1f %% of the time\n", 100 * busy / taken);
    return 0;
}
