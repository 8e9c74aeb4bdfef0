// Opening a run of many index files, against reading the same files and nothing else.
//   trial_open_bench [files = 10000] [tensors in each = 100] [rounds = 7]
#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

// Resident bytes of this process.
std::size_t resident() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t size = 0;
    std::size_t pages = 0;
    statm >> size >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void make_run(smd::local_storage& store, long files, long tensors) {
    smdebug_test::run_builder build{store};
    build.collections();
    for (long step = 0; step < files; ++step) {
        smdebug_test::written_step written{.step = step};
        std::vector<smd::byte_range> places;
        for (long i = 0; i < tensors; ++i) {
            written.tensors.push_back(
                {.name = "layer_" + std::to_string(i) + "/dense/kernel:0", .shape = {}, .content = {}});
            places.push_back({static_cast<std::uint64_t>(i) * 4200, 4200});
        }
        // No event files: opening a run does not look at them.
        build.put(smd::locations::index_key(step, "worker_0"),
                  smdebug_test::index_text(written, places, smd::locations::event_key(step, "worker_0")));
    }
    build.end();
}

// Lists, opens, reads and closes every file below index/, and does nothing with them.
std::size_t read_bare(const std::string& root) {
    std::size_t total = 0;
    static std::vector<char> buffer(std::size_t{1} << 20U);
    const std::string index = root + "/index";
    DIR* const outer = ::opendir(index.c_str());
    while (const ::dirent* folder = ::readdir(outer)) {
        if (folder->d_name[0] == '.') {
            continue;
        }
        const int place = ::openat(::dirfd(outer), static_cast<const char*>(folder->d_name), O_RDONLY | O_DIRECTORY);
        DIR* const inner = ::fdopendir(place);
        while (const ::dirent* file = ::readdir(inner)) {
            if (file->d_name[0] == '.') {
                continue;
            }
            const int handle = ::openat(place, static_cast<const char*>(file->d_name), O_RDONLY);
            for (ssize_t got = 1; got > 0;) {
                got = ::read(handle, buffer.data(), buffer.size());
                total += got > 0 ? static_cast<std::size_t>(got) : 0;
            }
            ::close(handle);
        }
        ::closedir(inner);
    }
    ::closedir(outer);
    return total;
}

}  // namespace

int main(int argc, char** argv) {
    const long files = bench::argument(argc, argv, 1, 10'000);
    const long tensors = bench::argument(argc, argv, 2, 100);
    const int rounds = static_cast<int>(bench::argument(argc, argv, 3, 7));
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    make_run(store, files, tensors);

    const std::size_t bytes = read_bare(folder.path());
    const std::size_t before = resident();
    std::optional<smd::local_trial> held;
    held.emplace(folder.path());
    const std::size_t grown = resident() - before;
    const std::size_t counted = held->snapshot()->memory();
    const std::size_t layouts = held->snapshot()->layouts.size();
    held.reset();

    std::vector<bench::subject> subjects{
        {"limit: list, open, read, close", [&] { bench::keep(static_cast<double>(read_bare(folder.path()))); }},
        {"open the run",
         [&] { bench::keep(static_cast<double>(smd::local_trial{folder.path()}.last_complete_step())); }}};
    bench::run_rounds(subjects, rounds);
    const double limit = bench::median(subjects[0].times);
    const double ours = bench::median(subjects[1].times);
    std::printf("%ld index files x %ld tensors, %.1f MB, medians of %d rounds\n", files, tensors,
                static_cast<double>(bytes) / 1e6, rounds);
    std::printf("  %-32s %9.2f ms\n", subjects[0].name.c_str(), limit * 1e3);
    std::printf("  %-32s %9.2f ms\n", subjects[1].name.c_str(), ours * 1e3);
    std::printf("  ratio to the limit               %9.2f    (aim: <= 1.50)\n", ours / limit);
    const auto entries = static_cast<double>(files * tensors);
    std::printf("  catalog: %zu layouts, %.2f bytes an entry (process grew by %.2f)\n", layouts,
                static_cast<double>(counted) / entries, static_cast<double>(grown) / entries);
    return 0;
}
